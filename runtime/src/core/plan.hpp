// SPDX-License-Identifier: Apache-2.0
//
// A plan: the recorded operation of each member, apart from the tasks that execute it in a run.
// Between runs, the slots for the next run are instantiated, edges and counts included, so a start
// need not build them. The slots of the run before keep their final state at least until that
// start, so handles of members are valid at any time. The price is two slots for each member.
//
// A run is a task in flight with two parts: its own start, and the end of its last member. A plan
// calls no lane: run_posting.cpp posts runs, and plan_runs.cpp has a lane's part of them.
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

/// The requests that a transport keeps for a member between runs, for one pair of buffers.
struct kept_requests {
    std::array<MPI_Request, 2> few{};
    std::unique_ptr<MPI_Request[]> many; ///< Used instead of `few` if that is too small.
    std::uint32_t count = 0;
    /// For an operation of many messages: the number of receives, which come first.
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

/// The record of one post.
struct plan_member {
    plan* of = nullptr;
    std::uint32_t index = 0;
    commtask_op op{};
    std::uint32_t flags = 0; ///< As in task::flags().
    comm_queue* queue = nullptr;
    commtask_callback callback = nullptr;
    void* callback_argument = nullptr;
    commtask_status* user_status = nullptr;
    source_place source{};
    /// Indices of predecessors, all smaller than its own.
    std::vector<std::uint32_t> predecessors{};
    bool is_held = false;

    /// For a partitioned member, which starts when its groups have ended, and only sums them up.
    std::unique_ptr<partition_set> partitions{};
    /// A group of the next member that is not a group; the program does not see groups.
    bool is_group = false;
    /// The number by which the program counts members; for a group, the number of its partitioned
    /// member.
    std::uint32_t number = 0;
    /// For a received group: exactly so many bytes must come. -1: any number of bytes up to the
    /// buffer's size.
    std::int64_t expected_bytes = -1;

    /// Its turn in program order, in the run that is under way; null: it needs no turn.
    std::unique_ptr<turn> its_turn{};

    std::array<task*, 2> slots{}; ///< Indexed by the run's number modulo 2.
    /// The transport's. There are two, for programs that swap buffers.
    std::array<kept_requests, 2> kept{};
    std::uint32_t kept_last = 0; ///< The index of the entry of `kept` that was used last.
};

class plan {
public:
    plan() = default; ///< @throws std::bad_alloc
    plan(const plan&) = delete;
    plan& operator=(const plan&) = delete;
    /// As lose_members().
    ~plan() { lose_members(); }

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
    /// The number of members as the program counts them: the operations that it has posted.
    [[nodiscard]] std::size_t n_posted() const noexcept { return posted_.size(); }
    [[nodiscard]] plan_member& posted(std::size_t number) noexcept { return members_[posted_[number]]; }
    [[nodiscard]] auto begin() noexcept { return members_.begin(); }
    [[nodiscard]] auto end() noexcept { return members_.end(); }

    /// The queue whose lane gets the run's task; null for an empty plan.
    [[nodiscard]] comm_queue* home() const noexcept { return home_; }

    /// Claims the plan for a change or a start: only while there is no run, and by one thread at a
    /// time.
    [[nodiscard]] bool try_change() noexcept;
    /// release: partner of the acquire in try_change().
    void end_change() noexcept { is_claimed_.store(false, std::memory_order_release); }

    /// The result of an attempt to start.
    enum class start_answer : std::uint8_t {
        /// begin_start() with the run's task is next, then post_run(). No other thread can start or
        /// change the plan until end_change().
        done,
        is_running, ///< It is running, or another thread changes it.
        comm_is_gone,
        no_memory,
    };
    /// Contains the only locked instruction of a start. It comes before the run's task is written,
    /// since it would wait for those stores.
    [[nodiscard]] start_answer try_start() noexcept;
    /// After try_start().
    /// @param run  initialised, with a reference for the plan
    void begin_start(task& run) noexcept;
    /// Fetches the line of starts: a thread that has waited for a run may start the next run soon.
    /// The worker has touched the neighbouring lines, and its core fetches this line along. Without
    /// the prefetch, a start waited for that line as long as a whole post takes.
    void expect_start() const noexcept { prefetch_for_write(&is_claimed_); }
    /// After begin_start(): takes the members' turns in program order, if any member may have to
    /// wait. From here on the start cannot be taken back.
    void take_turns() noexcept;
    /// Instead of take_turns(), if there was no room for the run's task: the task stays the
    /// caller's.
    void take_back_start() noexcept;
    /// After try_change(): the member is deferred. It starts later than the plan, so it needs a
    /// turn.
    void hold(plan_member& member) noexcept {
        member.is_held = true;
        has_waiting_ = true;
    }

    /// After try_change(): sets the callback for the end of each member.
    void set_member_callback(commtask_member_callback callback, void* argument) noexcept {
        member_callback_ = callback;
        member_callback_argument_ = argument;
    }
    /// After try_change(): sets other buffers for the next run and later runs.
    void rebind(plan_member& member, const void* send, const void* recv) noexcept {
        member.op.send.buffer = send;
        member.op.recv.buffer = recv;
        if (!is_armed()) return;
        next_of(member).op.send.buffer = send;
        next_of(member).op.recv.buffer = recv;
    }
    /// After try_change(): whether the tasks of the next run are instantiated. If not, a start
    /// instantiates them.
    [[nodiscard]] bool is_armed() const noexcept { return is_armed_.load(std::memory_order_relaxed); }
    /// After try_change(), if is_armed(): the member's task in the next run.
    [[nodiscard]] task& next_of(plan_member& member) noexcept { return *member.slots[next_set()]; }
    /// Any thread: the member's task in the run that is under way, or else in the next run; null if
    /// there was no memory for the task.
    [[nodiscard]] task* unended_of(plan_member& member) noexcept {
        task* const found = member.slots[next_set()];
        return is_armed() ? found : nullptr;
    }
    /// Any thread: a partition was filled for the run that is under way, or else for the next run.
    /// The caller has checked that the run's tasks exist. Calls `move_on(task&)` for each group
    /// that waits for nothing else.
    /// @return false if the partition was filled before
    template <typename MoveOn>
    [[nodiscard]] bool fill_partition(plan_member& whole, std::int64_t partition, MoveOn&& move_on) noexcept;
    /// The member's task in the run that was started last; null if no run was started. Not
    /// concurrently with a start.
    [[nodiscard]] task* started_of(plan_member& member) noexcept {
        // acquire: partner of the release in begin_start().
        const std::uint64_t n_started = n_started_.load(std::memory_order_acquire);
        return n_started == 0 ? nullptr : member.slots[n_started % 2];
    }

    // The progress thread of the run's lane -------------------------------------------------------

    /// The members of the run are about to be accepted.
    void begin_run(task& run) noexcept {
        if (!starter_posts_far(run)) running_ = &run;
    }
    /// Whether the thread that starts the plan posts the members of other lanes itself. Then its
    /// later posts to those lanes come after the members. If the run has to wait, its turn comes
    /// later than that, and the run's lane posts those members. The answer is kept in the run's
    /// task, since progress threads stay off the starters' line.
    [[nodiscard]] static bool starter_posts_far(const task& run) noexcept { return run.op.recv.count != 0; }
    /// The task of the run that is under way. Any progress thread of a member's lane may ask.
    [[nodiscard]] const task& running() const noexcept { return *running_; }
    /// The member's task in the run that is under way.
    [[nodiscard]] task& running_of(plan_member& member) noexcept { return *member.slots[next_set()]; }
    /// The member's turn in this run; null: it needs no turn.
    [[nodiscard]] static turn* turn_of(const plan_member& member) noexcept {
        return member.its_turn != nullptr && member.its_turn->is_open() ? member.its_turn.get() : nullptr;
    }
    /// Computes the run's result from the results of its members.
    /// @return the first member that failed, or null; the member's slot is not changed until the
    /// next run has ended
    [[nodiscard]] const task* sum_up(task_result& result) noexcept;
    /// Computes the result of a partitioned member from its groups, which have all ended.
    void sum_up_groups(const plan_member& whole, task_result& result) noexcept;
    /// The run and all its members have ended. From here on the next run may be started.
    void end_run() noexcept;
    [[nodiscard]] std::uint32_t approx_open() const noexcept { return n_open_.load(std::memory_order_relaxed); }

    /// After try_change(): the tasks of the next run will not run. Calls `move_on(task&)` for each
    /// task that waited for nothing else.
    template <typename MoveOn>
    void cancel_armed(MoveOn&& move_on) noexcept;

    /// Releases the slots, which no progress thread uses. Tasks that wait for members of a run that
    /// never started must have been released before (cancel_armed()).
    void lose_members() noexcept;
    /// The program may still have the handle: from here on no thread starts or changes the plan.
    /// relaxed: the program's next call comes after commtask_finalize. A concurrent call from a
    /// callback may be refused or not, as without this flag.
    void outlive_runtime() noexcept { has_outlived_runtime_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool has_outlived_runtime() const noexcept {
        return has_outlived_runtime_.load(std::memory_order_relaxed);
    }

    // The progress thread of a member's lane ------------------------------------------------------

    [[nodiscard]] bool tells_of(const plan_member& ended) const noexcept {
        return member_callback_ != nullptr && !ended.is_group;
    }
    void call_back(const plan_member& ended, const commtask_status& status) const noexcept {
        member_callback_(ended.number, &status, member_callback_argument_);
    }
    /// @return the run's task if this was the last member
    [[nodiscard]] task* member_ended(const plan_member& member, task_state how) noexcept;

private:
    /// A communicator, as it was when the plan was recorded.
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
    void arm(plan_member& member, std::size_t set) noexcept;
    [[nodiscard]] bool arm_all(std::size_t set) noexcept;

    [[nodiscard]] bool has_ended() const noexcept;
    [[nodiscard]] bool are_queues_as_recorded() const noexcept;

    std::deque<plan_member> members_;
    std::vector<std::uint32_t> posted_; ///< The indices of all members but groups.
    commtask_member_callback member_callback_ = nullptr;
    void* member_callback_argument_ = nullptr;

    // Written by the thread that starts or changes the plan. A thread that starts the plan again,
    // and has waited for the last run, loads nothing that progress threads write; for most plans it
    // loads only this line.
    /// Whether a thread starts or changes the plan; at first, the thread that records it does.
    alignas(2 * cache_line_bytes) std::atomic<bool> is_claimed_{true};
    /// Whether the tasks of the next run are instantiated. If there was no memory for them, a start
    /// tries again. relaxed: the claim orders it.
    std::atomic<bool> is_armed_{true};
    bool has_other_queues_ = false;
    bool has_other_lanes_ = false;
    bool has_waiting_ = false; ///< Whether members start later than the plan, in their turn.
    /// In this line, since each thread that claims the plan reads it.
    std::atomic<bool> has_outlived_runtime_{false};
    /// As n_posted(). In this line, since a start writes it to the run's task.
    std::uint32_t n_told_ = 0;
    std::atomic<std::uint64_t> n_started_{0};
    comm_queue* home_ = nullptr;
    std::uint64_t home_life_ = 0; ///< home_->life() at the time when the plan was recorded.
    task* last_run_ = nullptr;    ///< The task of the last start, with a reference.
    std::vector<queue_use> other_queues_;

    // Written by progress threads.
    alignas(2 * cache_line_bytes) std::atomic<std::uint64_t> n_ended_{0};
    std::atomic<std::uint32_t> n_open_{0}; ///< Members that have not ended.
    std::atomic<std::uint32_t> first_failed_{nobody};
    std::atomic<bool> was_canceled_{false};
    bool computes_ = false; ///< Whether a member computes; written while the plan is recorded.
    /// Written by the thread that starts the plan if it posts to other lanes, whose progress
    /// threads may come before the run's.
    task* running_ = nullptr;
};

template <typename MoveOn>
bool plan::fill_partition(plan_member& whole, std::int64_t partition, MoveOn&& move_on) noexcept {
    partition_set& set = *whole.partitions;
    // acquire: partner of the release in end_run(); the next run is instantiated.
    const std::uint64_t run = n_ended_.load(std::memory_order_acquire) + 1;
    // relaxed: one thread fills a partition, and needs to see no other thread's partitions.
    if (set.filled_for[static_cast<std::size_t>(partition)].exchange(run, std::memory_order_relaxed) == run)
        return false;
    const auto [first, last] = set.groups_of(partition);
    for (std::uint32_t group = first; group <= last; ++group) {
        // acq_rel: the thread that releases the group has seen what the other threads filled in;
        // partner of itself.
        if (set.n_unfilled[group][run % 2].fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
        task& held = *members_[set.first_group + group].slots[run % 2];
        if (graph::make_ready(held).waits_for_none) move_on(held);
    }
    return true;
}

template <typename MoveOn>
void plan::cancel_armed(MoveOn&& move_on) noexcept {
    if (!is_armed()) return;
    for (plan_member& member : members_) graph::finish(next_of(member), task_state::canceled, 1, move_on);
    is_armed_.store(false, std::memory_order_relaxed); // relaxed: the claim orders it.
}

/// The contents of a list or an array of a recorded operation: ranks, counts, displacements,
/// datatypes.
struct list_snapshot {
    const char* name = "";
    std::vector<std::int64_t> entries{};
    bool are_handles = false; ///< Handles, whose values tell nothing to a reader.
};

/// The datatypes of members, if the program may free its own.
struct plan_types {
    std::vector<MPI_Datatype> duplicates{};
    std::forward_list<std::vector<MPI_Datatype>>
        arrays{}; ///< For members with a datatype for each rank, which point here.
};

/// The plan of a run's task.
[[nodiscard]] inline plan& plan_of(const task& run) noexcept { return *static_cast<plan*>(run.op.result); }

} // namespace commtask::detail

/// The public handle points to it.
struct commtask_plan_s : commtask::detail::plan {
    std::atomic<int> session{0}; ///< The context in which the plan was recorded.
    bool is_spoilt = false;      ///< There was not enough memory to record the plan.
    /// Whether a callback records the plan inside a progress call. Posts that the thread makes
    /// outside of that progress call, or in a progress call that it makes meanwhile, do not belong
    /// to the plan.
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
