// SPDX-License-Identifier: Apache-2.0
//
// The memory layout of a communication task. Its cache lines are ordered by their writers: first
// the submitter's, then the line that submitter and progress engine share, then the progress
// engine's. A post without options touches two lines of the submitter and the shared one. Slots are
// never returned to the system, so a link to a slot stays readable for ever (see task_pool).
#pragma once

#include "base/assert.hpp"
#include "base/float_modes.hpp"
#include "base/system.hpp"

#include <commtask/commtask.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace commtask::detail {

class comm_queue;
class scheduler;
class plan;
struct plan_member;
struct task;
class turn;

/// How a task ended. Before the end, its phase tells where it is, which only its progress thread
/// knows.
enum class task_state : std::uint32_t {
    /// Not final -> the progress engine, or the last signal of an event.
    open = 0,
    completed = COMMTASK_STATE_COMPLETED, ///< Final. The buffers are the caller's again.
    failed = COMMTASK_STATE_FAILED,       ///< Final. The result says why.
    /// Final. MPI never got the operation, or returned it unmatched.
    canceled = COMMTASK_STATE_CANCELED,
    /// Final, at the end of the library only: MPI may still own the buffers. Reads as canceled.
    given_up = 5,
};

/// Where a task is on its way. Only its progress thread moves it on, by scheduler::move(), which
/// tells observers.
enum class phase : std::uint8_t {
    posted, ///< Its lane has not accepted it -> scheduler::accept() (waiting, held or ready).
    /// Has incomplete predecessors -> the last predecessor's end, or a cancel (held or ready);
    /// finalizer::give_up() (dropped).
    waiting,
    /// Its turn in program order has not come -> the start of an earlier task, or a cancel (ready);
    /// finalizer::give_up() (dropped).
    held,
    /// In the ready list -> progress_engine::start() (in_flight), or finish() (dropped) if it must
    /// not start.
    ready,
    in_flight, ///< MPI owns the buffers -> the transport's report of its last part (ended).
    ended,     ///< Final; MPI has had the operation.
    dropped,   ///< Final; MPI never got the operation.
};

/// State and number of references of a task in one word, so that one instruction announces its end
/// and drops the progress engine's reference: a waiting thread loses the line only once.
class life_word {
public:
    /// Begins with a state that is not final. relaxed: the submission queue publishes the task.
    void begin(std::uint32_t n_references) noexcept { word_.store(n_references, std::memory_order_relaxed); }

    /// acquire: partner of finish(), which makes the result of a final state visible.
    [[nodiscard]] task_state state() const noexcept {
        return static_cast<task_state>(word_.load(std::memory_order_acquire) >> state_shift);
    }

    /// relaxed: the caller has a reference, or got the task from a thread that has one.
    void take_reference() noexcept { word_.fetch_add(1, std::memory_order_relaxed); }

    /// For a thread with a reference: whether no other reference exists. acquire: partner of
    /// drop_references(); the other threads' accesses to the slot are over.
    [[nodiscard]] bool is_held_once() const noexcept {
        return (word_.load(std::memory_order_acquire) & reference_mask) == 1;
    }

    /// @return whether no reference is left
    [[nodiscard]] bool drop_references(std::uint32_t n_references) noexcept {
        // acq_rel: the thread that drops the last reference sees the other threads' accesses to the
        // slot before it gives the slot to a new task.
        const std::uint32_t before = word_.fetch_sub(n_references, std::memory_order_acq_rel);
        COMMTASK_ASSERT((before & reference_mask) >= n_references);
        return (before & reference_mask) == n_references;
    }

    /// Becomes final, and drops references.
    /// @return whether no reference is left
    [[nodiscard]] bool finish(task_state state, std::uint32_t n_references) noexcept {
        const std::uint32_t change = (static_cast<std::uint32_t>(state) << state_shift) - n_references;
        // acq_rel: publishes the result; partner of state(), and of drop_references().
        return ((word_.fetch_add(change, std::memory_order_acq_rel) + change) & reference_mask) == 0;
    }

private:
    static constexpr std::uint32_t state_shift = 28;
    static constexpr std::uint32_t reference_mask = (1U << state_shift) - 1;

    std::atomic<std::uint32_t> word_;
};

/// Internal flags in addition to those of commtask_options. They are kept in commtask_op::reserved,
/// on the submitter's first lines.
enum task_flag : std::uint32_t {
    flag_has_extras = 1U << 16, ///< task::extras is set.
    /// The task is an event, without an operation: commtask_event_signal completes it.
    flag_is_event = 1U << 17,
    /// The interposer has made a task of a call of MPI; only the interposer sets the flag.
    flag_is_call = 1U << 18,
    flag_is_run = 1U << 19,    ///< A run of a plan: its operation holds the plan.
    flag_is_member = 1U << 20, ///< A member of a plan: task::member is set.
    /// A receive with an active-message handler: no thread waits for its end, so it does not count
    /// as incomplete.
    flag_has_handler = 1U << 21,
    /// The task uses its communicator's first lane, even if the communicator is striped by threads.
    flag_stays_home = 1U << 22,
    flag_has_source = 1U << 24, ///< task::source is set.
    /// The program got a handle, and asks through the handle how the task ended.
    flag_has_handle = 1U << 29,
    // The library keeps something for the task until it has ended (mpi/kept_handles.hpp,
    // mpi/kept_lists.hpp).
    flag_keeps = 1U << 25, ///< Handles that the program may free; task::kept says which.
    /// The submitter could not call MPI: the lane keeps the handles if the task must wait.
    flag_keeps_at_accept = 1U << 27,
    /// The program's lists are compared with copies when the task has ended.
    flag_has_snapshots = 1U << 28,
};

/// Bits of task::kept.
enum kept_part : std::uint32_t {
    kept_types = 1, ///< Derived datatypes.
    kept_comm = 2,
};

/// The result of an operation without MPI's types, so that the fake transport can set it too.
struct task_result {
    int error = 0;       ///< MPI error code; 0: success.
    int error_class = 0; ///< The class of `error`.
    int source = 0;
    int tag = 0;
    std::int64_t bytes = 0;
    bool is_canceled = false;
    /// Floating-point exceptions that were raised while MPI had the operation, if it computes. They
    /// may come from any computing operation in flight at the same time.
    float_flags flags = 0;
    /// The task is a run of a plan. The flag is here since a thread that has waited has this line,
    /// but perhaps not the submitter's.
    bool is_of_run = false;
};

/// One dependence "B after A". It is in B's slot, and is a link of A's list of successors.
struct edge {
    /// B, from the time when B's progress thread links it until A ends. A's slot is A's as long as
    /// this is set.
    std::atomic<task*> successor;
    edge* next;
    /// A is an event: the list of incomplete tasks must not read the contents of A's slot.
    bool is_after_event;
};

/// Where in the program a task was created.
struct source_place {
    const char* file = nullptr; ///< Null if it is not known.
    int line = 0;
};

/// Options that most tasks do not have; written by the submitter.
struct task_extras {
    commtask_callback callback;
    void* callback_argument;
    commtask_status* user_status;
    /// The turn in program order, until the task starts or gives the turn up; null: the task needs
    /// none.
    turn* its_turn;
    std::uint32_t n_predecessors;
};

/// The state that begins anew each time that a task runs. The progress engine's.
struct task_run {
    phase now = phase::posted;
    /// Predecessors still point to the task: its slot is kept for them, even if the task is final.
    /// The only state in addition to the phase.
    bool is_pointed_to = false;
    bool is_rung_for = false; ///< Other ranks ring for it, so its wait need not be short.
    /// Parts that the transport has not reported yet; a sendrecv has two parts.
    std::uint32_t open_parts = 0;
    /// The index of the request of part 0 in the transport, while part 0 is open.
    std::uint32_t status_request_at = 0;
    /// Memory that the start needed (narrowed counts, a packed buffer); the transport frees it.
    void* scratch = nullptr;
    /// Payload that this rank sends, from the start on. Only with observers.
    std::int64_t sent_bytes = 0;
    const task* failed_member = nullptr; ///< For a run that failed: the first member that failed.
    /// The time of the progress call that accepted the task, if the task stayed; for the list of
    /// incomplete tasks.
    std::uint64_t accepted_ns = 0;
    /// The time of the progress call that brought the task into its phase. Only with observers.
    std::uint64_t since_ns = 0;
    std::uint64_t number = 0; ///< The task's number in its lane; never used again.
};

/// Aligned to pairs of lines, since processors fetch the neighbour of a line along with it. Each
/// pair has one writer, except that the line of the options is next to the shared one.
struct alignas(2 * cache_line_bytes) task {
    // The submitter's lines.
    commtask_op op;
    comm_queue* queue;
    /// Bits of task_mark, in a line that the progress engine reads anyway.
    std::atomic<std::uint32_t> marks;
    float_modes modes; ///< The submitter's floating-point modes, if the operation computes.
    alignas(cache_line_bytes) task_extras extras;
    std::uint64_t posted_ns; ///< Only with observers.
    plan_member* member;     ///< The member that this task executes in a run of its plan.
    std::uint64_t trace_id;  ///< Only with a trace; for an event, 0 without a trace.

    // Shared: the submitter initialises the line, the progress engine finishes it, waiting threads
    // read it. The progress engine touches it once, at the end.
    alignas(cache_line_bytes) life_word life;
    /// Incomplete predecessors, plus one until they are all linked.
    std::atomic<std::uint32_t> waiting_for;
    std::atomic<edge*> successors; ///< Ends as closed_well() or closed_badly().
    task_result result;

    // The progress engine's.
    /// In a task_list of the progress engine, or among tasks without a cell
    /// (submission_queue::late_).
    alignas(2 * cache_line_bytes) task* next_in_list;
    /// The scheduler of the lane that has the task, as long as the task is not final.
    std::atomic<const scheduler*> live_in;
    task_run run;
    /// The transport's status; before the start, the request that the task takes over.
    alignas(8) std::byte mpi_status[32];
    task* next_handed; ///< In the handoff.
    /// The place in the ring of a task that came by a list (lane::post_without_waiting).
    std::uint64_t late_place;

    // Kept when the slot is reused: the predecessors of a task and the edges to them, with room for
    // `edge_capacity`.
    alignas(2 * cache_line_bytes) std::unique_ptr<task*[]> predecessors;
    std::unique_ptr<edge[]> edges;
    std::uint32_t edge_capacity;
    source_place source; ///< Written by the submitter. Only with flag_has_source.
    // Also kept when the slot is reused: room for the parts of its operation's arguments that the
    // library keeps. Kept datatypes come first, then lists.
    std::uint32_t room_bytes;
    std::unique_ptr<std::byte[]> room;
    // Not flags, since other threads read the flags at any time. Written by the submitter until it
    // posts, then by the progress engine.
    /// kept_types and kept_comm; only with flag_keeps or flag_keeps_at_accept.
    std::uint32_t kept;
    std::uint32_t n_kept_types; ///< Only with flag_keeps or flag_keeps_at_accept.
    std::uint32_t n_snapshots;  ///< Only with flag_has_snapshots.
    std::uint32_t snapshots_at; ///< The offset of the lists in `room`.

    /// Any thread. Fetches the lines that a post will write, so that the post does not wait for
    /// them.
    void prefetch_for_post() const noexcept {
        prefetch_for_write(&op);
        prefetch_for_write(reinterpret_cast<const std::byte*>(&op) + cache_line_bytes);
        prefetch_for_write(&extras);
        prefetch_for_write(&life);
    }

    /// Submitter. Makes the slot a task without options and without predecessors. relaxed: the
    /// submission queue publishes it.
    void begin_operation(const commtask_op& operation, comm_queue& of, std::uint32_t flags,
                         std::uint32_t n_references) noexcept {
        op = operation;
        op.reserved = static_cast<int>(flags);
        queue = &of;
        life.begin(n_references);
        result = {};
        waiting_for.store(0, std::memory_order_relaxed);
        marks.store(0, std::memory_order_relaxed);
        successors.store(nullptr, std::memory_order_relaxed);
    }

    /// Any thread. Makes the slot an event, with one reference for its handle and one that the last
    /// signal drops.
    void begin_event(std::uint32_t n_signals) noexcept {
        op = {};
        op.reserved = static_cast<int>(flag_is_event);
        trace_id = 0;
        queue = nullptr;
        life.begin(2);
        result = {};
        waiting_for.store(n_signals, std::memory_order_relaxed);
        marks.store(0, std::memory_order_relaxed);
        // release: an event reaches other threads in ways that need not synchronise with this
        // thread.
        successors.store(nullptr, std::memory_order_release);
    }

    [[nodiscard]] std::uint32_t flags() const noexcept { return static_cast<std::uint32_t>(op.reserved); }
    [[nodiscard]] bool has_extras() const noexcept { return (flags() & flag_has_extras) != 0; }
    [[nodiscard]] bool is_event() const noexcept { return (flags() & flag_is_event) != 0; }
    [[nodiscard]] bool is_run() const noexcept { return (flags() & flag_is_run) != 0; }
    [[nodiscard]] bool has_handler() const noexcept { return (flags() & flag_has_handler) != 0; }
    [[nodiscard]] bool is_member() const noexcept { return (flags() & flag_is_member) != 0; }
    /// Whether the task may have something to release when it ends.
    [[nodiscard]] bool may_keep() const noexcept { return (flags() & (flag_keeps | flag_keeps_at_accept)) != 0; }
    [[nodiscard]] source_place created_at() const noexcept {
        return (flags() & flag_has_source) != 0 ? source : source_place{};
    }
};

static_assert(sizeof(commtask_op) + sizeof(comm_queue*) + sizeof(std::uint32_t) + sizeof(float_modes) <=
                  2 * cache_line_bytes,
              "an operation, its queue and its marks fill two lines");

/// A bit of task::waiting_for: a member of a plan waits for commtask_plan_pready, in addition to
/// its predecessors.
inline constexpr std::uint32_t waits_for_ready = 1U << 31U;

/// Bits of task::marks.
enum task_mark : std::uint32_t {
    mark_predecessor_failed = 1, ///< Set before the edge is released.
    mark_cancel = 2,             ///< A thread has asked to cancel the task.
    mark_released = 4,           ///< Its last predecessor has ended.
    /// The task is in the handoff. The thread that sets the bit gives the task; the progress engine
    /// clears the bit.
    mark_handed_off = 8,
    mark_members_ended = 16, ///< For a run: its last member has ended, on another lane.
};

/// The value of a list of successors after its task has ended: no successor can be added, and the
/// value tells how the task ended.
[[nodiscard]] inline edge* closed_well() noexcept {
    static edge closed{};
    return &closed;
}
[[nodiscard]] inline edge* closed_badly() noexcept {
    static edge closed{};
    return &closed;
}
[[nodiscard]] inline bool is_closed(const edge* first) noexcept {
    return first == closed_well() || first == closed_badly();
}

} // namespace commtask::detail

/// The public handles point to the same slots.
struct commtask_task : commtask::detail::task {};
struct commtask_event_s : commtask::detail::task {};
