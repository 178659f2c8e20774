// SPDX-License-Identifier: Apache-2.0
//
// Records into objects. A file may have been cut off anywhere, so what is open at its end ends there, and what is named and
// missing is left unnamed.
#include "model.hpp"

#include "base/printable.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_set>

namespace commtask::tools {
namespace {

using detail::trace::chunk;
using detail::trace::compute_model;
using detail::trace::file_header;
using detail::trace::record;
using detail::trace::record_type;

constexpr int most_members = 1 << 24;                           ///< Of a communicator.
constexpr std::uint32_t most_lanes = detail::trace::every_lane; ///< A record says its lane in a byte.
constexpr std::uint32_t most_others = 1U << 16U;                ///< Messages that one record may stand for.

[[nodiscard]] std::vector<char> contents_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file) throw trace_error{path + " cannot be read"};
    std::vector<char> found(sizeof(chunk));
    file.read(found.data(), static_cast<std::streamsize>(found.size()));
    found.resize(static_cast<std::size_t>(file.gcount()));
    const std::string_view begin{found.data(), found.size()};
    if (begin.starts_with(
            std::string_view{detail::trace::magic, sizeof file_header::magic})) { // what else it is may never end
        found.insert(found.end(), std::istreambuf_iterator<char>{file}, {});
    }
    return found;
}

[[nodiscard]] std::vector<int> parse_members(std::string_view text) {
    std::vector<int> members;
    while (!text.empty()) {
        const std::string part{text.substr(0, text.find(','))};
        text.remove_prefix(std::min(part.size() + 1, text.size()));
        int first = 0;
        int last = 0;
        int step = 1;
        int n_read[3]{};
        const int n_found =
            std::sscanf(part.c_str(), "%9d%n-%9d%n:%9d%n", &first, &n_read[0], &last, &n_read[1], &step, &n_read[2]);
        if (n_found < 2) last = first;
        const bool is_whole = n_found >= 1 && n_read[n_found - 1] == static_cast<int>(part.size());
        // A damaged file: rather an unknown communicator than another one.
        if (!is_whole || first < 0 || step < 1 || last - first > most_members) return {};
        for (int each = first; each <= last; each += step) members.push_back(each);
    }
    return members;
}

/// Whether its time is that of its writing; a post's, or a match's, lies before others that were written earlier.
[[nodiscard]] bool is_written_at_once(record_type type) {
    switch (type) {
    case record_type::post_returned:
    case record_type::wait_begin:
    case record_type::wait_end:
    case record_type::state:
    case record_type::compute_created:
    case record_type::compute_begin:
    case record_type::compute_end:
    case record_type::region_end:
    case record_type::processor: return true;
    default: return false;
    }
}

[[nodiscard]] span_class region_class(std::uint8_t region) {
    using detail::trace::region_owner;
    switch (region_owner{region}) {
    case region_owner::mpi: return span_class::mpi;
    case region_owner::openmp: return span_class::openmp;
    case region_owner::onetbb: return span_class::onetbb;
    default: return span_class::program;
    }
}

class reader {
public:
    explicit reader(const std::string& path) : data_(contents_of(path)) {
        trace_.path = path;
        file_header& header = trace_.header;
        if (data_.size() < sizeof(chunk)) refuse("is too short to be one");
        std::memcpy(&header, data_.data(), sizeof header);
        if (std::memcmp(header.magic, detail::trace::magic, sizeof header.magic) != 0)
            refuse("does not begin like one");
        if (header.version != detail::trace::version || header.record_bytes != sizeof(record) ||
            header.header_bytes != sizeof(chunk)) {
            refuse("has version " + std::to_string(header.version) + " of the format, and this program reads version " +
                   std::to_string(detail::trace::version) + ": take the commtask-report of the library that wrote it");
        }
        if (header.rank >= header.n_ranks || header.n_ranks > most_members) {
            refuse("says that it is of rank " + std::to_string(header.rank) + " of " + std::to_string(header.n_ranks));
        }
        if (header.n_lanes > most_lanes) refuse("says that the rank had " + std::to_string(header.n_lanes) + " lanes");
        trace_.host = detail::printable({header.host, strnlen(header.host, sizeof header.host)});
        const std::size_t n_chunks =
            std::min<std::size_t>({header.n_chunks_used, header.n_chunks, data_.size() / sizeof(chunk)});
        for (std::size_t i = 1; i < n_chunks; ++i) {
            const record first = at(i, 0);
            if (first.tail.type == record_type::chunk) order_.emplace_back(first.tail.detail, first.time_ns, i);
        }
        std::ranges::sort(order_);
    }

    [[nodiscard]] rank_trace read() {
        if (trace_.lost_records()) find_gap();
        for_each([this](std::uint32_t, const record& each) { take_text(each); });
        for_each([this](std::uint32_t thread, const record& each) {
            if (thread == 0) take_common(each);
        });
        for_each([this](std::uint32_t thread, const record& each) {
            if (thread != 0) take(thread, each);
        });
        finish();
        return std::move(trace_);
    }

private:
    [[noreturn]] void refuse(const std::string& why) const {
        throw trace_error{trace_.path + " is no trace that can be read: it " + why};
    }

    [[nodiscard]] record at(std::size_t number, std::size_t place) const {
        record found{};
        std::memcpy(static_cast<void*>(&found), &data_[number * sizeof(chunk) + place * sizeof(record)], sizeof found);
        return found;
    }

    template <typename Take>
    void for_each_of(std::size_t number, Take&& take) const {
        for (std::size_t i = 1; i < detail::trace::records_per_chunk; ++i) {
            const record each = at(number, i);
            if (each.tail.type == record_type::none) break;
            take(each);
        }
    }

    template <typename Take>
    void for_each(Take&& take) const {
        for (const auto& [thread, sequence, number] : order_) {
            const std::uint32_t whose = thread;
            for_each_of(number, [&](const record& each) { take(whose, each); });
        }
    }

    /// Where records of any thread are missing.
    void find_gap() {
        std::map<std::uint32_t, std::uint64_t> n_lost; // the last chunk of a thread has the sum
        for (const auto& [thread, sequence, number] : order_) n_lost[thread] = at(number, 0).id;
        std::map<std::uint32_t, std::uint64_t> first;
        std::map<std::uint32_t, std::uint64_t> last;
        for (const auto& [thread, sequence, number] : order_) {
            if (thread == 0 || n_lost.at(thread) == 0) continue;
            std::uint64_t at_once = 0;
            for_each_of(number, [&](const record& each) {
                if (each.tail.type == record_type::text_part) return;
                last[thread] = each.time_ns;
                if (at_once == 0 && is_written_at_once(each.tail.type)) at_once = each.time_ns;
            });
            if (last.contains(thread)) first.try_emplace(thread, at_once != 0 ? at_once : last.at(thread));
        }
        std::uint64_t n_known = 0;
        for (const auto& [thread, count] : n_lost) n_known += count;
        if (n_known == trace_.header.n_dropped) {
            trace_.whole_from_ns = 0;
        } else { // threads that found no room at all: nothing was lost until it was given out
            last[0] = time_of_newest_chunk();
        }
        for (const auto& [thread, time_ns] : first) trace_.whole_from_ns = std::max(trace_.whole_from_ns, time_ns);
        for (const auto& [thread, time_ns] : last) trace_.whole_until_ns = std::min(trace_.whole_until_ns, time_ns);
    }

    /// The least time in the chunk that was given out last; 0: there is none.
    [[nodiscard]] std::uint64_t time_of_newest_chunk() const {
        const auto newest = std::ranges::max_element(order_, {}, [](const auto& each) { return std::get<2>(each); });
        std::uint64_t least = UINT64_MAX;
        if (newest != order_.end()) {
            for_each_of(std::get<2>(*newest), [&](const record& each) {
                if (each.tail.type != record_type::text_part) least = std::min(least, each.time_ns);
            });
        }
        return least == UINT64_MAX ? 0 : least;
    }

    void take_text(const record& each) {
        if (each.tail.type != record_type::text_part) return;
        texts_[each.tail.detail].append(reinterpret_cast<const char*>(&each),
                                        std::min<std::size_t>(each.tail.sub, detail::trace::text_bytes_per_record));
        if ((each.tail.flags & 1U) != 0) whole_texts_.insert(each.tail.detail);
    }

    /// Half a list of members would be another communicator.
    [[nodiscard]] std::vector<int> members(std::uint64_t text_number) const {
        return whole_texts_.contains(static_cast<std::uint32_t>(text_number)) ? parse_members(text(text_number))
                                                                              : std::vector<int>{};
    }

    [[nodiscard]] std::string text(std::uint64_t number) const {
        const auto found = texts_.find(static_cast<std::uint32_t>(number));
        return found == texts_.end() ? std::string{} : detail::printable(found->second);
    }

    [[nodiscard]] thread& thread_of(std::uint32_t number) {
        thread& found = trace_.threads[number];
        found.number = number;
        return found;
    }

    void take_common(const record& each) {
        const auto [number, type, lane, sub, flags] = each.tail;
        switch (type) {
        case record_type::thread: {
            thread& made = thread_of(number);
            made.kernels_id = each.id;
            made.lane = detail::trace::low_of(each.value);
            made.name = text(static_cast<std::uint32_t>(detail::trace::high_of(each.value)));
            break;
        }
        case record_type::communicator:
            trace_.communicators[number] = {
                number, text(each.id & 0xffffffffU), members(each.id >> 32U), (flags & 1U) != 0, {}};
            break;
        case record_type::operation: trace_.operations.at(sub) = {text(number), flags}; break;
        case record_type::clock: trace_.clocks[sub] = each; break;
        default: break;
        }
    }

    [[nodiscard]] task& task_of(std::uint64_t id) {
        const auto [found, is_new] = trace_.task_at.try_emplace(id, trace_.tasks.size());
        if (is_new) trace_.tasks.emplace_back().id = id;
        return trace_.tasks[found->second];
    }

    void open(std::uint32_t thread, const record& each, span_class what, std::string name) {
        std::vector<span>& spans = thread_of(thread).spans;
        open_[thread].push_back(spans.size());
        spans.push_back({each.time_ns, 0, what, std::move(name), each.id});
    }

    /// Ends the latest of this thread's open spans that `is_it`; a region around many spans is the last of all to end.
    /// @return null if none is
    template <typename IsIt>
    span* close(std::uint32_t thread, std::uint64_t end_ns, IsIt&& is_it) {
        std::vector<span>& spans = thread_of(thread).spans;
        std::vector<std::size_t>& open = open_[thread];
        const auto found = std::find_if(open.rbegin(), open.rend(), [&](std::size_t at) { return is_it(spans[at]); });
        if (found == open.rend()) return nullptr;
        span& ended = spans[*found];
        ended.end_ns = end_ns;
        open.erase(std::next(found).base());
        return &ended;
    }

    void take(std::uint32_t thread, const record& each) {
        const auto [number, type, lane, sub, flags] = each.tail;
        const std::pair both{detail::trace::low_of(each.value), detail::trace::high_of(each.value)};
        if (type != record_type::text_part) trace_.last_ns = std::max(trace_.last_ns, each.time_ns);
        switch (type) {
        case record_type::posted: {
            task& made = task_of(each.id);
            made.posted_ns = each.time_ns;
            std::tie(made.peer, made.tag) = both;
            made.communicator = number;
            made.kind = sub;
            made.lane = lane;
            made.stands = (flags & detail::trace::posted_to_stand) != 0;
            break;
        }
        case record_type::receives_from: task_of(each.id).source = both; break;
        case record_type::matched: task_of(each.id).matched = both; break;
        case record_type::also:
            task_of(each.id).others.insert(task_of(each.id).others.end(), std::min(number, most_others),
                                           {both.first, both.second, flags == detail::trace::sends});
            break;
        case record_type::after:
            // What a plan's run consists of began when it did: an arrow would point backwards.
            if ((flags & detail::trace::after_its_member) == 0) after_.push_back(each);
            break;
        case record_type::posted_in: task_of(each.id).compute = each.value; break;
        case record_type::post_returned: task_of(each.id).post_returned_ns = each.time_ns; break;
        case record_type::moved: {
            if (sub == 0 || sub > dropped) break; // damaged
            task& moved = task_of(each.id);
            moved.lane = lane;
            moved.steps.push_back({each.time_ns, flags, sub, thread});
            if (sub == in_flight) moved.given_bytes = each.value;
            if (sub >= ended) {
                moved.end = static_cast<std::uint8_t>(std::min<std::size_t>(number, end_names.size() - 1));
                moved.bytes = each.value;
            }
            break;
        }
        case record_type::state:
            thread_of(thread).states.push_back(
                {each.time_ns, lane, static_cast<std::uint8_t>(std::min<std::size_t>(sub, state_names.size() - 1))});
            break;
        case record_type::wait_begin: open(thread, each, span_class::wait, "wait"); break;
        case record_type::wait_end:
            if (span* const wait =
                    close(thread, each.time_ns, [](const span& it) { return it.what == span_class::wait; });
                wait != nullptr && each.id != 0) {
                wait->id = each.id;
            }
            break;
        case record_type::compute_created: {
            compute_task& made = trace_.computes[each.id];
            made.name = text(number);
            made.model = compute_model{sub};
            break;
        }
        case record_type::compute_begin: open(thread, each, span_class::compute, text(number)); break;
        case record_type::compute_end:
            if (sub == detail::trace::body_is_done || sub == detail::trace::is_fulfilled) {
                trace_.computes[each.id].is_detached = true;
                if (sub == detail::trace::is_fulfilled) break; // on whatever thread
            }
            close(thread, each.time_ns,
                  [&](const span& it) { return it.what == span_class::compute && it.id == each.id; });
            break;
        case record_type::region_begin: {
            open(thread, each, region_class(sub), text(number));
            break;
        }
        case record_type::region_end:
            close(thread, each.time_ns, [](const span& it) { return it.what >= span_class::mpi; });
            break;
        default: break;
        }
    }

    /// Every figure counts on it that no task comes into a phase before an earlier one.
    void check_order(const task& which) const {
        std::uint8_t phase = 0;
        std::uint64_t since = which.posted_ns;
        for (const step& each : which.steps) {
            if (each.phase <= phase || each.time_ns < since) {
                const auto [first, last] = std::minmax(phase, each.phase);
                const std::string order =
                    first == last ? "twice" : "before it is " + std::string{phase_names.at(first)};
                refuse("says that task " + std::to_string(which.poster()) + "." +
                       std::to_string(which.id & 0xffffffffffffU) + " is " + std::string{phase_names.at(last)} + " " +
                       order);
            }
            phase = each.phase;
            since = each.time_ns;
        }
    }

    void finish() {
        for (const record& each : after_) {
            if (const auto task = trace_.task_at.find(each.id); task != trace_.task_at.end()) {
                trace_.tasks[task->second].after.push_back(each.value);
            } else if (const auto compute = trace_.computes.find(each.id); compute != trace_.computes.end()) {
                compute->second.after.push_back({each.value, each.time_ns});
            }
        }
        std::ranges::stable_sort(trace_.tasks, {}, &task::posted_ns);
        for (std::size_t i = 0; i < trace_.tasks.size(); ++i) {
            trace_.task_at[trace_.tasks[i].id] = i;
            std::ranges::sort(trace_.tasks[i].steps, {},
                              [](const step& each) { return std::pair{each.time_ns, each.phase}; });
            check_order(trace_.tasks[i]);
        }
        for (auto& [number, each] : trace_.threads) {
            for (span& found : each.spans) {
                if (found.end_ns == 0) found.end_ns = std::max(trace_.last_ns, found.begin_ns); // it is open
                if (found.what == span_class::compute && found.name.empty())
                    found.name = trace_.computes[found.id].name;
            }
            nest(each.spans);
        }
    }

    std::vector<char> data_;
    rank_trace trace_;
    std::vector<std::tuple<std::uint32_t, std::uint64_t, std::size_t>> order_; ///< Thread, sequence, chunk.
    std::unordered_map<std::uint32_t, std::string> texts_;
    std::unordered_set<std::uint32_t> whole_texts_;
    std::vector<record> after_;
    std::map<std::uint32_t, std::vector<std::size_t>>
        open_; ///< By thread: its spans that have not ended, by their place.
};

[[nodiscard]] std::string rank_text(std::int32_t rank) {
    return rank == detail::trace::any ? "any rank" : "rank " + std::to_string(rank);
}
[[nodiscard]] std::string tag_text(std::int32_t tag) {
    return tag == detail::trace::any ? "any tag" : "tag " + std::to_string(tag);
}
/// " to ranks 1, 2, 3, from ranks 4": what a task with several messages has to do with, cut.
[[nodiscard]] std::string others_text(const task& which) {
    constexpr std::size_t most = 4;
    std::string text;
    for (const bool is_sent : {true, false}) {
        std::size_t count = 0;
        for (const other_message& each : which.others) {
            if (each.is_sent != is_sent || ++count > most) continue;
            text +=
                (count > 1 ? ", " : std::string{text.empty() ? "" : ","} + (is_sent ? " to " : " from ") + "ranks ") +
                std::to_string(each.rank);
        }
        if (count > most) text += " and " + std::to_string(count - most) + " more";
    }
    return text;
}

} // namespace

void nest(std::vector<span>& spans) {
    const auto is_before = [](const span& a, const span& b) {
        return std::tuple{a.begin_ns, a.what != span_class::state, b.end_ns} <
               std::tuple{b.begin_ns, b.what != span_class::state, a.end_ns};
    };
    const auto is_after = [&](const span& a, const span& b) { return is_before(b, a); };
    std::ranges::stable_sort(spans, is_before);
    std::priority_queue<span, std::vector<span>, decltype(is_after)> rests{is_after};
    std::vector<span> nested;
    nested.reserve(spans.size());
    std::vector<std::uint64_t> outer_ends;
    for (std::size_t next = 0; next < spans.size() || !rests.empty();) {
        span now{};
        if (next == spans.size() || (!rests.empty() && is_before(rests.top(), spans[next]))) {
            now = rests.top();
            rests.pop();
        } else {
            now = std::move(spans[next++]);
        }
        while (!outer_ends.empty() && outer_ends.back() <= now.begin_ns) outer_ends.pop_back();
        if (!outer_ends.empty() && outer_ends.back() < now.end_ns) {
            span rest = now;
            now.end_ns = rest.begin_ns = outer_ends.back();
            rest.is_rest = true;
            rests.push(std::move(rest));
        }
        outer_ends.push_back(now.end_ns);
        nested.push_back(std::move(now));
    }
    spans = std::move(nested);
}

const step* task::step_to(std::uint8_t phase) const {
    const auto found = std::ranges::find(steps, phase, &step::phase);
    return found == steps.end() ? nullptr : &*found;
}

const task* rank_trace::find(std::uint64_t id) const {
    const auto found = task_at.find(id);
    return found == task_at.end() ? nullptr : &tasks[found->second];
}

std::string describe(const rank_trace& of, const task& which) {
    const operation& kind = of.operation_of(which);
    std::string text = kind.name.empty() ? "task" : kind.name;
    if (which.stands) text = "standing " + text;
    if (which.peer == detail::trace::nobody) return text + others_text(which);
    if ((kind.flags & detail::trace::one_sided) != 0 && (kind.flags & detail::trace::receives) == 0) {
        const bool notifies = (kind.flags & detail::trace::sends) != 0;
        return text + " at " + rank_text(which.peer) + (notifies ? ", notification " + std::to_string(which.tag) : "");
    }
    if ((kind.flags & detail::trace::is_collective) != 0) return text + ", root " + std::to_string(which.peer);
    text += ((kind.flags & detail::trace::sends) != 0 ? " to " : " from ") + rank_text(which.peer) + ", " +
            tag_text(which.tag);
    if (which.source) text += ", from " + rank_text(which.source->first) + ", " + tag_text(which.source->second);
    return text;
}

std::optional<std::uint64_t> size_of(const rank_trace& of, const task& which) {
    if (which.has_completed() || which.stands) return which.bytes;
    const bool receives = (of.operation_of(which).flags & detail::trace::receives) != 0 ||
                          !std::ranges::all_of(which.others, &other_message::is_sent);
    if (receives || which.given_bytes == 0) return std::nullopt;
    return which.given_bytes;
}

std::string name_of(const thread& which) {
    if (which.lane >= 0) return "worker of lane " + std::to_string(which.lane);
    return "thread " + std::to_string(which.number) + (which.name.empty() ? "" : " " + which.name);
}

rank_trace read_rank(const std::string& path) { return reader{path}.read(); }

} // namespace commtask::tools
