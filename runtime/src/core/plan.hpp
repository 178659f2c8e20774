// SPDX-License-Identifier: Apache-2.0
//
// A plan: what each member does, apart from the tasks that do it in a run. The slots for the next run are made while there is
// none (armed), edges and counts included, so a start only says go; those of the run before stay as they ended until then, so
// that handles of members are right whenever they are asked for. The price is two slots for each member.
//
// A run is a task in flight with two parts: its own issue, and the end of the last member. A plan calls no lane: run_posting.cpp
// posts runs, and plan_runs.cpp has a lane's part of them.
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

/// What a transport keeps of a member between runs: the requests for one pair of buffers.
struct kept_requests {
    std::array<MPI_Request, 2> few{};
    std::unique_ptr<MPI_Request[]> many; ///< In place of them, where they are too few.
    std::uint32_t count = 0;
    std::uint32_t n_receives = 0; ///< Of an operation of many messages: the first ones.
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

/// What is recorded of one post.
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
    std::vector<std::uint32_t> predecessors{}; ///< Their indices, all smaller than its own.
    bool is_held = false;

    /// Of one in partitions. It starts when its groups have ended, and does nothing but sum them up.
    std::unique_ptr<partition_set> partitions{};
    bool is_group = false;    ///< Of the next one that is none; the program does not see it.
    std::uint32_t number = 0; ///< As the program counts; of a group, its whole's.
    std::int64_t expected_bytes =
        -1; ///< Of a group that is received: as many must come. -1: at most what there is room for.

    std::unique_ptr<turn> its_turn{}; ///< In program order, in the run that is under way; null: it needs none.

    std::array<task*, 2> slots{};        ///< By the run's number, modulo 2.
    std::array<kept_requests, 2> kept{}; ///< The transport's. Two, for programs that swap buffers.
    std::uint32_t kept_last = 0;         ///< Which of them was used last.
};

class plan {
public:
    plan() = default; ///< @throws std::bad_alloc
    plan(const plan&) = delete;
    plan& operator=(const plan&) = delete;
    /// As lose_members().
    ~plan() { lose_members(); }

    // The thread that records, alone ----------------------------------------------------------------------------------

    /// @param what  with operation, flags, queue, callback, status, predecessors and, if it can have one, a turn
    /// @return its task in the first run, for which the plan has a reference; null without memory
    [[nodiscard]] task* add(plan_member&& what) noexcept;

    // Any thread ------------------------------------------------------------------------------------------------------

    /// With the groups of those in partitions.
    [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }
    [[nodiscard]] plan_member& operator[](std::size_t index) noexcept { return members_[index]; }
    /// As the program counts: what it has posted.
    [[nodiscard]] std::size_t n_posted() const noexcept { return posted_.size(); }
    [[nodiscard]] plan_member& posted(std::size_t number) noexcept { return members_[posted_[number]]; }
    [[nodiscard]] auto begin() noexcept { return members_.begin(); }
    [[nodiscard]] auto end() noexcept { return members_.end(); }

    /// Whose lane the run's task belongs to; of an empty plan null.
    [[nodiscard]] comm_queue* home() const noexcept { return home_; }

    /// For whoever changes something: only while there is no run, and one at a time.
    [[nodiscard]] bool try_change() noexcept;
    /// release: partner of the acquire in try_change().
    void end_change() noexcept { is_claimed_.store(false, std::memory_order_release); }

    /// What a start came to.
    enum class start_answer : std::uint8_t {
        done, ///< begin_start() with the run's task is next, then post_run(). Nobody else can start, or change anything, until end_change().
        is_running, ///< Or is being changed.
        comm_is_gone,
        no_memory,
    };
    /// The one locked instruction of a start. It comes before the run's task is written, since it would wait for those stores.
    [[nodiscard]] start_answer try_start() noexcept;
    /// After try_start().
    /// @param run  initialised, with a reference for the plan.
    void begin_start(task& run) noexcept;
    /// Who has waited for a run may start the next one soon: has the line of starts on its way. The worker has touched what lies beside
    /// it, and its core fetches neighbours along: without this a start waited for that line as long as a whole post takes.
    void expect_start() const noexcept { prefetch_for_write(&is_claimed_); }
    /// After begin_start(): the members' turns in program order, if any of them may have to wait. Nothing is taken back from here on.
    void take_turns() noexcept;
    /// In place of take_turns(): there was no room for the run's task, which stays the caller's.
    void take_back_start() noexcept;
    /// After try_change(): the member starts later than the plan, so it needs its turn.
    void hold(plan_member& member) noexcept {
        member.is_held = true;
        has_waiting_ = true;
    }

    /// After try_change(): whom to tell of each member's end.
    void set_member_callback(commtask_member_callback callback, void* argument) noexcept {
        member_callback_ = callback;
        member_callback_argument_ = argument;
    }
    /// After try_change(): other buffers, from the next run on.
    void rebind(plan_member& member, const void* send, const void* recv) noexcept {
        member.op.send.buffer = send;
        member.op.recv.buffer = recv;
        if (!is_armed()) return;
        next_of(member).op.send.buffer = send;
        next_of(member).op.recv.buffer = recv;
    }
    /// After try_change(): whether there are tasks for the next run. If not, a start makes them.
    [[nodiscard]] bool is_armed() const noexcept { return is_armed_.load(std::memory_order_relaxed); }
    /// After try_change(), if they are armed: the member's task in the next run.
    [[nodiscard]] task& next_of(plan_member& member) noexcept { return *member.slots[next_set()]; }
    /// Any thread: the member's task in the run that is under way, or in the next one; null if there was no memory for that.
    [[nodiscard]] task* unended_of(plan_member& member) noexcept {
        task* const found = member.slots[next_set()];
        return is_armed() ? found : nullptr;
    }
    /// Any thread: a partition was filled for the run that is under way, or for the next one. The caller has found that there are
    /// tasks for it. `move_on(task&)` is called for each group that waits for nothing more.
    /// @return false if it was filled before
    template <typename MoveOn>
    [[nodiscard]] bool fill_partition(plan_member& whole, std::int64_t partition, MoveOn&& move_on) noexcept;
    /// The member's task in the run that was started last; null if there was none. Not beside a start.
    [[nodiscard]] task* started_of(plan_member& member) noexcept {
        // acquire: partner of the release in begin_start().
        const std::uint64_t n_started = n_started_.load(std::memory_order_acquire);
        return n_started == 0 ? nullptr : member.slots[n_started % 2];
    }

    // The driver of the run's lane ------------------------------------------------------------------------------------

    /// The run's task is about to have its members accepted.
    void begin_run(task& run) noexcept {
        if (!starter_posts_far(run)) running_ = &run;
    }
    /// Whether the starter gives members to lanes itself, those that the run's lane has not: what it posts there next comes after
    /// them. A run that waits has its turn later than that, and then its lane hands them on. Said in the run's task, since drivers
    /// stay off the starters' line.
    [[nodiscard]] static bool starter_posts_far(const task& run) noexcept { return run.op.recv.count != 0; }
    /// The task of the run that is under way; any driver of a member.
    [[nodiscard]] const task& running() const noexcept { return *running_; }
    /// The member's task in the run that is under way.
    [[nodiscard]] task& running_of(plan_member& member) noexcept { return *member.slots[next_set()]; }
    /// The member's turn in this run; null: it needs none.
    [[nodiscard]] static turn* turn_of(const plan_member& member) noexcept {
        return member.its_turn != nullptr && member.its_turn->is_open() ? member.its_turn.get() : nullptr;
    }
    /// The run's result, of its members'.
    /// @return the first member that failed, or null; its slot stays as it is until the next run has ended
    [[nodiscard]] const task* sum_up(task_result& result) noexcept;
    /// What the groups of a member in partitions came to; they have ended.
    void sum_up_groups(const plan_member& whole, task_result& result) noexcept;
    /// All has ended. From here on the next run may be started.
    void end_run() noexcept;
    [[nodiscard]] std::uint32_t approx_open() const noexcept { return n_open_.load(std::memory_order_relaxed); }

    /// After try_change(): the tasks of the next run will not run. `move_on(task&)` is called for each task that waited for nothing else.
    template <typename MoveOn>
    void cancel_armed(MoveOn&& move_on) noexcept;

    /// Lets the slots go; no driver has them. Tasks that wait for members of a run that never was must have been told (cancel_armed()).
    void lose_members() noexcept;
    /// The program may still have the handle: from here on nobody starts or changes the plan. relaxed: the program's next call comes
    /// after commtask_finalize, and a callback's that comes beside it was refused or not before, too.
    void outlive_runtime() noexcept { has_outlived_runtime_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool has_outlived_runtime() const noexcept {
        return has_outlived_runtime_.load(std::memory_order_relaxed);
    }

    // The driver of a member's lane -----------------------------------------------------------------------------------

    [[nodiscard]] bool tells_of(const plan_member& ended) const noexcept {
        return member_callback_ != nullptr && !ended.is_group;
    }
    void call_back(const plan_member& ended, const commtask_status& status) const noexcept {
        member_callback_(ended.number, &status, member_callback_argument_);
    }
    /// @return the run's task if that was the last member
    [[nodiscard]] task* member_ended(const plan_member& member, task_state how) noexcept;

private:
    /// A communicator, as it was when the plan was recorded.
    struct queue_use {
        comm_queue* queue;
        std::uint64_t life;
    };
    static constexpr std::uint32_t nobody = UINT32_MAX;

    /// acquire: partner of the release in end_run(); the next run is armed.
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
    std::vector<std::uint32_t> posted_; ///< Their indices but for groups.
    commtask_member_callback member_callback_ = nullptr;
    void* member_callback_argument_ = nullptr;

    // Whoever starts or changes the plan. One that starts what has ended, and waited for that, loads nothing that drivers write, and
    // of most plans this line alone.
    alignas(2 *
            cache_line_bytes) std::atomic<bool> is_claimed_{true}; ///< Somebody does; at first the thread that records.
    /// There are tasks for the next run. Else there was no memory for that, and a start tries again. relaxed: the claim orders it.
    std::atomic<bool> is_armed_{true};
    bool has_other_queues_ = false;
    bool has_other_lanes_ = false;
    bool has_waiting_ = false;                      ///< Members that start later than the plan, in their turn.
    std::atomic<bool> has_outlived_runtime_{false}; ///< Here, since whoever claims the plan looks at it.
    std::uint32_t n_told_ = 0;                      ///< As n_posted(): here, since a start tells its task.
    std::atomic<std::uint64_t> n_started_{0};
    comm_queue* home_ = nullptr;
    std::uint64_t home_life_ = 0; ///< Its communicator, as it was when the plan was recorded.
    task* last_run_ = nullptr;    ///< Of the last start, with a reference.
    std::vector<queue_use> other_queues_;

    // The drivers.
    alignas(2 * cache_line_bytes) std::atomic<std::uint64_t> n_ended_{0};
    std::atomic<std::uint32_t> n_open_{0}; ///< Members that have not ended.
    std::atomic<std::uint32_t> first_failed_{nobody};
    std::atomic<bool> was_canceled_{false};
    bool computes_ = false;   ///< A member does; written while it is recorded.
    task* running_ = nullptr; ///< The starter's if it posts to other lanes, whose drivers may come before the run's.
};

template <typename MoveOn>
bool plan::fill_partition(plan_member& whole, std::int64_t partition, MoveOn&& move_on) noexcept {
    partition_set& set = *whole.partitions;
    // acquire: partner of the release in end_run(); the next run is armed.
    const std::uint64_t run = n_ended_.load(std::memory_order_acquire) + 1;
    // relaxed: one thread fills a partition, and asks nobody else.
    if (set.filled_for[static_cast<std::size_t>(partition)].exchange(run, std::memory_order_relaxed) == run)
        return false;
    const auto [first, last] = set.groups_of(partition);
    for (std::uint32_t group = first; group <= last; ++group) {
        // acq_rel: who lets the group go has seen what the others filled; partner of itself.
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
    is_armed_.store(false, std::memory_order_relaxed); // the claim orders it
}

/// What a list or an array of a recorded operation held: ranks, counts, displacements, datatypes.
struct noted_list {
    const char* name = "";
    std::vector<std::int64_t> entries{};
    bool are_handles = false; ///< Which say nothing to a reader.
};

/// The datatypes of members, where the program may free its own.
struct plan_types {
    std::vector<MPI_Datatype> duplicates{};
    std::forward_list<std::vector<MPI_Datatype>>
        arrays{}; ///< Of members with a datatype for each rank, which point here.
};

/// Of a run's task.
[[nodiscard]] inline plan& plan_of(const task& run) noexcept { return *static_cast<plan*>(run.op.result); }

} // namespace commtask::detail

/// The public handle points to it.
struct commtask_plan_s : commtask::detail::plan {
    std::atomic<int> session{0}; ///< Of the context that it was recorded in.
    bool is_spoilt = false;      ///< There was no memory for all of what it should have.
    /// Whether it is recorded inside a pass, by a callback. What the thread does outside of that pass, or in a pass that it
    /// makes meanwhile, is not for the plan.
    bool is_recorded_in_progress_call = false;
    commtask_plan_s* next_left = nullptr; ///< plan_book's.
    commtask_plan_s* next_open = nullptr; ///< The same, while it is recorded.
    bool is_in_use_for_good = false;      ///< The same: a driver that does not come back may have it in hand.
    commtask::detail::plan_types types{};
    /// By member, as the program counts; empty if nobody has asked for them (noted_lists.hpp).
    std::vector<std::vector<commtask::detail::noted_list>> lists{};
};
