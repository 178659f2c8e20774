// SPDX-License-Identifier: Apache-2.0
//
// A plan: the recorded operation of each member, and the tasks that execute it in a run. Between
// runs, the slots for the next run are instantiated, including edges and counts, so a start does
// not build them. The slots of the run before keep their final states at least until that start, so
// handles of members are valid at any time. The price is two slots for each member.
//
// A run is a task in flight with two parts: its own start, and the end of its last member. A plan
// calls no lane: run_posting.cpp posts runs, and plan_runs.cpp has the functions of a lane for
// runs.
#pragma once

#include "core/comm_queue.hpp"
#include "core/graph.hpp"
#include "core/partitions.hpp"
#include "core/task.hpp"

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <forward_list>
#include <memory>
#include <new>
#include <vector>

namespace commtask::detail {

/// The persistent requests that a transport keeps for a member between runs, for one pair of
/// buffers.
struct kept_requests {
    std::array<MPI_Request, 2> few{};
    std::unique_ptr<MPI_Request[]> many; ///< Used instead of `few` for more than two requests.
    std::uint32_t count = 0;
    /// For an operation of many messages: the number of receives, which come before the sends.
    std::uint32_t n_receives = 0;
    bool are_made = false;
    const void* send_buffer = nullptr;
    const void* recv_buffer = nullptr;

    [[nodiscard]] MPI_Request* first() noexcept { return many ? many.get() : few.data(); }
    [[nodiscard]] const MPI_Request* first() const noexcept { return many ? many.get() : few.data(); }
    /// @return false without memory
    [[nodiscard]] bool make_room(std::size_t for_count) noexcept {
        if (for_count > few.size()) many.reset(new (std::nothrow) MPI_Request[for_count]);
        return for_count <= few.size() || many != nullptr;
    }
    void add(MPI_Request made) noexcept { first()[count++] = made; }
};

/// A recorded operation.
struct plan_member {
    plan* of = nullptr;
    std::uint32_t index = 0;
    commtask_op op{};
    std::uint32_t flags = 0; ///< As task::flags().
    comm_queue* queue = nullptr;
    commtask_callback callback = nullptr;
    void* callback_argument = nullptr;
    commtask_status* user_status = nullptr;
    source_location source{};
    /// The indices of the predecessors, all smaller than `index`.
    std::vector<std::uint32_t> predecessors{};
    bool is_deferred = false;

    /// For a partitioned member: its state. The member starts when all its groups have ended.
    std::unique_ptr<partition_set> partitions{};
    /// The member is a group of a partitioned member, which comes after its groups. The program
    /// does not see groups.
    bool is_group = false;
    /// The member's number as the program counts; for a group, the number of its partitioned
    /// member.
    std::uint32_t number = 0;
    /// For a group that is received: the number of bytes that must arrive. -1: any number up to the
    /// buffer's size.
    std::int64_t expected_bytes = -1;

    /// The turn in program order, reused in each run; null: no turn.
    std::unique_ptr<turn> its_turn{};

    std::array<task*, 2> slots{}; ///< Indexed by the run's number modulo 2.
    /// The transport's persistent requests. Two, for programs that swap two pairs of buffers.
    std::array<kept_requests, 2> kept{};
    std::uint32_t kept_last = 0; ///< The index in `kept` of the entry that was used last.
};

class plan {
public:
    plan() = default; ///< @throws std::bad_alloc
    plan(const plan&) = delete;
    plan& operator=(const plan&) = delete;
    /// Calls release_members().
    ~plan() { release_members(); }

    // The thread that records, alone --------------------------------------------------------------

    /// @param what  with operation, flags, queue, callback, status, predecessors and, if it can
    /// have one, a turn
    /// @return the member's task in the first run, with a reference for the plan; null without
    /// memory
    [[nodiscard]] task* add(plan_member&& what) noexcept;

    // Any thread ----------------------------------------------------------------------------------

    /// The number of members, including the groups of partitioned members.
    [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }
    [[nodiscard]] plan_member& operator[](std::size_t index) noexcept { return members_[index]; }
    /// The number of members as the program counts: the operations that it has posted.
    [[nodiscard]] std::size_t n_posted() const noexcept { return posted_.size(); }
    [[nodiscard]] plan_member& posted(std::size_t number) noexcept { return members_[posted_[number]]; }
    [[nodiscard]] auto begin() noexcept { return members_.begin(); }
    [[nodiscard]] auto end() noexcept { return members_.end(); }

    /// The queue to which the run's task is posted; null for an empty plan.
    [[nodiscard]] comm_queue* home() const noexcept { return home_; }

    /// Claims the plan for a change or a start. Succeeds for one thread at a time, and only between
    /// runs.
    [[nodiscard]] bool try_change() noexcept;
    /// release: partner of the acquire in try_change().
    void end_change() noexcept { is_claimed_.store(false, std::memory_order_release); }

    /// The result of try_start().
    enum class start_status : std::uint8_t {
        /// The caller continues with begin_start() and post_run(). No other thread can start or
        /// change the plan until end_change().
        done,
        is_running, ///< The plan is running, or another thread changes it.
        comm_was_freed,
        no_memory,
    };
    /// Has the only locked instruction of a start. Called before the run's task is written, since
    /// the instruction would wait for these stores.
    [[nodiscard]] start_status try_start() noexcept;
    /// After try_start().
    /// @param run  initialized, with a reference for the plan
    void begin_start(task& run) noexcept;
    /// Prefetches the line that a start writes, after a thread has waited for a run. The worker
    /// writes the neighboring lines, and its core prefetches this line with them. Without this
    /// prefetch, a start took as much longer as a whole post takes.
    void expect_start() const noexcept { prefetch_for_write(&is_claimed_); }
    /// After begin_start(): takes the members' turns in program order, if any member may have to
    /// wait. Afterwards, the start cannot be undone.
    void take_turns() noexcept;
    /// Undoes begin_start() if the queue had no room for the run's task, which then belongs to the
    /// caller.
    void take_back_start() noexcept;
    /// After try_change(): defers the member. A deferred member starts later than the plan, so it
    /// needs a turn.
    void defer(plan_member& member) noexcept {
        member.is_deferred = true;
        has_waiting_ = true;
    }

    /// After try_change(): sets the callback for the end of each member.
    void set_member_callback(commtask_member_callback callback, void* argument) noexcept {
        member_callback_ = callback;
        member_callback_argument_ = argument;
    }
    /// After try_change(): replaces the buffers, effective with the next run.
    void rebind(plan_member& member, const void* send, const void* recv) noexcept {
        member.op.send.buffer = send;
        member.op.recv.buffer = recv;
        if (!is_instantiated()) return;
        next_of(member).op.send.buffer = send;
        next_of(member).op.recv.buffer = recv;
    }
    /// After try_change(): whether the next run is instantiated. If not, the start instantiates it.
    [[nodiscard]] bool is_instantiated() const noexcept { return is_instantiated_.load(std::memory_order_relaxed); }
    /// After try_change(), if is_instantiated(): the member's task in the next run.
    [[nodiscard]] task& next_of(plan_member& member) noexcept { return *member.slots[next_set()]; }
    /// Any thread. The member's task in the current run or, between runs, in the next run; null if
    /// that task could not be instantiated.
    [[nodiscard]] task* unended_of(plan_member& member) noexcept {
        task* const found = member.slots[next_set()];
        return is_instantiated() ? found : nullptr;
    }
    /// Any thread. Marks a partition filled, for the current run or else for the next one. The
    /// caller has checked that the tasks of the run exist. Calls `move_on(task&)` for each group
    /// that waits for nothing else.
    /// @return false if the partition was filled before
    template <typename MoveOn>
    [[nodiscard]] bool fill_partition(plan_member& whole, std::int64_t partition, MoveOn&& move_on) noexcept;
    /// The member's task in the run that was started last; null before the first start. Not
    /// concurrent with a start.
    [[nodiscard]] task* started_of(plan_member& member) noexcept {
        // acquire: partner of the release in begin_start().
        const std::uint64_t n_started = n_started_.load(std::memory_order_acquire);
        return n_started == 0 ? nullptr : member.slots[n_started % 2];
    }

    // The progress thread of the run's lane -------------------------------------------------------

    /// Called before the members of the run are accepted.
    void begin_run(task& run) noexcept {
        if (!starter_posts_to_other_lanes(run)) running_ = &run;
    }
    /// Whether the thread that starts the plan posts the members of other lanes itself. Then its
    /// later posts to those lanes come after the members. A run that has to wait posts them from
    /// its lane when its turn has come. The flag is in the run's task, since progress threads must
    /// not read the line of starts.
    [[nodiscard]] static bool starter_posts_to_other_lanes(const task& run) noexcept { return run.op.recv.count != 0; }
    /// The task of the current run. Any progress thread of a member's lane may read it.
    [[nodiscard]] const task& running() const noexcept { return *running_; }
    /// The member's task in the current run.
    [[nodiscard]] task& running_of(plan_member& member) noexcept { return *member.slots[next_set()]; }
    /// The member's turn in the current run; null: no turn.
    [[nodiscard]] static turn* turn_of(const plan_member& member) noexcept {
        return member.its_turn != nullptr && member.its_turn->is_open() ? member.its_turn.get() : nullptr;
    }
    /// Computes the run's result from the results of its members.
    /// @return the first member that failed, or null; its slot does not change until the next run
    /// has ended
    [[nodiscard]] const task* sum_up(task_result& result) noexcept;
    /// Computes the result of a partitioned member from its groups, which have all ended.
    void sum_up_groups(const plan_member& whole, task_result& result) noexcept;
    /// Ends the run: all its members have ended. From now on the plan can be started again.
    void end_run() noexcept;
    [[nodiscard]] std::uint32_t approx_open() const noexcept { return n_open_.load(std::memory_order_relaxed); }

    /// After try_change(): cancels the instantiated tasks of the next run. Calls `move_on(task&)`
    /// for each successor that waits for nothing else.
    template <typename MoveOn>
    void cancel_instantiated(MoveOn&& move_on) noexcept;

    /// Releases the slots, which no progress thread uses. If a run is instantiated,
    /// cancel_instantiated() was called before.
    void release_members() noexcept;
    /// Called in commtask_finalize: no thread can start or change the plan any more, although the
    /// program may still have the handle. relaxed: the program's next call comes after
    /// commtask_finalize; a concurrent call in a callback may succeed or not.
    void outlive_runtime() noexcept { has_outlived_runtime_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool has_outlived_runtime() const noexcept {
        return has_outlived_runtime_.load(std::memory_order_relaxed);
    }

    // The progress thread of a member's lane ------------------------------------------------------

    [[nodiscard]] bool has_callback_for(const plan_member& ended) const noexcept {
        return member_callback_ != nullptr && !ended.is_group;
    }
    void call_back(const plan_member& ended, const commtask_status& status) const noexcept {
        member_callback_(ended.number, &status, member_callback_argument_);
    }
    /// @return the run's task if this was the last member
    [[nodiscard]] task* member_ended(const plan_member& member, task_state how) noexcept;

private:
    /// A queue and its generation when the plan was recorded.
    struct queue_use {
        comm_queue* queue;
        std::uint64_t life;
    };
    static constexpr std::uint32_t nobody = UINT32_MAX;

    /// acquire: partner of the release in end_run(); the next run is instantiated.
    [[nodiscard]] std::size_t next_set() const noexcept {
        return static_cast<std::size_t>((n_ended_.load(std::memory_order_acquire) + 1) % 2);
    }
    [[nodiscard]] bool note_uses(plan_member& member);
    static void empty_partitions(partition_set& parts, std::size_t set) noexcept;
    [[nodiscard]] static bool take_slot(plan_member& member, std::size_t set) noexcept;
    void instantiate(plan_member& member, std::size_t set) noexcept;
    [[nodiscard]] bool instantiate_all(std::size_t set) noexcept;

    [[nodiscard]] bool has_ended() const noexcept;
    [[nodiscard]] bool are_queues_as_recorded() const noexcept;

    std::deque<plan_member> members_;
    std::vector<std::uint32_t> posted_; ///< The indices of all members except groups.
    commtask_member_callback member_callback_ = nullptr;
    void* member_callback_argument_ = nullptr;

    // Written by the thread that starts or changes the plan. A thread that waits for a run and
    // starts the plan again reads no line that progress threads write. For most plans it reads only
    // this line.
    /// Whether a thread has claimed the plan; at first, the thread that records it.
    alignas(2 * cache_line_bytes) std::atomic<bool> is_claimed_{true};
    /// Whether the next run is instantiated. If memory was missing, the start tries again. relaxed:
    /// guarded by the claim.
    std::atomic<bool> is_instantiated_{true};
    bool has_other_queues_ = false;
    bool has_other_lanes_ = false;
    bool has_waiting_ = false; ///< Whether members may start later than the plan, and need turns.
    /// In this line, since each thread that claims the plan reads it.
    std::atomic<bool> has_outlived_runtime_{false};
    /// As n_posted(). In this line, since a start copies it to the run's task.
    std::uint32_t n_posted_ = 0;
    std::atomic<std::uint64_t> n_started_{0};
    comm_queue* home_ = nullptr;
    std::uint64_t home_life_ = 0; ///< home_->life() when the plan was recorded.
    task* last_run_ = nullptr;    ///< The task of the last run, with a reference.
    std::vector<queue_use> other_queues_;

    // Written by progress threads.
    alignas(2 * cache_line_bytes) std::atomic<std::uint64_t> n_ended_{0};
    std::atomic<std::uint32_t> n_open_{0}; ///< The number of members that have not ended.
    std::atomic<std::uint32_t> first_failed_{nobody};
    std::atomic<bool> was_canceled_{false};
    bool computes_ = false; ///< Whether a member computes; written while the plan is recorded.
    /// Written by the thread that starts the plan if that thread posts to other lanes, since their
    /// progress threads may be faster than the run's.
    task* running_ = nullptr;
};

template <typename MoveOn>
bool plan::fill_partition(plan_member& whole, std::int64_t partition, MoveOn&& move_on) noexcept {
    partition_set& set = *whole.partitions;
    // acquire: partner of the release in end_run(); the next run is instantiated.
    const std::uint64_t run = n_ended_.load(std::memory_order_acquire) + 1;
    // relaxed: one thread fills each partition, and needs no other thread's data.
    if (set.filled_for[static_cast<std::size_t>(partition)].exchange(run, std::memory_order_relaxed) == run)
        return false;
    const auto [first, last] = set.groups_of(partition);
    for (std::uint32_t group = first; group <= last; ++group) {
        // acq_rel: partner of itself; the thread that releases the group sees what all threads have
        // filled in.
        if (set.n_unfilled[group][run % 2].fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
        task& held = *members_[set.first_group + group].slots[run % 2];
        if (graph::make_ready(held).waits_for_none) move_on(held);
    }
    return true;
}

template <typename MoveOn>
void plan::cancel_instantiated(MoveOn&& move_on) noexcept {
    if (!is_instantiated()) return;
    for (plan_member& member : members_) graph::finish(next_of(member), task_state::canceled, 1, move_on);
    is_instantiated_.store(false, std::memory_order_relaxed); // relaxed: the claim orders it.
}

/// The contents of a list or an array of a recorded operation: ranks, counts, displacements,
/// datatypes.
struct list_snapshot {
    const char* name = "";
    std::vector<std::int64_t> entries{};
    bool are_handles = false; ///< The entries are handles, and are not printed.
};

/// Duplicates of the members' datatypes, which the program may free.
struct plan_types {
    std::vector<MPI_Datatype> duplicates{};
    /// The arrays of members with a datatype for each rank.
    std::forward_list<std::vector<MPI_Datatype>> arrays{};
};

/// The plan of a run's task.
[[nodiscard]] inline plan& plan_of(const task& run) noexcept { return *static_cast<plan*>(run.op.result); }

} // namespace commtask::detail

/// The type of the public handle.
struct commtask_plan_s : commtask::detail::plan {
    std::atomic<int> session{0}; ///< The context in which the plan was recorded.
    bool lacks_memory = false;   ///< The plan could not be recorded for lack of memory.
    /// Whether a callback records the plan inside a progress call. Posts of the same thread outside
    /// of that call, or in a nested progress call, do not belong to the plan.
    bool is_recorded_in_progress_call = false;
    commtask_plan_s* next_left = nullptr; ///< Used by plan_registry.
    commtask_plan_s* next_open = nullptr; ///< Used by plan_registry while the plan is recorded.
    /// Used by plan_registry: a progress thread that does not return may use the plan.
    bool is_in_use_for_good = false;
    commtask::detail::plan_types types{};
    /// By member, as the program counts them; empty if the lists were not asked for
    /// (list_snapshots.hpp).
    std::vector<std::vector<commtask::detail::list_snapshot>> lists{};
};
