// SPDX-License-Identifier: Apache-2.0
//
// That nothing is left in several lanes cannot be seen by looking at one after the other: a task may move on behind the one
// who looks. So the lanes are looked at twice, and no task may have ended in between (counting twice, after Mattern,
// "Algorithms for distributed termination detection", 1987, section 6).
#include "lane_set.hpp"

#include <algorithm>
#include <utility>

namespace commtask::detail {

lane_set::lane_set(const std::vector<transport*>& carriers, const lane_settings& settings)
    : waiters(settings.has_heavy_barrier) {
    for (transport* const carrier : carriers) {
        members_.push_back(std::make_unique<member>(*carrier, waiters, settings));
    }
}

void lane_set::start_worker(std::size_t index, worker_settings plan) {
    members_[index]->thread = std::make_unique<worker>((*this)[index], std::move(plan));
}

void lane_set::stop_workers() noexcept {
    for (const auto& each : members_) {
        if (each->thread) each->thread->stop();
    }
}

void lane_set::watch_drain() noexcept {
    for (const auto& each : members_) each->served.watch_drain();
}

bool lane_set::is_quiet() const noexcept {
    std::uint64_t n_ended_before = 0;
    for (const int look : {0, 1}) {
        std::uint64_t n_ended = 0;
        for (const auto& each : members_) {
            n_ended += each->served.approx_ended();
            // What another lane handed over before its own last pass ended is seen here, in the second look at the latest.
            if (!each->served.was_quiet()) return false;
        }
        if (look == 1) return n_ended == n_ended_before;
        n_ended_before = n_ended;
        if (members_.size() == 1) return true;
    }
    return true;
}

bool lane_set::is_held_by_me() const noexcept {
    return std::any_of(members_.begin(), members_.end(), [](const auto& each) { return each->served.is_held_by_me(); });
}

bool lane_set::try_take_all_batons(std::uint64_t deadline_ns) noexcept {
    for (std::size_t n_taken = 0; n_taken < members_.size(); ++n_taken) {
        if (members_[n_taken]->served.try_take_baton_as_guest(deadline_ns)) continue;
        for (std::size_t i = 0; i < n_taken; ++i) members_[i]->served.return_baton();
        return false;
    }
    return true;
}

void lane_set::return_all_batons() noexcept {
    for (const auto& each : members_) each->served.return_baton();
}

bool lane_set::could_still_move() noexcept {
    return std::any_of(members_.begin(), members_.end(),
                       [](const auto& each) { return each->served.could_still_move(); });
}

std::uint64_t lane_set::approx_ended() const noexcept {
    std::uint64_t n_ended = 0;
    for (const auto& each : members_) n_ended += each->served.approx_ended();
    return n_ended;
}

std::uint64_t lane_set::approx_passes() const noexcept {
    std::uint64_t n_passes = 0;
    for (const auto& each : members_) n_passes += each->served.approx_passes();
    return n_passes;
}

bool lane_set::approx_has_work() const noexcept {
    return std::any_of(members_.begin(), members_.end(),
                       [](const auto& each) { return each->served.approx_has_work(); });
}

} // namespace commtask::detail
