// SPDX-License-Identifier: Apache-2.0
//
// The lanes of a runtime, each with its transport and its worker, and the one room where threads wait for tasks of any of
// them. A communicator belongs to one lane; edges, events and waiting go across. This version of the product starts one.
#pragma once

#include "core/lane.hpp"
#include "core/worker.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace commtask::detail {

class lane_set {
public:
    /// One lane for each transport; these outlast the set. No worker yet.
    /// @throws std::bad_alloc
    lane_set(const std::vector<transport*>& carriers, const lane_settings& settings);
    lane_set(const lane_set&) = delete;
    lane_set& operator=(const lane_set&) = delete;
    ~lane_set() { stop_workers(); }

    /// `plan`: of the lane with this index. @throws std::system_error if the system gives no thread.
    void start_worker(std::size_t index, worker_settings plan);

    /// Ends the threads after their passes. Tasks that are left stay where they are.
    void stop_workers() noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return lanes_.size(); }
    [[nodiscard]] lane& operator[](std::size_t index) noexcept { return lanes_[index]; }
    [[nodiscard]] auto begin() noexcept { return lanes_.begin(); }
    [[nodiscard]] auto end() noexcept { return lanes_.end(); }

    /// The lane of a communicator: `nth` is how many were registered before it.
    [[nodiscard]] lane& lane_for(std::size_t nth) noexcept { return (*this)[nth % size()]; }

    /// Has all drivers say from now on, after their passes, whether anything is left; then is_quiet() answers.
    void watch_drain() noexcept;

    /// After watch_drain(), any thread: whether no lane has anything left, and none can get anything from another one. Exact
    /// once the program posts no more.
    [[nodiscard]] bool is_quiet() const noexcept;

    /// Whether the calling thread has the baton of one of them.
    [[nodiscard]] bool is_held_by_me() const noexcept;

    /// All batons for one thread, or none. @return false if `deadline_ns` of now_ns() came first
    [[nodiscard]] bool try_take_all_batons(std::uint64_t deadline_ns) noexcept;
    void return_all_batons() noexcept;

    /// Who has all batons: whether a pass of one of them would still move something.
    [[nodiscard]] bool could_still_move() noexcept;

    /// Approximately, for watchers: tasks ended so far.
    [[nodiscard]] std::uint64_t approx_ended() const noexcept;
    /// Approximately: passes of all lanes.
    [[nodiscard]] std::uint64_t approx_passes() const noexcept;
    /// Approximately: whether some lane had something to poll or to start after its last pass.
    [[nodiscard]] bool approx_has_work() const noexcept;

    waiting_room waiters;

private:
    std::deque<lane> lanes_;                       ///< They stay where they are.
    std::vector<std::unique_ptr<worker>> workers_; ///< By lane; null: not started.
};

} // namespace commtask::detail
