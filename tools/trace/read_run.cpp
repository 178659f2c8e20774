// SPDX-License-Identifier: Apache-2.0
//
// Ranks into a run: one clock, and which send met which receive. MPI lets no message overtake another, so both follow from the
// order of issue (docs/trace-format.md, "Reading a run").
#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>
#include <tuple>

namespace commtask::tools {
namespace {

using detail::trace::any;
using detail::trace::record;

[[nodiscard]] std::vector<std::string> find_files(const std::vector<std::string>& paths) {
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        if (!std::filesystem::is_directory(path)) {
            files.push_back(path);
            continue;
        }
        const std::size_t n_before = files.size();
        for (const auto& entry : std::filesystem::directory_iterator(path)) {
            if (entry.path().extension() == ".cttrace") files.push_back(entry.path().string());
        }
        if (files.size() == n_before) {
            throw trace_error{path + " has no trace: a folder that COMMTASK_TRACE named has files rank-N.cttrace"};
        }
    }
    std::ranges::sort(files);
    return files;
}

[[nodiscard]] std::int64_t realtime_offset(const rank_trace& of) {
    return static_cast<std::int64_t>(of.header.begin_realtime_ns - of.header.begin_ns);
}

using conversion = std::function<std::uint64_t(std::uint64_t)>;

/// The clock that some ranks share, those of a machine: what turns their times into rank 0's, if anything, and how well.
struct clock {
    std::vector<rank_trace*> ranks;
    bool is_known = false;
    conversion convert;
    std::string how;
};

[[nodiscard]] std::uint32_t error_of(const rank_trace& measured) {
    std::uint32_t worst = 0;
    for (const auto& [when, comparison] : measured.clocks) worst = std::max(worst, comparison.tail.detail);
    return worst;
}

/// By what a rank measured. The end may be missing.
void measure(clock& its, const rank_trace& by) {
    const record first = by.clocks.at(0);
    const auto end = by.clocks.find(1);
    const auto offset = static_cast<std::int64_t>(first.value);
    if (end == by.clocks.end() || end->second.time_ns <= first.time_ns) {
        its.how = "measured at the start only, error " + std::to_string(error_of(by)) + " ns there, drift unknown";
        its.convert = [offset](std::uint64_t time_ns) { return time_ns + static_cast<std::uint64_t>(offset); };
        return;
    }
    const record last = end->second;
    const double slope = static_cast<double>(static_cast<std::int64_t>(last.value) - offset) /
                         static_cast<double>(last.time_ns - first.time_ns);
    its.how = "measured, error at most " + std::to_string(error_of(by)) + " ns, drift " + std::to_string(slope * 1e6) +
              " ppm";
    its.convert = [offset, slope, from = first.time_ns](std::uint64_t time_ns) {
        const double since = static_cast<double>(static_cast<std::int64_t>(time_ns - from));
        return time_ns + static_cast<std::uint64_t>(offset + std::llround(slope * since));
    };
}

/// Of these ranks, that of the least error, and rather one that measured twice.
[[nodiscard]] clock clock_of(std::vector<rank_trace*> ranks) {
    clock its{std::move(ranks), false, {}, {}};
    its.how = "rank " + std::to_string(its.ranks.front()->rank()) + "'s";
    const rank_trace* best = nullptr;
    const auto quality = [](const rank_trace& of) { return std::pair{!of.clocks.contains(1), error_of(of)}; };
    for (const rank_trace* each : its.ranks) {
        if (each->clocks.contains(0) && (best == nullptr || quality(*each) < quality(*best))) best = each;
    }
    const bool has_rank_0 = its.ranks.front()->rank() == 0;
    its.is_known = has_rank_0 || best != nullptr;
    if (!has_rank_0 && best != nullptr) measure(its, *best);
    return its;
}

/// Nothing was measured: by the time of day, beside another clock.
void guess(clock& its, const clock& known) {
    const std::int64_t shift = realtime_offset(*its.ranks.front()) - realtime_offset(*known.ranks.front());
    its.how = "the time of day: not measured, the error is unknown";
    its.convert = [shift, onwards = known.convert](std::uint64_t time_ns) {
        const std::uint64_t shifted = time_ns + static_cast<std::uint64_t>(shift);
        return onwards ? onwards(shifted) : shifted;
    };
}

void shift(rank_trace& of, const conversion& to) {
    const auto put = [&](std::uint64_t& time_ns) {
        if (time_ns != 0 && time_ns != UINT64_MAX) time_ns = to(time_ns);
    };
    put(of.header.begin_ns);
    put(of.header.end_ns);
    put(of.last_ns);
    put(of.whole_from_ns);
    put(of.whole_until_ns);
    for (task& each : of.tasks) {
        put(each.posted_ns);
        put(each.post_returned_ns);
        for (step& taken : each.steps) put(taken.time_ns);
    }
    for (auto& [id, each] : of.computes) {
        for (compute_task::predecessor& before : each.after) put(before.said_ns);
    }
    for (auto& [number, each] : of.threads) {
        for (state_change& change : each.states) put(change.time_ns);
        for (span& of_thread : each.spans) {
            put(of_thread.begin_ns);
            put(of_thread.end_ns);
        }
    }
}

/// Puts all times on rank 0's clock, whether its file is there or not.
void align(std::vector<rank_trace>& ranks) {
    std::vector<std::vector<rank_trace*>> machines;
    for (rank_trace& each : ranks) {
        const auto found = std::ranges::find_if(machines, [&](const auto& one) {
            return each.header.clock_domain != 0 && one.front()->header.clock_domain == each.header.clock_domain;
        });
        found != machines.end() ? found->push_back(&each) : machines.push_back({&each});
    }
    std::vector<clock> clocks;
    for (auto& each : machines) clocks.push_back(clock_of(std::move(each)));
    const auto found = std::ranges::find_if(clocks, &clock::is_known);
    const clock& known = found == clocks.end() ? clocks.front() : *found;
    for (clock& each : clocks) { // before any time moves
        if (!each.is_known && &each != &known) guess(each, known);
    }
    for (const clock& each : clocks) {
        for (rank_trace* of : each.ranks) {
            of->clock = each.how;
            if (each.convert) shift(*of, each.convert);
        }
    }
}

/// A communicator's key is its members, its name, and which one of these it is.
void name_communicators(rank_trace& of) {
    std::map<std::string, int> seen;
    for (auto& [number, each] : of.communicators) {
        std::string text;
        for (const int member : each.members) text += (text.empty() ? "" : ",") + std::to_string(member);
        text += "|" + each.name;
        each.key = text + "|" + std::to_string(seen[text]++);
    }
}

[[nodiscard]] std::uint64_t fnv(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char each : text) hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3U;
    return hash;
}

/// Communicator, source, destination, tag.
using channel = std::tuple<std::string, int, int, std::int32_t>;
struct ends {
    std::vector<task*> sends;
    std::vector<task*> receives;
};

/// The tasks in the order of issue: of a trace that lost records those before the first, or after the last, that may be
/// missing.
[[nodiscard]] std::vector<task*> issues_without_gap(rank_trace& of) {
    struct issue {
        std::uint64_t time_ns;
        task* which;
    };
    std::vector<issue> issues;
    for (task& each : of.tasks) {
        if (const step* const issued = each.step_to(in_flight)) issues.push_back({issued->time_ns, &each});
    }
    std::ranges::stable_sort(issues, {}, &issue::time_ns);
    std::vector<task*> found;
    for (const issue& each : issues) {
        const bool is_unknown = each.which->posted_ns == 0;
        if (of.lost_records() && of.keeps_newest()) {
            if (is_unknown) found.clear();
            if (is_unknown || each.time_ns <= of.whole_from_ns) continue;
        } else if (of.lost_records() && (is_unknown || each.time_ns >= of.whole_until_ns)) {
            break;
        }
        found.push_back(each.which);
    }
    return found;
}

void add_ends(rank_trace& of, std::map<channel, ends>& into) {
    for (task* const each : issues_without_gap(of)) {
        task& which = *each;
        const auto found = of.communicators.find(which.communicator);
        if (found == of.communicators.end() || found->second.is_intercommunicator) continue;
        const communicator& comm = found->second;
        const auto in_world = [&](std::int32_t rank) -> std::optional<int> {
            if (rank < 0 || static_cast<std::size_t>(rank) >= comm.members.size()) return std::nullopt;
            return comm.members[static_cast<std::size_t>(rank)];
        };
        const bool has_come = which.has_completed() && (!of.lost_records() || of.keeps_newest() ||
                                                        which.steps.back().time_ns < of.whole_until_ns);
        const unsigned flags = of.operation_of(which).flags;
        const bool sends = (flags & detail::trace::sends) != 0;
        if (const auto peer = in_world(which.peer); sends && peer) {
            into[{comm.key, of.rank(), *peer, which.tag}].sends.push_back(&which);
        }
        const bool receives =
            (flags & detail::trace::receives) != 0 && (flags & detail::trace::takes_matched) == 0 && has_come;
        const std::pair asked = sends && which.source ? *which.source : std::pair{which.peer, which.tag};
        const auto [source, tag] = which.matched.value_or(asked);
        if (const auto peer = in_world(source); receives && peer) {
            into[{comm.key, *peer, of.rank(), tag}].receives.push_back(&which);
        }
        for (const other_message& other : which.others) {
            const auto peer = in_world(other.rank);
            if (peer && other.is_sent) into[{comm.key, of.rank(), *peer, other.tag}].sends.push_back(&which);
            if (peer && !other.is_sent && has_come)
                into[{comm.key, *peer, of.rank(), other.tag}].receives.push_back(&which);
        }
    }
}

/// The k-th send and the k-th receive of a channel are one message; counted from the end -1 is the last.
/// @return how many there are
std::size_t join(const channel& way, ends& of, bool from_the_end) {
    if (from_the_end) {
        std::ranges::reverse(of.sends);
        std::ranges::reverse(of.receives);
    }
    const std::size_t count = std::min(of.sends.size(), of.receives.size());
    const auto is_wrong = [&](std::size_t k) {
        return of.receives[k]->steps.back().time_ns < of.sends[k]->step_to(in_flight)->time_ns;
    };
    // One that nobody received, and the count is wrong: as far as that shows, nothing is said of the channel.
    for (std::size_t k = 0; from_the_end && k < count; ++k) {
        if (is_wrong(k)) return 0;
    }
    const auto& [comm, source, destination, tag] = way;
    for (std::size_t k = 0; k < count; ++k) {
        const std::string number = from_the_end ? "-" + std::to_string(k + 1) : std::to_string(k);
        const std::uint64_t id = fnv(comm + "|" + std::to_string(source) + "|" + std::to_string(destination) + "|" +
                                     std::to_string(tag) + "|" + number);
        of.sends[k]->sent_as.push_back(id);
        of.receives[k]->received_as.push_back(id);
    }
    return count;
}

void match(run& all) {
    std::map<channel, ends> channels;
    std::set<int> has_begin;
    std::set<int> has_end;
    for (rank_trace& each : all.ranks) {
        name_communicators(each);
        if (!each.lost_records() || !each.keeps_newest()) has_begin.insert(each.rank());
        const bool ended = each.header.state == static_cast<std::uint32_t>(detail::trace::file_state::ended);
        if (ended && (!each.lost_records() || each.keeps_newest())) has_end.insert(each.rank());
    }
    for (rank_trace& each : all.ranks) add_ends(each, channels);
    for (auto& [way, found] : channels) {
        const int source = std::get<1>(way);
        const int destination = std::get<2>(way);
        const auto both_in = [&](const std::set<int>& ranks) {
            return ranks.contains(source) && ranks.contains(destination);
        };
        if (both_in(has_begin) || both_in(has_end)) all.n_messages += join(way, found, !both_in(has_begin));
    }
}

} // namespace

run read_run(const std::vector<std::string>& paths) {
    run all;
    std::vector<rank_trace> found;
    for (const std::string& path : find_files(paths)) found.push_back(read_rank(path));
    if (found.empty()) throw trace_error{"no trace is given: name the folder that COMMTASK_TRACE named"};
    const auto newest =
        std::ranges::max_element(found, {}, [](const rank_trace& each) { return each.header.begin_realtime_ns; });
    const auto [number, session] = std::pair{newest->header.run, newest->header.session};
    for (rank_trace& each : found) {
        if (each.header.run == number && each.header.session == session) all.ranks.push_back(std::move(each));
    }
    std::ranges::sort(all.ranks, {}, &rank_trace::rank);
    if (std::ranges::adjacent_find(all.ranks, {}, &rank_trace::rank) != all.ranks.end()) {
        throw trace_error{"two files are of the same rank: name the files of one run"};
    }
    align(all.ranks);
    match(all);
    const rank_trace& root = all.ranks.front();
    all.begin_ns = UINT64_MAX;
    for (const rank_trace& each : all.ranks) {
        all.begin_ns = std::min(all.begin_ns, each.header.begin_ns);
        all.end_ns = std::max({all.end_ns, each.header.end_ns, each.last_ns});
    }
    all.begin_realtime_ns = all.begin_ns + static_cast<std::uint64_t>(realtime_offset(root));
    return all;
}

} // namespace commtask::tools
