// SPDX-License-Identifier: Apache-2.0
//
// A thread that checks the lanes one after the other cannot see that all are empty: a task may move
// to a lane that was checked already. So is_quiet() checks each lane twice, and no task may have
// ended in between (double counting: Mattern, "Algorithms for distributed termination detection",
// 1987, section 6).
#include "core/lane_set.hpp"

#include <algorithm>
#include <utility>

namespace commtask::detail {

lane_set::lane_set(const std::vector<transport*>& carriers, const lane_settings& settings,
                   std::span<task_observer* const> own_observers, std::span<const lane_doorbell> doorbells)
    : waiters(settings.has_heavy_barrier), n_at_work_(carriers.size()), workers_(carriers.size()) {
    lane_settings plan = settings;
    plan.n_lanes = static_cast<std::uint8_t>(carriers.size());
    for (std::size_t i = 0; i < carriers.size(); ++i) {
        plan.number = static_cast<std::uint8_t>(i);
        plan.observers = settings.observers;
        if (!own_observers.empty()) plan.observers.push_back(own_observers[i]);
        if (!doorbells.empty()) {
            plan.node = doorbells[i].rings;
            plan.doorbell = doorbells[i].own;
        }
        lanes_.emplace_back(*carriers[i], waiters, plan);
        plan.elsewhere = {};
    }
}

void lane_set::start_worker(std::size_t index, worker_settings plan) {
    const std::lock_guard guard{workers_mutex_};
    workers_[index] = std::make_unique<worker>(lanes_[index], std::move(plan));
    workers_[index]->lend_at_once(index >= n_at_work());
}

void lane_set::set_at_work(std::size_t n_lanes) noexcept {
    const std::lock_guard guard{workers_mutex_};
    // relaxed: guarded by the lock in start_worker().
    n_at_work_.store(n_lanes, std::memory_order_relaxed);
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        if (workers_[i]) workers_[i]->lend_at_once(i >= n_lanes);
    }
}

void lane_set::stop_workers() noexcept {
    for (const auto& each : workers_) {
        if (each) each->stop();
    }
}

void lane_set::request_workers_to_stop() noexcept {
    for (const auto& each : workers_) {
        if (each) each->request_stop();
    }
}

void lane_set::pause(pauser by) noexcept {
    const std::lock_guard guard{pauses_mutex_};
    if (!may_pause_) return;
    ++n_pauses_[static_cast<std::size_t>(by)];
    apply_pauses();
}

bool lane_set::resume(pauser by) noexcept {
    const std::lock_guard guard{pauses_mutex_};
    unsigned& n_pauses = n_pauses_[static_cast<std::size_t>(by)];
    if (n_pauses == 0) return false;
    --n_pauses;
    apply_pauses();
    return true;
}

void lane_set::resume_all(pauser by) noexcept {
    const std::lock_guard guard{pauses_mutex_};
    n_pauses_[static_cast<std::size_t>(by)] = 0;
    apply_pauses();
}

void lane_set::resume_for_good() noexcept {
    const std::lock_guard guard{pauses_mutex_};
    may_pause_ = false;
    n_pauses_ = {};
    apply_pauses();
}

/// With pauses_mutex_.
void lane_set::apply_pauses() noexcept {
    const bool is_paused = n_pauses_ != std::array<unsigned, 2>{};
    if (is_paused == are_paused()) return;
    for (lane& each : lanes_) each.set_paused(is_paused);
}

void lane_set::watch_drain() noexcept {
    for (lane& each : lanes_) each.watch_drain();
}

bool lane_set::is_quiet() const noexcept {
    std::uint64_t n_ended_before = 0;
    for (const int round : {0, 1}) {
        std::uint64_t n_ended = 0;
        for (const lane& each : lanes_) {
            n_ended += each.scheduled.approx_ended();
            // A task that another lane submits in its last progress call is visible in the second
            // round at the latest.
            if (!each.was_quiet()) return false;
        }
        if (round == 1) return n_ended == n_ended_before;
        n_ended_before = n_ended;
        if (lanes_.size() == 1) return true;
    }
    return true;
}

bool lane_set::has_lock() const noexcept {
    return std::any_of(lanes_.begin(), lanes_.end(), [](const lane& each) { return each.engine.lock.is_mine(); });
}

bool lane_set::try_acquire_all_locks(std::uint64_t deadline_ns) noexcept {
    for (std::size_t n_taken = 0; n_taken < lanes_.size(); ++n_taken) {
        if (lanes_[n_taken].engine.lock.try_acquire_first(deadline_ns)) continue;
        for (std::size_t i = 0; i < n_taken; ++i) lanes_[i].engine.lock.release();
        return false;
    }
    return true;
}

void lane_set::release_all_locks() noexcept {
    for (lane& each : lanes_) each.engine.lock.release();
}

void lane_set::progress() noexcept {
    for (lane& each : lanes_) {
        if (!each.engine.lock.is_abandoned()) static_cast<void>(each.engine.progress());
    }
}

bool lane_set::has_work() const noexcept {
    return std::any_of(lanes_.begin(), lanes_.end(), [](const lane& each) { return each.engine.has_work(); });
}

bool lane_set::has_callers() const noexcept {
    return std::any_of(lanes_.begin(), lanes_.end(), [](const lane& each) { return each.engine.lock.has_callers(); });
}

bool lane_set::approx_are_waiting() const noexcept {
    return std::all_of(lanes_.begin(), lanes_.end(), [](const lane& each) { return each.wake_up.approx_waits(); });
}

bool lane_set::could_still_move(task_filter chosen) noexcept {
    return std::any_of(lanes_.begin(), lanes_.end(), [&](lane& each) { return each.ending.could_still_move(chosen); });
}

incomplete_tasks::counts lane_set::accept_and_count(task_filter chosen) noexcept {
    incomplete_tasks::counts open;
    // Accepts the tasks of all lanes before counting, since a task of one lane may have successors
    // in another.
    for (lane& each : lanes_) each.engine.accept_all();
    for (const lane& each : lanes_) {
        const incomplete_tasks::counts here = each.incomplete.count(chosen);
        open.all += here.all;
        open.in_flight += here.in_flight;
        open.ready += here.ready;
    }
    return open;
}

void lane_set::request_reports(const char* heading) noexcept {
    bool is_requested = false;
    for (lane& each : lanes_) {
        if (each.incomplete.approx_count() == 0) continue;
        each.request_list(heading);
        is_requested = true;
    }
    // The first lane prints that no task is incomplete.
    if (!is_requested) lanes_.front().request_list(heading);
}

bool lane_set::are_reports_due() const noexcept {
    return std::any_of(lanes_.begin(), lanes_.end(), [](const lane& each) { return each.requests.is_list_due(); });
}

std::size_t lane_set::approx_unfinished() const {
    std::size_t n_unfinished = 0;
    for (const lane& each : lanes_) n_unfinished += each.incomplete.approx_count();
    return n_unfinished;
}

std::uint64_t lane_set::approx_ended() const noexcept {
    std::uint64_t n_ended = 0;
    for (const lane& each : lanes_) n_ended += each.scheduled.approx_ended();
    return n_ended;
}

std::uint64_t lane_set::approx_progress_calls() const noexcept {
    std::uint64_t n_calls = 0;
    for (const lane& each : lanes_) n_calls += each.engine.approx_progress_calls();
    return n_calls;
}

bool lane_set::approx_has_work() const noexcept {
    return std::any_of(lanes_.begin(), lanes_.end(), [](const lane& each) { return each.engine.approx_has_work(); });
}

} // namespace commtask::detail
