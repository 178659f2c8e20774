// SPDX-License-Identifier: Apache-2.0
//
// How the library ends. Incomplete tasks are waited for; tasks that cannot end are abandoned. If a
// function of the program or an MPI call does not return, the context is abandoned as it is. The
// finalizing thread makes no progress itself, so that such a function cannot block it. Under
// commtask-run the program's use ends before the runtime does, since MPI calls still need the
// runtime.
#include "api/context.hpp"

#include "base/log.hpp"
#include "base/tuning.hpp"
#include "core/drain.hpp"
#include "core/operation_traits.hpp"
#include "core/progress_watch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <utility>

#include <sched.h>

namespace commtask::detail {
namespace {

constexpr auto poll_interval_ns = static_cast<std::int64_t>(tuning::longest_unwoken_wait_ns);

[[nodiscard]] std::uint64_t finalize_limit_ns(const config& settings) {
    return static_cast<std::uint64_t>(settings.finalize_timeout_s * 1e9);
}

/// Every task except MPI calls that the interposer turned into tasks.
[[nodiscard]] bool is_programs(const task& which) { return (which.flags() & flag_is_call) == 0; }
[[nodiscard]] bool is_unfinished_and_programs(const task& which) { return no_handler(which) && is_programs(which); }

/// Whether some lane's progress lock is taken, and no progress call has begun on that lane since
/// the last call of is_inside().
class call_watch {
public:
    [[nodiscard]] bool is_inside(lane_set& lanes) noexcept {
        bool is_inside = false;
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            const std::uint64_t passes = lanes[i].engine.approx_progress_calls();
            const bool stood_still = passes == std::exchange(passes_seen_[i], passes);
            is_inside = is_inside || (stood_still && lanes[i].engine.lock.approx_is_taken());
        }
        return is_inside;
    }

private:
    std::array<std::uint64_t, most_lanes> passes_seen_{};
};

} // namespace

context::drained context::drain() noexcept {
    listeners_.close_all();
    lanes_.resume_for_good();
    lanes_.watch_drain();
    // A lane without a worker has no thread that reports whether tasks are left, so this thread
    // makes one progress call for it. A lane gets its worker with its first communicator.
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        if (!lanes_.has_worker(i)) static_cast<void>(progress_for_a_moment(lanes_[i], 1, [](bool) { return false; }));
    }
    const waiting_policy policy{true, waiting().spin_ns};
    drain_limit limit{finalize_limit_ns(settings_)};
    progress_watch passes{finalize_limit_ns(settings_)};
    call_watch calls;
    drained how = drained::completely;
    bool is_closed = false;
    for (;;) {
        if (wait_in_library(lanes_, policy, poll_interval_ns, [this] { return lanes_.is_quiet(); })) {
            if (std::exchange(is_closed, true)) break;
            // A thread may have released a message in the meantime, which posts a control task that
            // must end too.
            close();
            continue;
        }
        const bool is_inside = calls.is_inside(lanes_);
        const bool is_stuck = passes.is_over(lanes_, now_ns());
        if (!limit.is_over({now_ns(), lanes_.approx_ended(), is_inside || lanes_.approx_has_work()})) continue;
        if (!lanes_.try_acquire_all_locks(now_ns() + tuning::longest_unwoken_wait_ns)) {
            if (is_stuck) return abandon(finalize_limit_ns(settings_), passes, settings_.verbose);
            continue;
        }
        const bool is_abandoned = abandon_tasks({any_task, no_handler, settings_.verbose});
        lanes_.release_all_locks();
        if (is_abandoned) {
            how = drained::by_force;
            break;
        }
        limit.restart();
    }
    lanes_.stop_workers();
    print_stats(how);
    end_trace(how);
    return how;
}

context::drained context::end_use(std::uint64_t limit_ns, std::int64_t verbose) noexcept {
    listeners_.close_all();
    lanes_.resume_all(pauser::program);
    // Inside a function that MPI calls, this thread has the progress locks, and no other thread can
    // make progress.
    const bool has_lock = lanes_.has_lock();
    drain_limit limit{limit_ns};
    progress_watch passes{limit_ns};
    std::size_t n_open = 0;
    for (;;) {
        if (!has_lock && !lanes_.try_acquire_all_locks(now_ns() + tuning::longest_unwoken_wait_ns)) {
            if (passes.is_over(lanes_, now_ns())) return abandon(limit_ns, passes, verbose);
            static_cast<void>(limit.is_over({now_ns(), n_open, true}));
            continue;
        }
        // The time limit starts again for the next owner of the progress locks.
        passes = progress_watch{limit_ns};
        if (has_lock) lanes_.progress();
        const incomplete_tasks::counts open = lanes_.accept_and_count(is_programs);
        const bool is_at_work = open.in_flight > 0 || open.ready > 0;
        n_open = open.all;
        const bool is_hopeless = open.all > 0 && limit.is_over({now_ns(), open.all, is_at_work});
        const bool is_given_up = is_hopeless && abandon_tasks({is_programs, is_unfinished_and_programs, verbose});
        if (is_hopeless && !is_given_up) limit.restart();
        const bool is_over = is_given_up || open.all == 0;
        if (is_over) {
            close(); // waits for compute threads that are using a plan's member
            listeners_.forget_all(is_given_up);
            plans_.forget_programs();
        }
        const std::uint64_t n_ended = lanes_.approx_ended();
        if (!has_lock) {
            lanes_.release_all_locks();
            for (lane& each : lanes_) leave_to_worker(each);
        }
        if (is_over) return is_given_up ? drained::by_force : drained::completely;
        if (has_lock) continue;
        lanes_.waiters.wait(poll_interval_ns, [&] { return lanes_.approx_ended() != n_ended; });
    }
}

bool context::abandon_if_stuck(std::uint64_t limit_ns, std::int64_t verbose) noexcept {
    if (lanes_.has_lock()) return false;
    progress_watch passes{limit_ns};
    while (!lanes_.try_acquire_all_locks(now_ns() + tuning::longest_unwoken_wait_ns)) {
        if (!passes.is_over(lanes_, now_ns())) continue;
        static_cast<void>(abandon(limit_ns, passes, verbose));
        return true;
    }
    lanes_.release_all_locks();
    return false;
}

/// The calling thread has all progress locks. @return false, and nothing has changed, if some task
/// can still make progress
bool context::abandon_tasks(const abandoned_tasks& of) noexcept {
    if (lanes_.could_still_move(of.whose)) return false;
    close();                    // a task that a callback posts from here on would never end
    for (lane& each : lanes_) { // print all lists first: they name predecessors on other lanes
        if (of.verbose >= 1) each.incomplete.print("abandoned by commtask_finalize", of.listed);
    }
    for (lane& each : lanes_) each.ending.abandon(of.whose);
    has_abandoned_tasks_ = true;
    return true;
}

/// @param passes  the time limit, which is over on at least one lane
context::drained context::abandon(std::uint64_t limit_ns, progress_watch& passes, std::int64_t verbose) noexcept {
    watchdog_.stop();
    // A thread that is in a visit may never return from MPI. Nothing that it uses is destroyed.
    hide();
    // The next commtask_init must not wait for that thread: it counts visits in a new counter, and
    // the old counter stays with this context.
    if (auto* const fresh = new (std::nothrow) std::atomic<int>{0}) n_visits_.store(fresh, std::memory_order_seq_cst);
    set_running(nullptr);
    plans_.abandon_all();
    const std::uint64_t begin_ns = now_ns();
    std::array<bool, most_lanes> is_over{};
    for (const lane& each : lanes_) is_over[each.number()] = passes.is_over(each, begin_ns);
    for (lane& each : lanes_)
        // All lanes first, before any wait: a thread that is waiting for one of their progress
        // locks must not get another one.
        each.engine.abandon();
    lanes_.request_workers_to_stop();
    // The program may call MPI_Finalize after this. Progress threads that are not inside the call
    // leave the library first. An external caller that is waiting for its next progress lock
    // releases the ones that it has.
    progress_watch others{limit_ns};
    for (lane& each : lanes_) {
        bool is_stuck = false;
        while (!each.engine.lock.try_close() && !is_stuck) {
            sched_yield();
            const std::uint64_t now = now_ns();
            is_stuck = is_over[each.number()] ? now - begin_ns >= tuning::longest_stall_ns : others.is_over(each, now);
        }
        if (verbose < 1 || !is_stuck) continue;
        const int kind = each.engine.approx_starting_kind();
        const std::string_view what = kind == 0 ? "a callback" : operation_of(kind).name;
        say("incomplete tasks are abandoned by commtask_finalize: %s is inside one call (%.*s) that does not return",
            each.worker_text().data(), static_cast<int>(what.size()), what.data());
    }
    end_trace(drained::not_at_all);
    return drained::not_at_all;
}

} // namespace commtask::detail
