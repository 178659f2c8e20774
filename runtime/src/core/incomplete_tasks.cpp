// SPDX-License-Identifier: Apache-2.0
#include "core/incomplete_tasks.hpp"

#include "base/log.hpp"
#include "core/comm_queue.hpp"
#include "core/operation_traits.hpp"
#include "core/plan_runs.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>

namespace commtask::detail {
namespace {

constexpr std::size_t lines_at_most = 64;

/// Describes an event. Any thread may complete the event at the same time, so only the number of
/// signals is read.
[[nodiscard]] std::string event_text(const task& event) {
    const std::uint32_t missing = event.waiting_for.load(std::memory_order_relaxed);
    return "an event with " + std::to_string(missing) + (missing == 1 ? " signal" : " signals") + " missing";
}

/// For example "send to 3, tag 0, created at halo.c:50".
[[nodiscard]] std::string blocker_text(const program_order::blocker& earlier) {
    std::string text = operation_of(earlier.kind).name;
    const auto rank = [](int peer) { return peer == MPI_ANY_SOURCE ? std::string{"any rank"} : std::to_string(peer); };
    if (earlier.at.kind == channel_kind::send) text += " to " + rank(earlier.at.peer);
    if (earlier.at.kind == channel_kind::receive) text += " from " + rank(earlier.at.peer);
    if (earlier.at.kind == channel_kind::send || earlier.at.kind == channel_kind::receive) {
        text += earlier.at.tag == MPI_ANY_TAG ? ", any tag" : ", tag " + std::to_string(earlier.at.tag);
    }
    if (earlier.where.file == nullptr) return text;
    return text + ", created at " + earlier.where.file + ":" + std::to_string(earlier.where.line);
}

} // namespace

std::size_t incomplete_tasks::approx_count() const {
    const std::uint64_t live = scheduled_.approx_live();
    return live - std::min(scheduled_.approx_handlers(), live) + (elsewhere_.count ? elsewhere_.count() : 0);
}

incomplete_tasks::counts incomplete_tasks::count(task_filter chosen) const noexcept {
    counts found;
    scheduled_.for_each_live([&](const task& which) {
        if (!chosen(which)) return;
        ++found.all;
        if (which.run.now == phase::in_flight) ++found.in_flight;
        if (which.run.now == phase::ready) ++found.ready;
    });
    return found;
}

std::string incomplete_tasks::where_it_waits(const task& which) const {
    if (which.run.now == phase::in_flight) {
        return which.is_run() ? where_run_waits(which) : "in flight: MPI has not completed it";
    }
    if (which.run.now == phase::awaiting_turn) {
        const auto earlier = which.queue->order.blocker_of(*which.extras.its_turn);
        return earlier ? "waits for its turn behind " + blocker_text(*earlier) : "waits for its turn";
    }
    for (std::uint32_t i = 0; i < which.extras.n_predecessors; ++i) {
        const edge& link = which.edges[i];
        if (link.successor.load(std::memory_order_relaxed) != &which)
            continue; // The predecessor has ended, and its slot may have another task.
        const task& predecessor = *which.predecessors[i];
        if (link.is_after_event) return "after " + event_text(predecessor);
        // Only this thread ends tasks of this lane. A slot of another lane may be reused at any
        // moment.
        if (scheduled_.is_live(predecessor)) return "after " + transport_.describe(predecessor);
        const scheduler* const other = predecessor.live_in.load(std::memory_order_relaxed);
        if (other != nullptr) return "after a task of lane " + std::to_string(other->number());
    }
    const bool is_deferred =
        which.is_member() && (which.waiting_for.load(std::memory_order_relaxed) & waits_for_ready) != 0;
    return is_deferred ? call_that_makes_ready(which) : "for its predecessors";
}

std::string incomplete_tasks::table(const char* heading, task_filter chosen) const {
    std::vector<const task*> live;
    scheduled_.for_each_live([&](const task& which) {
        if (chosen(which)) live.push_back(&which);
    });
    std::sort(live.begin(), live.end(),
              [](const task* left, const task* right) { return left->run.accepted_ns < right->run.accepted_ns; });
    const std::vector<incomplete_line> elsewhere = elsewhere_.list ? elsewhere_.list() : std::vector<incomplete_line>{};
    const std::size_t count = live.size() + elsewhere.size();
    if (count == 0) return {};
    const std::uint64_t now = now_ns();
    const std::string here = n_lanes_ > 1 ? " on lane " + std::to_string(scheduled_.number()) : std::string{};
    std::string made = std::string(log_prefix()) + std::to_string(count) + (count == 1 ? " task" : " tasks") +
                       " unfinished" + here + ", " + heading + ":\n  age [s]  operation; where it waits\n";
    const auto add = [&](std::uint64_t since_ns, const std::string& text) {
        std::array<char, 32> age{};
        const std::uint64_t since = since_ns == 0 ? now : std::min(since_ns, now);
        std::snprintf(age.data(), age.size(), "  %7.3f  ", static_cast<double>(now - since) * 1e-9);
        made += std::string(age.data()) + text + "\n";
    };
    const std::size_t n_live = std::min(live.size(), lines_at_most);
    for (std::size_t i = 0; i < n_live; ++i) {
        add(live[i]->run.accepted_ns, transport_.describe(*live[i]) + "; " + where_it_waits(*live[i]));
    }
    const std::size_t n_elsewhere = std::min(elsewhere.size(), lines_at_most - n_live);
    for (std::size_t i = 0; i < n_elsewhere; ++i) add(elsewhere[i].since_ns, elsewhere[i].text);
    if (count > n_live + n_elsewhere) made += "  ... and " + std::to_string(count - n_live - n_elsewhere) + " more\n";
    return made;
}

bool incomplete_tasks::print(const char* heading, task_filter chosen) const noexcept {
    try {
        const std::string text = table(heading, chosen);
        std::fputs(text.c_str(), stderr);
        return !text.empty();
    } catch (const std::bad_alloc&) {
        say("%zu tasks unfinished, %s; no memory to list them", count(chosen).all, heading);
        return true;
    }
}

} // namespace commtask::detail
