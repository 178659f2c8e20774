// SPDX-License-Identifier: Apache-2.0
//
// The memory of a communication task, called a slot. Cache lines are ordered by their writers:
// first the submitter's, then the line that submitter and progress engine share, then the progress
// engine's. A post without options touches two lines of the submitter and the shared line. Slots
// are never freed, so a pointer to a slot is always readable (see task_pool.hpp).
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

/// How a task ended. While the state is `open`, the task's phase says which step comes next; only
/// the progress thread may read the phase.
enum class task_state : std::uint32_t {
    /// Not final -> changed by the progress engine, or by the last signal of an event.
    open = 0,
    completed = COMMTASK_STATE_COMPLETED, ///< Final. The caller may use the buffers again.
    failed = COMMTASK_STATE_FAILED,       ///< Final. `task::result` has the error.
    /// Final. The operation was never started, or MPI_Cancel withdrew it.
    canceled = COMMTASK_STATE_CANCELED,
    /// Final. Set only by commtask_finalize: MPI may still access the buffers. Reported to callers
    /// as canceled.
    abandoned = 5,
};

/// The step that a task has reached. Only the progress thread changes the phase, by
/// scheduler::move(), which informs the observers.
enum class phase : std::uint8_t {
    posted, ///< Not accepted yet -> scheduler::accept() (waiting, awaiting_turn or ready).
    /// Has incomplete predecessors -> the end of the last predecessor, or a cancel (awaiting_turn
    /// or ready); finalizer::abandon() (dropped).
    waiting,
    /// Waits for its turn in program order -> the start of an earlier task, or a cancel (ready);
    /// finalizer::abandon() (dropped).
    awaiting_turn,
    /// In the ready list -> progress_engine::start() (in_flight); finish() (dropped) if the task
    /// must not start.
    ready,
    /// Started; MPI may access the buffers -> the transport reports the last part (ended).
    in_flight,
    ended,   ///< Final; the operation was started.
    dropped, ///< Final; the operation was never started.
};

/// The state and the reference count of a task in one word. One instruction publishes the final
/// state and drops the progress engine's reference, so a waiting thread loses the cache line only
/// once.
class life_word {
public:
    /// Sets the state to `open`. relaxed: the submission queue publishes the task.
    void begin(std::uint32_t n_references) noexcept { word_.store(n_references, std::memory_order_relaxed); }

    /// acquire: partner of finish(); with a final state, the result is visible.
    [[nodiscard]] task_state state() const noexcept {
        return static_cast<task_state>(word_.load(std::memory_order_acquire) >> state_shift);
    }

    /// relaxed: the caller has a reference, or received the task from a thread that has one.
    void take_reference() noexcept { word_.fetch_add(1, std::memory_order_relaxed); }

    /// Whether the caller's reference is the only one. acquire: partner of drop_references(); all
    /// accesses of other threads to the slot are over.
    [[nodiscard]] bool has_one_reference() const noexcept {
        return (word_.load(std::memory_order_acquire) & reference_mask) == 1;
    }

    /// @return whether no reference is left
    [[nodiscard]] bool drop_references(std::uint32_t n_references) noexcept {
        // acq_rel: the thread that drops the last reference sees all earlier accesses to the slot
        // before it recycles the slot.
        const std::uint32_t before = word_.fetch_sub(n_references, std::memory_order_acq_rel);
        COMMTASK_ASSERT((before & reference_mask) >= n_references);
        return (before & reference_mask) == n_references;
    }

    /// Sets a final state, and drops references.
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

/// Internal flags in addition to those of commtask_options. Stored in commtask_op::reserved, in the
/// submitter's first two lines.
enum task_flag : std::uint32_t {
    flag_has_extras = 1U << 16, ///< task::extras is set.
    /// The task is an event: it has no operation, and commtask_event_signal completes it.
    flag_is_event = 1U << 17,
    /// The task stands for an MPI call of the program; set only by the interposer.
    flag_is_call = 1U << 18,
    flag_is_run = 1U << 19,    ///< A run of a plan: `op.result` points to the plan.
    flag_is_member = 1U << 20, ///< A member of a plan: task::member is set.
    /// A receive with an active-message handler. No thread waits for its end, so it does not count
    /// as incomplete.
    flag_has_handler = 1U << 21,
    /// The task uses its communicator's first lane, even if the communicator is striped by threads.
    flag_uses_first_lane = 1U << 22,
    flag_has_source = 1U << 24, ///< task::source is set.
    /// The program has a handle, and queries the outcome through the handle.
    flag_has_handle = 1U << 29,
    // The library keeps handles or lists for the task until it has ended (mpi/kept_handles.hpp,
    // mpi/kept_lists.hpp).
    flag_keeps = 1U << 25, ///< Keeps handles that the program may free; task::kept says which.
    /// The submitter could not call MPI, so the lane keeps the handles, and only if the task must
    /// wait.
    flag_keeps_at_accept = 1U << 27,
    /// The program's lists are compared with copies when the task has ended.
    flag_has_snapshots = 1U << 28,
};

/// Bits of task::kept.
enum kept_part : std::uint32_t {
    kept_types = 1, ///< Derived datatypes.
    kept_comm = 2,
};

/// The result of an operation, without types of MPI, so that the fake transport of the tests can
/// set it too.
struct task_result {
    int error = 0;       ///< MPI error code; 0: success.
    int error_class = 0; ///< The class of `error`.
    int source = 0;
    int tag = 0;
    std::int64_t bytes = 0;
    bool is_canceled = false;
    /// The floating-point exceptions raised while the operation was in flight, if the operation
    /// computes. Another computing operation in flight at the same time may have raised some of
    /// them.
    float_flags flags = 0;
    /// The task is a run of a plan. Repeats flag_is_run: after a wait, this line is in the cache of
    /// the waiting thread, and the line with the flags may not be.
    bool is_of_run = false;
};

/// A dependence "B after A". The edge is in B's slot, and is a link of A's list of successors.
struct edge {
    /// B; null before B's progress thread adds the edge, and after A has ended. While this is not
    /// null, A's slot is not reused.
    std::atomic<task*> successor;
    edge* next;
    /// Whether A is an event. Any thread may complete an event, so the list of incomplete tasks
    /// must not read the contents of its slot.
    bool is_after_event;
};

/// The source line at which the program created a task.
struct source_location {
    const char* file = nullptr; ///< Null if it is not known.
    int line = 0;
};

/// Options that most tasks do not have; written by the submitter.
struct task_extras {
    commtask_callback callback;
    void* callback_argument;
    commtask_status* user_status;
    /// The turn in program order, until the task starts or leaves the order; null: no turn.
    turn* its_turn;
    std::uint32_t n_predecessors;
};

/// State that scheduler::accept() resets for each task. Written by the progress engine only.
struct task_run {
    phase now = phase::posted;
    /// Predecessors still have edges to this task, so its slot is kept even if the task is final.
    /// The only state in addition to the phase.
    bool is_pointed_to = false;
    /// Other ranks' doorbells announce the completion of this operation.
    bool is_rung_for = false;
    /// The parts that the transport has not reported yet. A sendrecv has two parts.
    std::uint32_t open_parts = 0;
    /// The index of the request of part 0 in the transport, while part 0 is open.
    std::uint32_t status_request_at = 0;
    /// Memory that the start allocated (narrowed counts, a packed buffer); the transport frees it.
    void* scratch = nullptr;
    /// The bytes that this rank sends; set at the start. Only with observers.
    std::int64_t sent_bytes = 0;
    const task* failed_member = nullptr; ///< For a failed run: the member that failed first.
    /// The time of the progress call that accepted the task; 0 if the task ended in that call.
    /// Shown in the list of incomplete tasks.
    std::uint64_t accepted_ns = 0;
    /// The time of the progress call that set the current phase. Only with observers.
    std::uint64_t since_ns = 0;
    std::uint64_t number = 0; ///< The task's number in its lane; unique.
};

/// Aligned to pairs of lines, since processors prefetch the neighbor of a line. Each pair has one
/// writer, except that the line of the options is next to the shared line.
struct alignas(2 * cache_line_bytes) task {
    // The submitter's lines.
    commtask_op op;
    comm_queue* queue;
    /// Bits of task_mark. In this line, since the progress engine reads it for every task.
    std::atomic<std::uint32_t> marks;
    float_modes modes; ///< The submitter's floating-point modes, if the operation computes.
    alignas(cache_line_bytes) task_extras extras;
    std::uint64_t posted_ns; ///< Only with observers.
    plan_member* member;     ///< The member that this task executes in a run of its plan.
    std::uint64_t trace_id;  ///< Only with a trace; for an event, 0 without a trace.

    // Shared: the submitter initializes the line, the progress engine writes the result, and
    // waiting threads poll it. The progress engine touches the line once, at the end.
    alignas(cache_line_bytes) life_word life;
    /// The number of incomplete predecessors, plus one until all edges are added.
    std::atomic<std::uint32_t> waiting_for;
    std::atomic<edge*> successors; ///< Ends as closed_well() or closed_badly().
    task_result result;

    // Written by the progress engine.
    /// The link in a task_list, or in submission_queue::overflow_.
    alignas(2 * cache_line_bytes) task* next_in_list;
    /// The scheduler of the lane that accepted the task; null once the task is final.
    std::atomic<const scheduler*> live_in;
    task_run run;
    /// The transport's MPI_Status. Before the start of an attach operation: the program's request.
    alignas(8) std::byte mpi_status[32];
    task* next_marked; ///< The link in submission_queue::marked_.
    /// The position in the ring of a task for which the ring had no free cell
    /// (lane::post_without_waiting).
    std::uint64_t ring_position;

    // Kept when the slot is reused: the predecessors of a task, and the edges to them. Both arrays
    // have `edge_capacity` elements.
    alignas(2 * cache_line_bytes) std::unique_ptr<task*[]> predecessors;
    std::unique_ptr<edge[]> edges;
    std::uint32_t edge_capacity;
    source_location source; ///< Written by the submitter. Only with flag_has_source.
    // Also kept when the slot is reused: memory for arguments that the library keeps. Datatypes
    // come first, then lists.
    std::uint32_t room_bytes;
    std::unique_ptr<std::byte[]> room;
    // Separate from the flags, which other threads may read at any time. Written by the submitter
    // before the post, then by the progress engine.
    /// kept_types and kept_comm; only with flag_keeps or flag_keeps_at_accept.
    std::uint32_t kept;
    std::uint32_t n_kept_types; ///< Only with flag_keeps or flag_keeps_at_accept.
    std::uint32_t n_snapshots;  ///< Only with flag_has_snapshots.
    std::uint32_t snapshots_at; ///< The offset of the lists in `room`.

    /// Any thread. Prefetches the lines that a post will write.
    void prefetch_for_post() const noexcept {
        prefetch_for_write(&op);
        prefetch_for_write(reinterpret_cast<const std::byte*>(&op) + cache_line_bytes);
        prefetch_for_write(&extras);
        prefetch_for_write(&life);
    }

    /// Submitter. Initializes the slot as a task without options and predecessors. relaxed: the
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

    /// Any thread. Initializes the slot as an event. One reference is for its handle, and the last
    /// signal drops the other.
    void begin_event(std::uint32_t n_signals) noexcept {
        op = {};
        op.reserved = static_cast<int>(flag_is_event);
        trace_id = 0;
        queue = nullptr;
        life.begin(2);
        result = {};
        waiting_for.store(n_signals, std::memory_order_relaxed);
        marks.store(0, std::memory_order_relaxed);
        // release: the program may pass the event to other threads without synchronization.
        successors.store(nullptr, std::memory_order_release);
    }

    [[nodiscard]] std::uint32_t flags() const noexcept { return static_cast<std::uint32_t>(op.reserved); }
    [[nodiscard]] bool has_extras() const noexcept { return (flags() & flag_has_extras) != 0; }
    [[nodiscard]] bool is_event() const noexcept { return (flags() & flag_is_event) != 0; }
    [[nodiscard]] bool is_run() const noexcept { return (flags() & flag_is_run) != 0; }
    [[nodiscard]] bool has_handler() const noexcept { return (flags() & flag_has_handler) != 0; }
    [[nodiscard]] bool is_member() const noexcept { return (flags() & flag_is_member) != 0; }
    /// Whether the task may keep handles, which must be released when it ends.
    [[nodiscard]] bool may_keep() const noexcept { return (flags() & (flag_keeps | flag_keeps_at_accept)) != 0; }
    [[nodiscard]] source_location created_at() const noexcept {
        return (flags() & flag_has_source) != 0 ? source : source_location{};
    }
};

static_assert(sizeof(commtask_op) + sizeof(comm_queue*) + sizeof(std::uint32_t) + sizeof(float_modes) <=
                  2 * cache_line_bytes,
              "an operation, its queue and its marks fill two lines");

/// A bit of task::waiting_for: a deferred member of a plan waits for commtask_plan_pready.
inline constexpr std::uint32_t waits_for_ready = 1U << 31U;

/// Bits of task::marks.
enum task_mark : std::uint32_t {
    mark_predecessor_failed = 1, ///< Set before the edge is removed.
    mark_cancel = 2,             ///< A thread has requested that the task be canceled.
    mark_released = 4,           ///< The last predecessor has ended.
    /// The task is in submission_queue::marked_. The thread that sets the bit pushes the task; the
    /// progress engine clears the bit.
    mark_listed = 8,
    mark_members_ended = 16, ///< For a run: the last member has ended, and was on another lane.
};

/// Values of task::successors after the task has ended: the list is closed, and no successor can be
/// added. The value tells whether the task completed.
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

/// The types of the public handles: a handle is a pointer to a slot.
struct commtask_task : commtask::detail::task {};
struct commtask_event_s : commtask::detail::task {};
