// SPDX-License-Identifier: Apache-2.0
//
// Ranks into a run: one clock, and which send met which receive. MPI lets no message overtake another, so both follow from the
// order of issue (docs/trace-format.md, "What a reader does with it").
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

using clock = std::function<std::uint64_t(std::uint64_t)>;

/// What turns the rank's times into those of `root`; nothing if they are the same.
[[nodiscard]] clock clock_of(rank_trace& of, const rank_trace& root) {
    if (&of == &root || (of.header.clock_domain == root.header.clock_domain && of.header.clock_domain != 0)) {
        of.clock = &of == &root ? "its own" : "the same as rank " + std::to_string(root.rank()) + "'s";
        return {};
    }
    const auto start = of.clocks.find(0);
    const auto end = of.clocks.find(1);
    if (start == of.clocks.end()) {
        const std::int64_t shift = realtime_offset(of) - realtime_offset(root);
        of.clock = "the time of day: not measured, the error is unknown";
        return [shift](std::uint64_t time_ns) { return time_ns + static_cast<std::uint64_t>(shift); };
    }
    const record first = start->second;
    const auto offset = static_cast<std::int64_t>(first.value);
    if (end == of.clocks.end() || end->second.time_ns <= first.time_ns) {
        of.clock =
            "measured at the start only, error " + std::to_string(first.tail.detail) + " ns there, drift unknown";
        return [offset](std::uint64_t time_ns) { return time_ns + static_cast<std::uint64_t>(offset); };
    }
    const record last = end->second;
    const double slope = static_cast<double>(static_cast<std::int64_t>(last.value) - offset) /
                         static_cast<double>(last.time_ns - first.time_ns);
    of.clock = "measured, error at most " + std::to_string(std::max(first.tail.detail, last.tail.detail)) +
               " ns, drift " + std::to_string(slope * 1e6) + " ppm";
    return [offset, slope, from = first.time_ns](std::uint64_t time_ns) {
        const double since = static_cast<double>(static_cast<std::int64_t>(time_ns - from));
        return time_ns + static_cast<std::uint64_t>(offset + std::llround(slope * since));
    };
}

void shift(rank_trace& of, const clock& to) {
    const auto put = [&](std::uint64_t& time_ns) {
        if (time_ns != 0) time_ns = to(time_ns);
    };
    put(of.header.begin_ns);
    put(of.header.end_ns);
    put(of.last_ns);
    for (task& each : of.tasks) {
        put(each.posted_ns);
        put(each.post_returned_ns);
        for (step& taken : each.steps) put(taken.time_ns);
    }
    for (auto& [number, each] : of.threads) {
        for (state_change& change : each.states) put(change.time_ns);
        for (span& of_thread : each.spans) {
            put(of_thread.begin_ns);
            put(of_thread.end_ns);
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

void add_ends(rank_trace& of, std::map<channel, ends>& into) {
    struct issue {
        std::uint64_t time_ns;
        task* which;
    };
    std::vector<issue> issues;
    for (task& each : of.tasks) {
        if (const step* const issued = each.step_to(in_flight)) issues.push_back({issued->time_ns, &each});
    }
    std::ranges::stable_sort(issues, {}, &issue::time_ns);
    for (const issue& each : issues) {
        task& which = *each.which;
        const auto found = of.communicators.find(which.communicator);
        if (found == of.communicators.end() || found->second.is_intercommunicator) continue;
        const communicator& comm = found->second;
        const auto in_world = [&](std::int32_t rank) -> std::optional<int> {
            if (rank < 0 || static_cast<std::size_t>(rank) >= comm.members.size()) return std::nullopt;
            return comm.members[static_cast<std::size_t>(rank)];
        };
        const unsigned flags = of.operation_of(which).flags;
        const bool sends = (flags & detail::trace::sends) != 0;
        if (const auto peer = in_world(which.peer); sends && peer) {
            into[{comm.key, of.rank(), *peer, which.tag}].sends.push_back(&which);
        }
        const bool receives =
            (flags & detail::trace::receives) != 0 && (flags & detail::trace::takes_matched) == 0 && which.end == 1;
        const std::pair asked = sends && which.source ? *which.source : std::pair{which.peer, which.tag};
        const auto [source, tag] = which.matched.value_or(asked);
        if (const auto peer = in_world(source); receives && peer) {
            into[{comm.key, *peer, of.rank(), tag}].receives.push_back(&which);
        }
        for (const other_message& other : which.others) {
            const auto peer = in_world(other.rank);
            if (peer && other.is_sent) into[{comm.key, of.rank(), *peer, other.tag}].sends.push_back(&which);
            if (peer && !other.is_sent && which.end == 1)
                into[{comm.key, *peer, of.rank(), other.tag}].receives.push_back(&which);
        }
    }
}

void match(run& all) {
    std::map<channel, ends> channels;
    std::set<int> lost;
    for (rank_trace& each : all.ranks) {
        name_communicators(each);
        if (each.header.keep == 1 && each.header.n_dropped > 0) lost.insert(each.rank());
    }
    for (rank_trace& each : all.ranks) add_ends(each, channels);
    for (auto& [way, found] : channels) {
        const auto& [comm, source, destination, tag] = way;
        if (lost.contains(source) || lost.contains(destination)) continue;
        const std::size_t count = std::min(found.sends.size(), found.receives.size());
        for (std::size_t k = 0; k < count; ++k) {
            const std::uint64_t id = fnv(comm + "|" + std::to_string(source) + "|" + std::to_string(destination) + "|" +
                                         std::to_string(tag) + "|" + std::to_string(k));
            found.sends[k]->sent_as.push_back(id);
            found.receives[k]->received_as.push_back(id);
        }
        all.n_messages += count;
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
    for (rank_trace& each : all.ranks) {
        if (const clock to = clock_of(each, all.ranks.front())) shift(each, to);
    }
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
