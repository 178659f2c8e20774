// SPDX-License-Identifier: Apache-2.0
//
// The lanes of a runtime, each with its transport and its worker, and the one room where threads wait for tasks of any of
// them. A communicator belongs to one lane; edges, events and waiting go across.
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

/// The highest COMMTASK_LANES.
inline constexpr std::size_t most_lanes = 16;

/// Who pauses the workers. Each resumes what it has paused itself, and nothing else.
enum class pauser : std::uint8_t {
    program, ///< By commtask_pause.
    user,    ///< By a signal or a file.
};

/// How a lane rings other ranks of its node, and is rung.
struct lane_doorbell {
    node_observer* rings = nullptr;
    std::atomic<std::uint32_t>* own = nullptr;
};

class lane_set {
public:
    /// One lane for each transport; these outlast the set. No worker yet. What a face has not posted is listed by the first.
    /// @param own_observers  one for each lane, beside those of the settings; or none
    /// @param doorbells  one for each lane; or none
    /// @throws std::bad_alloc
    lane_set(const std::vector<transport*>& carriers, const lane_settings& settings,
             std::span<task_observer* const> own_observers = {}, std::span<const lane_doorbell> doorbells = {});
    lane_set(const lane_set&) = delete;
    lane_set& operator=(const lane_set&) = delete;
    ~lane_set() { stop_workers(); }

    /// `plan`: of the lane with this index. @throws std::system_error if the system gives no thread.
    void start_worker(std::size_t index, worker_settings plan);
    /// Any thread. Whether that was done.
    [[nodiscard]] bool has_worker(std::size_t index) const noexcept {
        const std::lock_guard guard{workers_mutex_};
        return workers_[index] != nullptr;
    }

    /// Any thread. The first `n_lanes` are at work; the workers of the others lend their cores when they have nothing to do.
    void set_at_work(std::size_t n_lanes) noexcept;
    [[nodiscard]] std::size_t n_at_work() const noexcept { return n_at_work_.load(std::memory_order_relaxed); }

    /// Ends the threads after their passes. Tasks that are left stay where they are.
    void stop_workers() noexcept;
    /// The same without waiting for them.
    void let_workers_end() noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return lanes_.size(); }
    [[nodiscard]] bool has(int index) const noexcept { return index >= 0 && static_cast<std::size_t>(index) < size(); }
    [[nodiscard]] lane& operator[](std::size_t index) noexcept { return lanes_[index]; }
    [[nodiscard]] auto begin() noexcept { return lanes_.begin(); }
    [[nodiscard]] auto end() noexcept { return lanes_.end(); }

    /// Any thread. Somebody wants the workers' cores; each such call is undone by one resume() of the same.
    void pause(pauser by) noexcept;
    /// @return false if this one has not paused
    [[nodiscard]] bool resume(pauser by) noexcept;
    /// However often this one has paused.
    void resume_all(pauser by) noexcept;
    /// However often anybody has paused.
    void resume_for_good() noexcept;
    [[nodiscard]] bool are_paused() const noexcept { return lanes_.front().is_paused(); }

    /// Asks for the lists of what is unfinished; each lane's driver writes its own. A lane without anything is not asked.
    void request_reports(const char* heading) noexcept;
    /// Whether some driver has not written what it was asked for.
    [[nodiscard]] bool are_reports_due() const noexcept;

    /// Has all drivers say from now on, after their passes, whether anything is left; then is_quiet() answers.
    void watch_drain() noexcept;

    /// After watch_drain(), any thread: whether no lane has anything left, and none can get anything from another one. Exact
    /// once the program posts no more.
    [[nodiscard]] bool is_quiet() const noexcept;

    /// Whether the calling thread has the progress lock of one of them.
    [[nodiscard]] bool is_held_by_me() const noexcept;

    /// All progress locks for one thread, or none. @return false if `deadline_ns` of now_ns() came first
    [[nodiscard]] bool try_take_all_locks(std::uint64_t deadline_ns) noexcept;
    /// The same without a deadline, for an external caller: a thread that must call MPI itself. Not on a driver.
    /// @return false if a lane was left behind: then nobody calls MPI for these lanes any more
    bool take_all_locks() noexcept { return try_take_all_locks(UINT64_MAX); }
    void give_back_all_locks() noexcept;

    // With all progress locks -------------------------------------------------------------------------------------------------

    /// A pass of each lane, but for those that were left behind.
    void progress() noexcept;
    /// Whether some lane has something to poll or to start.
    [[nodiscard]] bool has_work() const noexcept;

    /// Whether a pass of one of them would still move one of these.
    [[nodiscard]] bool could_still_move(task_filter chosen) noexcept;
    /// After it has taken in what was posted.
    [[nodiscard]] incomplete_tasks::counts take_in_and_count(task_filter chosen) noexcept;

    // Any thread ------------------------------------------------------------------------------------------------------------

    /// Whether somebody waits for one of the progress locks, in order to call MPI.
    [[nodiscard]] bool has_callers() const noexcept;
    /// Approximately: whether all workers sleep.
    [[nodiscard]] bool approx_are_asleep() const noexcept;

    /// Approximately, for watchers: tasks ended so far.
    [[nodiscard]] std::uint64_t approx_ended() const noexcept;
    /// Approximately: tasks that have not ended, as lane::approx_unfinished().
    [[nodiscard]] std::size_t approx_unfinished() const;
    /// Approximately: passes of all lanes.
    [[nodiscard]] std::uint64_t approx_progress_calls() const noexcept;
    /// Approximately: whether some lane had something to poll or to start after its last pass.
    [[nodiscard]] bool approx_has_work() const noexcept;

    waiting_room waiters;

private:
    void tell_of_pauses() noexcept;

    std::deque<lane> lanes_; ///< They stay where they are.
    std::atomic<std::size_t> n_at_work_;
    mutable std::mutex workers_mutex_;
    std::vector<std::unique_ptr<worker>> workers_; ///< By lane; null: not started.
    std::mutex pauses_mutex_;
    std::array<unsigned, 2> n_pauses_{}; ///< By pauser.
    bool may_pause_ = true;              ///< Not while the library ends: its last wait is for workers that go on.
};

} // namespace commtask::detail
