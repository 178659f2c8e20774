// SPDX-License-Identifier: Apache-2.0
//
// A communication task as it lies in memory. Lines are ordered by who writes them: the submitter's first, then the line
// that both sides share, then the worker's own. A post without options touches two lines of its own and the shared one.
// Slots are never returned to the system, so a link to one stays readable for ever (see task_pool).
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

/// How a task ended; what it does before is its phase, which its driver alone knows.
enum class task_state : std::uint32_t {
    open = 0,                             ///< Not final -> worker, or the last signal of an event.
    completed = COMMTASK_STATE_COMPLETED, ///< Final. The buffers are the caller's again.
    failed = COMMTASK_STATE_FAILED,       ///< Final. The result says why.
    canceled = COMMTASK_STATE_CANCELED,   ///< Final. MPI never saw the operation, or gave it back unmatched.
    given_up = 5, ///< Final, at the end of the library only: MPI may still own the buffers. Reads as canceled.
};

/// Where a task is on its way. Its driver alone moves it on, by lane::move(), which tells observers.
enum class phase : std::uint8_t {
    posted, ///< Its lane has not seen it -> lane::accept() (waiting, held or ready).
    waiting, ///< Has unfinished predecessors -> the last one's end, or a cancel (held or ready); lane::give_up() (dropped).
    held, ///< Its turn in program order has not come -> the start of an earlier task, or a cancel (ready); lane::give_up() (dropped).
    ready,     ///< In the list of ready tasks -> lane::issue() (in_flight, or dropped if it must not start).
    in_flight, ///< MPI owns the buffers -> the transport's report of its last part (ended).
    ended,     ///< Final; MPI has seen the operation.
    dropped,   ///< Final; MPI never saw it.
};

/// State and references of a task in one word, so that its end is announced and the worker's reference is dropped by one
/// instruction: the line is then pulled away from a waiting thread once.
class life_word {
public:
    /// Not final. relaxed: the inbox publishes the task.
    void begin(std::uint32_t n_references) noexcept { word_.store(n_references, std::memory_order_relaxed); }

    /// acquire: partner of finish(); a final state comes with its result.
    [[nodiscard]] task_state state() const noexcept {
        return static_cast<task_state>(word_.load(std::memory_order_acquire) >> state_shift);
    }

    /// relaxed: whoever takes a reference has one, or has been given the task by one who has.
    void take_reference() noexcept { word_.fetch_add(1, std::memory_order_relaxed); }

    /// Who has one: whether nobody else has. acquire: partner of drop_references(); what the others did with the slot is over.
    [[nodiscard]] bool is_held_once() const noexcept {
        return (word_.load(std::memory_order_acquire) & reference_mask) == 1;
    }

    /// @return whether that was the last one.
    [[nodiscard]] bool drop_references(std::uint32_t n_references) noexcept {
        // acq_rel: the last one sees what the others did with the slot before it hands the slot to a new task.
        const std::uint32_t before = word_.fetch_sub(n_references, std::memory_order_acq_rel);
        COMMTASK_ASSERT((before & reference_mask) >= n_references);
        return (before & reference_mask) == n_references;
    }

    /// Becomes final, and drops references. @return whether these were the last ones.
    [[nodiscard]] bool finish(task_state state, std::uint32_t n_references) noexcept {
        const std::uint32_t change = (static_cast<std::uint32_t>(state) << state_shift) - n_references;
        // acq_rel: publishes the result; partner of state(), and of the other drops as above.
        return ((word_.fetch_add(change, std::memory_order_acq_rel) + change) & reference_mask) == 0;
    }

private:
    static constexpr std::uint32_t state_shift = 28;
    static constexpr std::uint32_t reference_mask = (1U << state_shift) - 1;

    std::atomic<std::uint32_t> word_;
};

/// Internal flags, beside those of commtask_options; kept in commtask_op::reserved, on the submitter's first lines.
enum task_flag : std::uint32_t {
    flag_has_extras = 1U << 16,  ///< task::extras is set.
    flag_is_event = 1U << 17,    ///< No operation: commtask_event_signal completes it.
    flag_is_call = 1U << 18,     ///< A call of MPI's that the interposer made a task of; nobody else sets it.
    flag_is_run = 1U << 19,      ///< A run of a plan: its operation has the plan.
    flag_is_member = 1U << 20,   ///< Of a plan: task::member is set.
    flag_has_handler = 1U << 21, ///< A standing receive: nobody waits for its end, so it is not unfinished.
    flag_stays_home = 1U << 22,  ///< Goes to its communicator's first lane, even where that is striped by threads.
    flag_has_source = 1U << 24,  ///< task::source is set.
    flag_has_handle = 1U << 29,  ///< The program got a handle, and asks by that how the task ends.
    // What the library keeps for a task until it has ended (mpi/kept_handles.hpp, mpi/kept_lists.hpp).
    flag_keeps = 1U << 25,           ///< What the program may free: task::kept says which.
    flag_keeps_at_accept = 1U << 27, ///< The submitter could not call MPI: the lane keeps it if the task must wait.
    flag_has_noted_lists = 1U << 28, ///< Lists of the program that are compared when it has ended.
};

/// In task::kept.
enum kept_part : std::uint32_t {
    kept_types = 1, ///< Derived datatypes.
    kept_comm = 2,
};

/// How MPI ended an operation, without a word of MPI: what the fake transport can say too.
struct task_result {
    int error = 0;       ///< MPI error code, 0 is success.
    int error_class = 0; ///< Its class.
    int source = 0;
    int tag = 0;
    std::int64_t bytes = 0;
    bool is_canceled = false;
    /// What was raised while MPI had it, if it computes. Of all that was in flight with it.
    float_flags flags = 0;
    /// Of a plan. Said here, since who has waited has this line, and may not have the submitter's.
    bool is_of_run = false;
};

/// One "B after A": lies in B's slot, is a link of A's list of successors.
struct edge {
    std::atomic<task*> successor; ///< B, from when B's worker links it until A ends: as long as A's slot is A's.
    edge* next;
    bool is_after_event; ///< A is an event: the list of unfinished tasks must not read what its slot holds.
};

/// Where in the program a task was created.
struct source_place {
    const char* file = nullptr; ///< Null: not known.
    int line = 0;
};

/// Options that most tasks do not have; written by the submitter.
struct task_extras {
    commtask_callback callback;
    void* callback_argument;
    commtask_status* user_status;
    turn* its_turn; ///< In program order, until it starts or gives the turn up; null: it needs none.
    std::uint32_t n_predecessors;
};

/// What begins anew each time that a task runs. The driver's.
struct task_run {
    phase now = phase::posted;
    /// Predecessors still point to it: the slot is kept for them, even if the task is final. The one thing beside the phase.
    bool is_pointed_to = false;
    bool is_rung_for = false;            ///< Other ranks ring for it: its wait need not be short.
    std::uint32_t open_parts = 0;        ///< What the transport has not reported yet: a sendrecv has two parts.
    std::uint32_t status_request_at = 0; ///< Where the transport keeps the request of part 0, while that is open.
    void* scratch = nullptr;     ///< What issuing needed (narrowed counts, a packed buffer); the transport frees it.
    std::int64_t sent_bytes = 0; ///< Payload that this rank gives, from its issue on. Only with observers.
    const task* failed_member = nullptr; ///< Of a run that failed: the first member that did.
    std::uint64_t accepted_ns = 0; ///< In the pass that first saw it, if it stayed; for the list of unfinished tasks.
    std::uint64_t since_ns = 0;    ///< In the pass that brought it into its phase. Only with observers.
    std::uint64_t number = 0;      ///< Of its lane; never used again.
};

/// Aligned to pairs of lines, since processors fetch the neighbour of a line along with it: a pair has one writer, but for
/// the options' line beside the shared one.
struct alignas(2 * cache_line_bytes) task {
    // The submitter's lines.
    commtask_op op;
    comm_queue* queue;
    std::atomic<std::uint32_t> marks; ///< task_mark bits; here, where the worker looks anyway.
    float_modes modes;                ///< Of the submitter, if the operation computes.
    alignas(cache_line_bytes) task_extras extras;
    std::uint64_t posted_ns; ///< Only with observers.
    plan_member* member;     ///< What it does in every run of its plan.
    std::uint64_t trace_id;  ///< Only with a trace; of an event 0 without one.

    // Shared: the submitter initialises, the worker finishes, waiters look. The worker touches it once, at the end.
    alignas(cache_line_bytes) life_word life;
    std::atomic<std::uint32_t> waiting_for; ///< Unfinished predecessors, plus one until they are all linked.
    std::atomic<edge*> successors;          ///< closed_well() or closed_badly() at the end.
    task_result result;

    // The driver's.
    alignas(2 * cache_line_bytes) task* next_in_list; ///< In a task_list of its driver's, or among late posts.
    std::atomic<const scheduler*> live_in;            ///< Of the lane that has it, as long as it is not final.
    task_run run;
    alignas(8) std::byte mpi_status[32]; ///< The transport's own status; before the issue, the request of an attach.
    task* next_handed;                   ///< In the handoff.
    std::uint64_t late_place;            ///< In the inbox, of one that came another way (lane::post_without_waiting).

    // Kept over reuse: predecessors of a task and the edges to them, room for `edge_capacity`.
    alignas(2 * cache_line_bytes) std::unique_ptr<task*[]> predecessors;
    std::unique_ptr<edge[]> edges;
    std::uint32_t edge_capacity;
    source_place source; ///< The submitter's. Only with flag_has_source.
    // The same: room for what a task keeps of its operation's arguments, kept datatypes first, then lists.
    std::uint32_t room_bytes;
    std::unique_ptr<std::byte[]> room;
    // Not a flag: other threads read the flags at any time. Written by the submitter until it posts, then by the driver.
    std::uint32_t kept;           ///< kept_types and kept_comm; only with flag_keeps or flag_keeps_at_accept.
    std::uint32_t n_kept_types;   ///< The same.
    std::uint32_t n_noted_lists;  ///< Only with flag_has_noted_lists.
    std::uint32_t noted_lists_at; ///< In the room.

    /// Any thread. What a post will write is on its way, so that it does not wait for it.
    void prefetch_for_post() const noexcept {
        prefetch_for_write(&op);
        prefetch_for_write(reinterpret_cast<const std::byte*>(&op) + cache_line_bytes);
        prefetch_for_write(&extras);
        prefetch_for_write(&life);
    }

    /// Submitter. A slot becomes a task without options and without predecessors. relaxed: the inbox publishes it.
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

    /// Any thread. A slot becomes an event, with a reference for its handle and one that the last signal drops.
    void begin_event(std::uint32_t n_signals) noexcept {
        op = {};
        op.reserved = static_cast<int>(flag_is_event);
        trace_id = 0;
        queue = nullptr;
        life.begin(2);
        result = {};
        waiting_for.store(n_signals, std::memory_order_relaxed);
        marks.store(0, std::memory_order_relaxed);
        // release: an event reaches other threads by ways that need not synchronise with this one.
        successors.store(nullptr, std::memory_order_release);
    }

    [[nodiscard]] std::uint32_t flags() const noexcept { return static_cast<std::uint32_t>(op.reserved); }
    [[nodiscard]] bool has_extras() const noexcept { return (flags() & flag_has_extras) != 0; }
    [[nodiscard]] bool is_event() const noexcept { return (flags() & flag_is_event) != 0; }
    [[nodiscard]] bool is_run() const noexcept { return (flags() & flag_is_run) != 0; }
    [[nodiscard]] bool has_handler() const noexcept { return (flags() & flag_has_handler) != 0; }
    [[nodiscard]] bool is_member() const noexcept { return (flags() & flag_is_member) != 0; }
    /// May have to let something go when it ends.
    [[nodiscard]] bool may_keep() const noexcept { return (flags() & (flag_keeps | flag_keeps_at_accept)) != 0; }
    [[nodiscard]] source_place created_at() const noexcept {
        return (flags() & flag_has_source) != 0 ? source : source_place{};
    }
};

static_assert(sizeof(commtask_op) + sizeof(comm_queue*) + sizeof(std::uint32_t) + sizeof(float_modes) <=
                  2 * cache_line_bytes,
              "an operation, its queue and its marks fill two lines");

/// In task::waiting_for: a member of a plan waits for commtask_plan_pready, beside its predecessors.
inline constexpr std::uint32_t waits_for_ready = 1U << 31U;

/// Bits of task::marks.
enum task_mark : std::uint32_t {
    mark_predecessor_failed = 1, ///< Set before the edge is released.
    mark_cancel = 2,             ///< Somebody asked for it.
    mark_released = 4,           ///< Its last predecessor is done.
    mark_handed_off = 8,         ///< In the handoff: whoever sets it gives it, the worker clears it.
    mark_members_ended = 16,     ///< Of a run: the last of its members has ended, on another lane.
};

/// What a list of successors becomes when its task ends: nobody can be added, and how it ended can be read off.
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
