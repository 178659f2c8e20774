// SPDX-License-Identifier: Apache-2.0
//
// What becomes what. A task is a slice from post to end with its phases inside, on the first free track of its lane. An arrow goes
// from a message's issue to its arrival, from a task's end or a compute task to what waited for it (arrows.hpp), and from the body
// that posted a task to that. Of the same message the slices on both ranks have one correlation.
#include "perfetto.hpp"

#include "arrows.hpp"
#include "perfetto_writer.hpp"

#include <algorithm>
#include <iterator>

namespace commtask::tools {
namespace {

using track = perfetto_writer::track;

[[nodiscard]] std::string_view category_of(span_class what) {
    switch (what) {
    case span_class::wait: return "wait";
    case span_class::compute: return "compute";
    case span_class::mpi: return "mpi";
    case span_class::openmp: return "openmp";
    case span_class::onetbb: return "onetbb";
    case span_class::state: return "state";
    case span_class::program: break;
    }
    return "program";
}

/// Tracks on which slices that overlap lie side by side.
class shelves {
public:
    shelves(perfetto_writer& writer, std::string name, track parent, int place)
        : writer_(writer), name_(std::move(name)), parent_(parent), place_(place) {}

    [[nodiscard]] track take(std::uint64_t begin_ns, std::uint64_t end_ns) {
        for (shelf& each : all_) {
            if (each.free_from_ns > begin_ns) continue;
            each.free_from_ns = end_ns;
            return each.where;
        }
        all_.push_back({writer_.add_track(name_, parent_, place_), end_ns});
        return all_.back().where;
    }

private:
    struct shelf {
        track where;
        std::uint64_t free_from_ns;
    };
    perfetto_writer& writer_;
    const std::string name_;
    const track parent_;
    const int place_;
    std::vector<shelf> all_;
};

class rank_writer {
public:
    rank_writer(perfetto_writer& writer, const rank_trace& from)
        : writer_(writer), from_(from), arrows_(find_arrows(from)), pid_(from.rank() + 1),
          process_(writer.add_process(pid_, "rank " + std::to_string(from.rank()) + " (" + from.host + ", process " +
                                                std::to_string(from.header.pid) + ")")) {}

    void write() {
        int place = 0;
        for (const auto& [number, each] : from_.threads) {
            if (number != 0) write_thread(each, ++place);
        }
        for (unsigned lane = 0; lane < std::max(1U, from_.header.n_lanes); ++lane)
            write_lane(lane, place + 3 * static_cast<int>(lane) + 1);
    }

private:
    /// Those of this one, or none.
    template <typename Key>
    [[nodiscard]] static arrows::ends ends_at(const std::unordered_map<Key, arrows::ends>& of, Key where) {
        const auto found = of.find(where);
        return found == of.end() ? arrows::ends{} : found->second;
    }

    void write_thread(const thread& each, int place) {
        const track here = writer_.add_thread(
            pid_, static_cast<std::int64_t>(each.kernels_id),
            each.lane >= 0 ? "worker of lane " + std::to_string(each.lane) : each.name, process_, place);
        threads_[each.number] = here;
        std::vector<std::uint64_t> open;
        for (const span& now : each.spans) {
            while (!open.empty() && open.back() <= now.begin_ns) {
                writer_.end(here, open.back());
                open.pop_back();
            }
            event_extras extras{.flows = ends_at(arrows_.from_slice, &now),
                                .ending_flows = ends_at(arrows_.to_slice, &now)};
            std::string name = now.name.empty() ? "compute task" : now.name;
            if (const task* const waited = now.what == span_class::wait ? from_.find(now.id) : nullptr) {
                name = "wait for " + describe(from_, *waited);
                extras.correlation = correlation_of(*waited);
            }
            writer_.begin(here, now.begin_ns, category_of(now.what), name, extras);
            open.push_back(now.end_ns);
        }
        for (; !open.empty(); open.pop_back()) writer_.end(here, open.back());
        write_states(each, here);
    }

    void write_states(const thread& each, track parent) {
        if (each.states.empty()) return;
        const track here = writer_.add_track(each.lane >= 0 ? "state" : "drives", parent, 0);
        for (std::size_t i = 0; i < each.states.size(); ++i) {
            if (each.states[i].state == 0) continue;
            const std::uint64_t end_ns = i + 1 < each.states.size() ? each.states[i + 1].time_ns
                                                                    : std::max(from_.last_ns, each.states[i].time_ns);
            writer_.begin(here, each.states[i].time_ns, "state", state_names.at(each.states[i].state));
            writer_.end(here, end_ns);
        }
    }

    [[nodiscard]] std::uint64_t correlation_of(const task& which) const {
        if (!which.sent_as.empty()) return which.sent_as.front();
        return which.received_as.empty() ? arrow_id(from_, which.id, 0) : which.received_as.front();
    }

    void write_lane(unsigned lane, int place) {
        const std::string number = std::to_string(lane);
        shelves tasks{writer_, "lane " + number + ": tasks", process_, place + 2};
        for (const task& each : from_.tasks) {
            if (each.lane == lane) write_task(each, tasks);
        }
        write_depth("lane " + number + ": posted, not issued", lane, place, false);
        write_depth("lane " + number + ": in flight", lane, place + 1, true);
    }

    void write_task(const task& each, shelves& free) {
        const std::uint64_t begin_ns = each.posted_ns != 0  ? each.posted_ns
                                       : each.steps.empty() ? 0
                                                            : each.steps.front().time_ns;
        if (begin_ns == 0) return;
        const std::uint64_t last_ns = each.steps.empty() ? begin_ns : std::max(begin_ns, each.steps.back().time_ns);
        const std::uint64_t end_ns = each.has_ended() ? last_ns : std::max(from_.last_ns, last_ns);
        const track here = free.take(begin_ns, end_ns);
        event_extras extras;
        extras.correlation = correlation_of(each);
        extras.annotations = {{"bytes", bytes_of(each)},
                              {"end", std::string{end_names.at(each.end)}},
                              {"communicator", communicator_name(each)}};
        annotate_threads(each, extras.annotations);
        const std::string name = describe(from_, each);
        if (const auto posting = threads_.find(each.poster()); posting != threads_.end() && each.posted_ns != 0) {
            event_extras of_post{.correlation = extras.correlation};
            if (from_.computes.contains(each.compute)) {
                extras.ending_flows = of_post.flows = {arrow_id(from_, each.compute, each.id)};
            }
            writer_.instant(posting->second, each.posted_ns, "post", "post " + name, of_post);
        }
        writer_.begin(here, begin_ns, "task", name, extras);
        std::uint64_t since_ns = begin_ns;
        for (const step& taken : each.steps) {
            const std::uint64_t until_ns = std::max(since_ns, taken.time_ns);
            write_phase(each, here, taken.before, since_ns, until_ns);
            since_ns = until_ns;
        }
        if (!each.has_ended())
            write_phase(each, here, each.steps.empty() ? 0 : each.steps.back().phase, since_ns, end_ns);
        write_end(each, here, end_ns);
        writer_.end(here, end_ns);
    }

    void write_phase(const task& each, track here, std::uint8_t phase, std::uint64_t begin_ns, std::uint64_t end_ns) {
        event_extras extras;
        if (phase == in_flight) extras = {.flows = each.sent_as, .ending_flows = ends_at(arrows_.to_issue, each.id)};
        writer_.begin(here, begin_ns, "phase", phase_names.at(std::min<std::size_t>(phase, phase_names.size() - 1)),
                      extras);
        writer_.end(here, end_ns);
    }

    void write_end(const task& each, track here, std::uint64_t end_ns) {
        const event_extras extras{.flows = ends_at(arrows_.from_end, each.id), .ending_flows = each.received_as};
        if (extras.flows.empty() && extras.ending_flows.empty()) return;
        writer_.instant(here, end_ns, "task", !each.received_as.empty() ? "arrived" : "ended", extras);
    }

    /// Who posted it, issued it and ended it: what a thread was there for says whether that was its own business.
    void annotate_threads(const task& each, std::vector<annotation>& into) const {
        if (const auto poster = from_.threads.find(each.poster()); poster != from_.threads.end())
            into.push_back({"posted by", name_of(poster->second)});
        if (const step* const issued = each.step_to(in_flight)) into.push_back({"issued by", driver_of(each, *issued)});
        if (each.has_ended()) into.push_back({"ended by", driver_of(each, each.steps.back())});
    }

    [[nodiscard]] std::string driver_of(const task& each, const step& taken) const {
        const auto found = from_.threads.find(taken.thread);
        if (found == from_.threads.end()) return "unknown";
        const thread& driver = found->second;
        if (driver.lane >= 0) return name_of(driver);
        const auto said = std::ranges::upper_bound(driver.states, taken.time_ns, {}, &state_change::time_ns);
        if (said != driver.states.begin() && drives(*std::prev(said), each.lane)) return "waiting " + name_of(driver);
        return (driver.number == each.poster() ? "poster, " : "") + name_of(driver);
    }

    [[nodiscard]] static bool drives(const state_change& said, std::uint8_t lane) {
        return said.state != 0 && (said.lane == lane || said.lane == detail::trace::every_lane);
    }

    [[nodiscard]] std::variant<std::int64_t, std::string> bytes_of(const task& which) const {
        if (const auto size = size_of(from_, which)) return static_cast<std::int64_t>(*size);
        return "unknown";
    }

    [[nodiscard]] std::string communicator_name(const task& which) const {
        const auto found = from_.communicators.find(which.communicator);
        return found == from_.communicators.end() ? "" : found->second.name;
    }

    /// How many tasks are in flight, or on their way there.
    void write_depth(const std::string& name, unsigned lane, int place, bool of_flight) {
        std::vector<std::pair<std::uint64_t, int>> changes;
        for (const task& each : from_.tasks) {
            if (each.lane != lane) continue;
            const step* const issued = each.step_to(in_flight);
            if (!of_flight && each.posted_ns != 0) changes.emplace_back(each.posted_ns, 1);
            if (!of_flight && each.posted_ns == 0) continue;
            if (issued != nullptr) changes.emplace_back(issued->time_ns, of_flight ? 1 : -1);
            if (each.has_ended() && (of_flight == (issued != nullptr)))
                changes.emplace_back(each.steps.back().time_ns, -1);
        }
        std::ranges::sort(changes);
        const track here = writer_.add_counter(name, process_, place);
        std::int64_t depth = 0;
        for (std::size_t i = 0; i < changes.size(); ++i) {
            depth += changes[i].second;
            if (i + 1 == changes.size() || changes[i + 1].first != changes[i].first)
                writer_.count(here, changes[i].first, depth);
        }
    }

    perfetto_writer& writer_;
    const rank_trace& from_;
    const arrows arrows_;
    const int pid_;
    const track process_;
    std::map<std::uint32_t, track> threads_;
};

} // namespace

void write_perfetto(const run& from, const std::string& path) {
    perfetto_writer writer{path};
    for (const rank_trace& each : from.ranks) rank_writer{writer, each}.write();
    writer.finish();
}

} // namespace commtask::tools
