// SPDX-License-Identifier: Apache-2.0
//
// The lanes of a runtime, each with its transport and its worker, and the queue on which threads
// wait for tasks of any lane. A communicator belongs to one lane; edges, events and waits work
// across lanes.
#pragma once

#include "core/lane.hpp"
#include "core/worker.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace commtask::detail {

/// The largest value of COMMTASK_LANES.
inline constexpr std::size_t most_lanes = 16;

/// The source of a pause. Each source can undo only its own pauses.
enum class pauser : std::uint8_t {
    program, ///< Calls of commtask_pause.
    user,    ///< A signal, or a file.
};

/// The doorbells of a lane: the observer that rings other ranks, and the word on which its own
/// worker waits.
struct lane_doorbell {
    node_observer* rings = nullptr;
    std::atomic<std::uint32_t>* own = nullptr;
};

class lane_set {
public:
    /// Creates one lane for each transport, without workers. The transports outlive the set. Only
    /// the first lane lists the tasks that a front end has not posted.
    /// @param own_observers  one for each lane, in addition to the observers of the settings; or
    /// none
    /// @param doorbells  one for each lane; or none
    /// @throws std::bad_alloc
    lane_set(const std::vector<transport*>& carriers, const lane_settings& settings,
             std::span<task_observer* const> own_observers = {}, std::span<const lane_doorbell> doorbells = {});
    lane_set(const lane_set&) = delete;
    lane_set& operator=(const lane_set&) = delete;
    ~lane_set() { stop_workers(); }

    /// @param plan  the settings of the lane's worker
    /// @throws std::system_error if the system gives no thread
    void start_worker(std::size_t index, worker_settings plan);
    /// Any thread. Whether start_worker() was called for the lane.
    [[nodiscard]] bool has_worker(std::size_t index) const noexcept {
        const std::lock_guard guard{workers_mutex_};
        return workers_[index] != nullptr;
    }

    /// Any thread. Keeps the first `n_lanes` lanes at work. The workers of the other lanes lend
    /// their cores whenever they have nothing to do.
    void set_at_work(std::size_t n_lanes) noexcept;
    [[nodiscard]] std::size_t n_at_work() const noexcept { return n_at_work_.load(std::memory_order_relaxed); }

    /// Stops the workers after their current progress calls. Incomplete tasks do not change.
    void stop_workers() noexcept;
    /// As stop_workers(), but does not wait for the threads.
    void request_workers_to_stop() noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return lanes_.size(); }
    [[nodiscard]] bool has(int index) const noexcept { return index >= 0 && static_cast<std::size_t>(index) < size(); }
    [[nodiscard]] lane& operator[](std::size_t index) noexcept { return lanes_[index]; }
    [[nodiscard]] auto begin() noexcept { return lanes_.begin(); }
    [[nodiscard]] auto end() noexcept { return lanes_.end(); }

    /// Any thread. Pauses the workers. Undone by one resume() with the same argument.
    void pause(pauser by) noexcept;
    /// @return false if there is no pause to undo
    [[nodiscard]] bool resume(pauser by) noexcept;
    /// Undoes all pauses by `by`.
    void resume_all(pauser by) noexcept;
    /// Undoes all pauses, and ignores further ones.
    void resume_for_good() noexcept;
    [[nodiscard]] bool are_paused() const noexcept { return lanes_.front().is_paused(); }

    /// Requests the lists of incomplete tasks; each lane's progress thread prints its own. A lane
    /// without incomplete tasks prints nothing, unless all lanes are without.
    void request_reports(const char* heading) noexcept;
    /// Whether a list was requested that has not been printed.
    [[nodiscard]] bool are_reports_due() const noexcept;

    /// From now on, each progress call reports whether a task is incomplete, as is_quiet() needs.
    void watch_drain() noexcept;

    /// After watch_drain(). Any thread. Whether no lane has an incomplete task, and no lane can get
    /// one from another lane. Exact once the program posts no more.
    [[nodiscard]] bool is_quiet() const noexcept;

    /// Whether the calling thread has the progress lock of any lane.
    [[nodiscard]] bool has_lock() const noexcept;

    /// Takes all progress locks, or none.
    /// @return false if the time `deadline_ns` of now_ns() has passed, or a lane is abandoned
    [[nodiscard]] bool try_acquire_all_locks(std::uint64_t deadline_ns) noexcept;
    /// As try_acquire_all_locks(), without a deadline, for an external caller, which must call MPI
    /// itself. Not in a progress call.
    /// @return false if a lane is abandoned: then no thread calls MPI for these lanes any more
    bool acquire_all_locks() noexcept { return try_acquire_all_locks(UINT64_MAX); }
    void release_all_locks() noexcept;

    // With all progress locks ---------------------------------------------------------------------

    /// Makes one progress call for each lane that is not abandoned.
    void progress() noexcept;
    /// Whether a lane has something to poll or to start.
    [[nodiscard]] bool has_work() const noexcept;

    /// Whether a progress call of any lane can still change one of these tasks.
    [[nodiscard]] bool could_still_move(task_filter chosen) noexcept;
    /// Accepts all posted tasks, and counts the incomplete tasks.
    [[nodiscard]] incomplete_tasks::counts accept_and_count(task_filter chosen) noexcept;

    // Any thread ----------------------------------------------------------------------------------

    /// Whether an external caller waits for a progress lock.
    [[nodiscard]] bool has_callers() const noexcept;
    /// Approximate: whether all workers wait.
    [[nodiscard]] bool approx_are_waiting() const noexcept;

    /// Approximate: the number of tasks that have ended.
    [[nodiscard]] std::uint64_t approx_ended() const noexcept;
    /// Approximate: the number of incomplete tasks, as incomplete_tasks::approx_count().
    [[nodiscard]] std::size_t approx_unfinished() const;
    /// Approximate: the number of progress calls of all lanes.
    [[nodiscard]] std::uint64_t approx_progress_calls() const noexcept;
    /// Approximate: whether a lane had something to poll or start after its last progress call.
    [[nodiscard]] bool approx_has_work() const noexcept;

    wait_queue waiters;

private:
    void apply_pauses() noexcept;

    std::deque<lane> lanes_; ///< A deque, since lanes cannot be moved.
    std::atomic<std::size_t> n_at_work_;
    mutable std::mutex workers_mutex_;
    std::vector<std::unique_ptr<worker>> workers_; ///< Indexed by lane; null: not started.
    std::mutex pauses_mutex_;
    std::array<unsigned, 2> n_pauses_{}; ///< Indexed by pauser.
    /// False in commtask_finalize, whose last wait needs the workers.
    bool may_pause_ = true;
};

} // namespace commtask::detail
