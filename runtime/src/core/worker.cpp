// SPDX-License-Identifier: Apache-2.0
//
// The worker's loops. The clock is read when nothing moves, once in a pass whose operations stay in flight, and more for statistics. A
// shared worker that found nothing to do yields a few times, then naps, each time twice as long as before, up to a bound; for several
// such bounds if other threads drive. A window keeps it awake as long as its core is idle otherwise, and its naps within one bound.
// It sleeps until somebody rings, and costs nothing, once three things hold: nothing is in flight, no thread has driven in its last
// few naps, no window is to be attended. While the program has paused the workers both kinds look seldom at what is unfinished.
#include "core/worker.hpp"

#include "base/tuning.hpp"
#include "core/idle_turn.hpp"
#include "core/wait_patience.hpp"

#include <utility>

#include <sched.h>

namespace commtask::detail {

worker::worker(lane& served, worker_settings settings) : lane_(served), settings_(std::move(settings)) {
    thread_.start({.name = "commtask", .stack_bytes = settings_.stack_bytes}, [this] { run(); });
}

void worker::stop() noexcept {
    if (!thread_.joinable()) return;
    let_end();
    thread_.join();
}

void worker::let_end() noexcept {
    must_stop_.store(true, std::memory_order_seq_cst);
    lane_.wake_up.ring_surely();
}

void worker::run() noexcept {
    lane_.begin_worker();
    if (settings_.on_start) settings_.on_start();
    const std::uint64_t begin_ns = now_ns();
    const std::uint64_t begin_used_ns = processor_time_ns();
    if (settings_.is_reserved) {
        run_reserved();
    } else {
        run_shared();
    }
    lane_.tell(trace::thread_state::none);
    if (settings_.counters == nullptr) return;
    settings_.counters->worker_life_ns += now_ns() - begin_ns;
    settings_.counters->worker_used_ns += processor_time_ns() - begin_used_ns;
}

void worker::count_sleep() noexcept {
    if (settings_.counters != nullptr) ++settings_.counters->worker_sleeps;
}

bool worker::timed_pass() noexcept {
    const std::uint64_t begin_ns = settings_.counters == nullptr ? 0 : now_ns();
    const bool moved = lane_.progress();
    if (!moved) return false;
    was_rung_ = false;
    is_rung_again_ = false;
    if (settings_.counters != nullptr) settings_.counters->worker_busy_ns += now_ns() - begin_ns;
    return true;
}

/// It is about to sleep, or has lost the lane to another thread.
void worker::count_nap() noexcept {
    const bool was_rung = std::exchange(was_rung_, false); // and nothing has ended since
    if (settings_.counters == nullptr) return;
    ++settings_.counters->worker_naps;
    if (was_rung && !lane_.attends_windows()) // what an access does here no pass sees
        ++settings_.counters->worker_rung_for_nothing;
}

void worker::run_reserved() noexcept {
    if (!take_baton()) return;
    while (!must_stop_.load(std::memory_order_relaxed)) {
        if (lane_.has_guests() && !let_guests_in()) return;
        if (lane_.is_paused()) [[unlikely]] {
            lane_.prepare_sleep();
            lane_.return_baton();
            rest();
            if (!take_baton()) return;
        }
        if (timed_pass() || lane_.has_work() || lane_.is_attentive()) continue;
        // Nothing to do: threads that call MPI themselves find the baton free, even if this one loses its processor.
        lane_.prepare_sleep();
        lane_.return_baton();
        lane_.tell_of_pause();
        if (!spin_until_work()) {
            count_sleep();
            sleep();
        }
        if (!take_baton()) return;
    }
    lane_.return_baton();
}

/// Until there is something to do, `is_told()`, or the time is over. Negative: it never is. The node's watcher sleeps where ranks
/// that are about to need it find it.
template <typename IsTold>
void worker::sleep_for(std::int64_t limit_ns, IsTold&& is_told) noexcept {
    const auto has_reason = [&] {
        if (is_told()) return true;
        lane_.tell(trace::thread_state::asleep);
        return false;
    };
    if (!lane_.is_watcher()) return lane_.wake_up.sleep(limit_ns, has_reason);
    lane_.show_watcher();
    static_cast<void>(lane_.wake_up.sleep_in_sight(lane_.word_in_sight(), limit_ns, has_reason));
}

/// Until somebody rings.
void worker::sleep() noexcept {
    const auto by_work_alone = [this] { return must_stay_awake(); };
    if (!settings_.lend_core) {
        sleep_for(-1, by_work_alone);
    } else if (must_lend()) {
        settings_.lend_core(true);
        sleep_for(-1, by_work_alone);
        if (!must_stop_.load(std::memory_order_seq_cst)) settings_.lend_core(false);
    }
    lane_.tell(trace::thread_state::idle);
}

/// Sleeps with its core for as long as it may. @return whether nothing came: the core is to be lent
bool worker::must_lend() noexcept {
    const auto is_told = [this] { return lends_at_once_.load(std::memory_order_seq_cst); };
    const auto limit_ns = settings_.lend_after_ns == 0 ? -1 : static_cast<std::int64_t>(settings_.lend_after_ns);
    const std::uint64_t begin_ns = now_ns();
    sleep_for(limit_ns, [&] { return must_stay_awake() || is_told(); });
    const bool is_over = limit_ns >= 0 && now_ns() - begin_ns >= settings_.lend_after_ns;
    return (is_told() || is_over) && !must_stay_awake();
}

bool worker::must_stay_awake() const noexcept {
    return must_stop_.load(std::memory_order_seq_cst) || lane_.is_paused() || has_something();
}

bool worker::has_something() const noexcept {
    return lane_.has_arrivals() || lane_.approx_has_work() || lane_.is_attentive();
}

/// Without the baton, until the program wants the workers again. What is unfinished is looked at now and then, since somebody may
/// wait for it outside of this library; with nothing unfinished it sleeps.
void worker::rest() noexcept {
    lane_.release_watcher(); // a poster may have asked it
    if (settings_.lend_core) settings_.lend_core(true);
    while (lane_.is_paused() && !must_stop_.load(std::memory_order_relaxed)) {
        lane_.tell(trace::thread_state::paused);
        rest_for_a_moment();
    }
    lane_.tell(trace::thread_state::idle);
    if (settings_.lend_core && !must_stop_.load(std::memory_order_seq_cst)) settings_.lend_core(false);
}

void worker::rest_for_a_moment() noexcept {
    const auto must_go_on = [this] { return !lane_.is_paused() || must_stop_.load(std::memory_order_seq_cst); };
    if (!has_something()) {
        count_sleep();
        return sleep_for(-1, [&] { return must_go_on() || has_something(); });
    }
    lane_.wake_up.park(tuning::look_when_paused_ns, must_go_on);
    if (must_go_on() || !lane_.try_take_baton()) return; // who has it is looking
    static_cast<void>(timed_pass());
    lane_.prepare_sleep();
    lane_.return_baton();
}

/// With something in flight that nobody else drives.
/// @return how many passes it has made
unsigned worker::nap(nap_plan& naps) noexcept {
    lane_.tell(trace::thread_state::nap);
    const std::uint64_t passes_before = lane_.approx_passes();
    unsigned n_passes = 0;
    // One after the other: each has looked already when the last one is over. Not beside a thread that drives again and again.
    while (lane_.has_neighbors() && naps.is_full() && !lane_.must_watch() && sleep_in_sight(naps)) {
        ++n_passes;
        if (lane_.attends_windows()) break; // which wants more looks than these
        if (lane_.approx_passes() != passes_before + n_passes) break;
        if (was_rung_ || lane_.is_paused() || !lane_.approx_has_work() || has_reason_to_wake()) break;
    }
    if (n_passes > 0) return n_passes;
    count_nap();
    lane_.ask_watcher_if_behind();
    lane_.wake_up.nap(naps.next(foreseen::nothing).ns, [this] { return has_reason_to_wake(); });
    lane_.release_watcher();
    return 0;
}

/// Shows the neighbours what is in flight, looks once more, and sleeps until one of them rings, or the nap is over.
/// @return false if none of them would ring, or another thread drives: nothing was done
bool worker::sleep_in_sight(nap_plan& naps) noexcept {
    if (!lane_.try_take_baton()) return false;
    const lane::shown_news shown = lane_.show_awaited();
    if (shown.how == foreseen::nothing) {
        lane_.return_baton();
        return false;
    }
    const planned_nap planned = naps.next(shown.how);
    if (shown.is_far) lane_.ask_watcher();
    const bell::woken how = lane_.wake_up.sleep_in_sight(lane_.word_in_sight(), planned.ns, [&] {
        const bool has_moved = timed_pass();
        const bool is_long = planned.ns > static_cast<std::int64_t>(settings_.nap_max_ns);
        // A pass rings at its own pace; before a long nap nobody must be left out, or both would sleep.
        if (!has_moved && is_long) lane_.ring_for_what_is_open();
        lane_.prepare_sleep();
        lane_.return_baton();
        if (has_moved) naps.restart();
        count_nap();
        lane_.tell(trace::thread_state::nap); // after the pass, which is none
        return has_moved || lane_.is_announced() || lane_.must_watch() || (is_long && lane_.attends_windows()) ||
               has_reason_to_wake();
    });
    lane_.release_watcher();
    if (how == bell::woken::by_a_thread) naps.begin_at_bound();
    if (how == bell::woken::by_neighbor) {
        // Again without an end between: a message in pieces, for which nobody need look more often than its other end moves. What an
        // access does here no pass sees.
        is_rung_again_ && !lane_.attends_windows() ? naps.begin_at_bound() : naps.restart();
        was_rung_ = true;
        is_rung_again_ = true;
        if (settings_.counters != nullptr) ++settings_.counters->worker_rung;
    }
    return true;
}

/// With nothing in flight, but not long ago something was. @return whether there may be something now
bool worker::doze_in_sight(nap_plan& naps) noexcept {
    if (!lane_.has_neighbors()) return false;
    count_sleep();
    for (int i = 0; i < tuning::naps_before_deep_sleep; ++i) {
        if (must_stay_awake() || !sleep_long_in_sight(naps) || was_rung_ || must_stay_awake()) return true;
    }
    return false;
}

/// @return false if it has no neighbours that would ring: nothing was done
bool worker::sleep_long_in_sight(nap_plan& naps) noexcept {
    if (!lane_.has_neighbors() || lane_.is_attentive()) return false;
    naps.go_on_at_longest();
    return sleep_in_sight(naps);
}

/// @return false when spin_ns are over.
bool worker::spin_until_work() noexcept {
    look_limit limit{settings_.spin_ns};
    while (!lane_.could_move() && !must_stop_.load(std::memory_order_relaxed)) {
        if (lane_.is_paused()) return true;
        if (limit.wants_clock() && limit.is_over(now_ns())) return false;
    }
    return true;
}

/// @return false if the thread is to end: who has the baton may never give it back.
bool worker::take_baton() noexcept {
    while (lane_.has_guests() || !lane_.try_take_baton()) {
        if (must_stop_.load(std::memory_order_relaxed)) return false;
        sched_yield();
    }
    return true;
}

bool worker::let_guests_in() noexcept {
    lane_.tell(trace::thread_state::driven);
    lane_.return_baton();
    return take_baton();
}

void worker::yield_and_learn(core_gauge& core) noexcept {
    lane_.tell_of_pause();
    const std::uint64_t passes_before = lane_.approx_passes();
    const std::uint64_t begin_ns = now_ns();
    sched_yield();
    core.yielded(begin_ns, now_ns(), lane_.attends_windows() ? lane_.approx_passes() - passes_before : 0);
}

/// A nap after which the worker sees whether the core has become idle, without which it would not stay awake again.
unsigned worker::nap_and_learn(nap_plan& naps, core_gauge& core) noexcept {
    const std::uint64_t begin_ns = now_ns();
    const std::uint64_t begin_used_ns = process_time_ns();
    const unsigned n_passes = nap(naps);
    const std::uint64_t end_ns = now_ns();
    const core_gauge::past_nap slept{end_ns - begin_ns, process_time_ns() - begin_used_ns, settings_.nap_max_ns};
    if (core.is_worth_a_yield(end_ns, slept)) yield_and_learn(core);
    return n_passes;
}

/// Beside threads that drive. Where what they begin ends soon it naps on without a pass, as long as they go on so: a timer and a pass whose
/// lines are cold take some 20 us of them. Whoever rings wants a pass. Those for whom a watcher looks are not among the tasks.
void worker::nap_beside(company& others) noexcept {
    const auto nap_ns = static_cast<std::int64_t>(settings_.nap_max_ns);
    lane_.wake_up.begin_naps();
    for (unsigned n_naps = 0;; ++n_naps) {
        const std::int64_t n =
            lane_.is_attentive() ? tuning::naps_when_others_drive : others.naps_beside(nap_ns, n_naps);
        const std::uint64_t begin_ns = now_ns();
        const bool was_woken = lane_.wake_up.nap_on(n * nap_ns, [this] { return has_reason_to_wake(); });
        others.end_nap(now_ns() - begin_ns, {lane_.approx_ended(), lane_.approx_live()});
        const bool must_look = n <= tuning::naps_when_others_drive || was_woken || has_reason_to_wake() ||
                               lane_.is_paused() || lane_.is_attentive();
        others.look(lane_.approx_passes());
        if (must_look || !others.is_here() || !others.is_brisk(nap_ns)) break;
        others.know(lane_.approx_passes());
        others.begin_pause();
    }
    lane_.wake_up.end_naps();
}

awaiting worker::what_it_awaits() const noexcept {
    if (lane_.attends_windows()) return awaiting::accesses;
    return has_something() ? awaiting::ends : awaiting::posts;
}

void worker::run_shared() noexcept {
    // A thread that computes on this core would otherwise keep it for milliseconds after a wake-up or a yield of ours:
    // 23 against 9.7 ms for a hop of Dslash in its omp mode, one core per rank, messages of 200 KB over a slow wire.
    prefer_short_turns();
    core_gauge core{settings_.spin_ns};
    // By neighbours, for all that is in flight: an idle core is no reason to look at it. But for a message that a bell has told of,
    // whose pieces both sides move on.
    bool is_rung_for = false;
    const auto may_linger = [&] {
        if (!core.is_idle()) return false; // before the clock is read
        const awaiting what = what_it_awaits();
        return core.may_linger(now_ns(), what == awaiting::ends && is_rung_for ? awaiting::posts : what);
    };
    int n_yields = 0; // of turns that found nothing, since the last find
    nap_plan naps{static_cast<std::int64_t>(settings_.nap_max_ns)};
    company others;
    while (!must_stop_.load(std::memory_order_relaxed)) {
        if (lane_.is_paused()) [[unlikely]]
            rest();
        others.look(lane_.approx_passes());
        if ((others.is_here() || !lane_.could_move()) && may_linger()) {
            others.know(lane_.approx_passes());
            yield_and_learn(core);
            continue;
        }
        if (!lane_.try_take_baton()) {
            if (lane_.attends_windows() && may_linger()) {
                yield_and_learn(core);
                continue;
            }
            // Somebody who waits is driving; it has a reason to be quick, this thread has none.
            lane_.tell(trace::thread_state::driven);
            lane_.wake_up.nap(static_cast<std::int64_t>(settings_.nap_max_ns), [] { return false; });
            continue;
        }
        const bool moved = timed_pass();
        if (!moved && lane_.is_attentive()) lane_.attend_for_a_moment();
        const bool has_work = lane_.has_work() || lane_.is_attentive();
        others.know(lane_.approx_passes());
        is_rung_for = lane_.has_neighbors() && has_work && !moved && core.is_idle() && !lane_.is_attentive() &&
                      !was_rung_ && lane_.show_awaited().how == foreseen::all;
        lane_.prepare_sleep();
        lane_.return_baton();
        if (moved) {
            n_yields = 0;
            core.found_something();
            naps.restart();
            continue;
        }
        if (may_linger()) {
            yield_and_learn(core);
            continue;
        }
        const next_pause next = pause_after({.has_work = has_work,
                                             .attends_windows = lane_.attends_windows(),
                                             .others_drive = others.is_here(),
                                             .others_drove = others.was_here(),
                                             .others_drove_lately = others.was_here_lately(),
                                             .core_is_idle = core.is_idle(),
                                             .n_yields = n_yields});
        if (next == next_pause::yield) {
            ++n_yields;
            yield_and_learn(core);
            continue;
        }
        others.begin_pause();
        const std::uint64_t begin_ns = now_ns();
        if (next == next_pause::beside_drivers) {
            // With work or without: who drives now comes again, and to wake a deep sleeper for each of its posts would cost it
            // more than this thread saves it.
            lane_.tell(trace::thread_state::driven);
            if (sleep_long_in_sight(naps)) {
                others.know_of_more(1);
                if (was_rung_) core.found_something();
                others.end_nap(now_ns() - begin_ns, {lane_.approx_ended(), lane_.approx_live()});
            } else {
                nap_beside(others);
            }
        } else if (next == next_pause::sleep) {
            if (!doze_in_sight(naps)) {
                count_sleep();
                // A thread of the program may have started something between this pass and the sleep. Who wakes this one is
                // posting, and goes on with that first.
                const gentle_waking after_the_poster;
                sleep();
            }
            core.found_something();
            others.know(lane_.approx_passes());
            others.end_sleep(lane_.approx_ended());
        } else {
            const std::uint64_t n_live = lane_.approx_live(); // its naps have passes of their own
            others.know_of_more(lane_.attends_windows() ? nap_and_learn(naps, core) : nap(naps));
            if (was_rung_) core.found_something();
            others.end_nap(now_ns() - begin_ns, {lane_.approx_ended(), n_live});
        }
    }
    lane_.release_watcher();
}

} // namespace commtask::detail
