// SPDX-License-Identifier: Apache-2.0
//
// A post that is more than a plain message (post.cpp): its options, its turn in program order, and
// the arguments that are kept for it. Each path is a function of its own, in a file of its own, and
// takes the steps of `posting` that it needs. The destructor takes back everything that was not
// handed to a lane, so no path undoes anything itself.
#pragma once

#include "api/context.hpp"
#include "core/operation_traits.hpp"

#include <commtask/commtask.h>

#include <cstddef>
#include <cstdint>

namespace commtask::detail {

class posting {
public:
    /// @param options  checked; null: none
    posting(context& its_runtime, const commtask_op& its_op, const commtask_options* its_options, comm_queue& its_queue,
            commtask_t* task_out) noexcept;
    posting(const posting&) = delete;
    posting& operator=(const posting&) = delete;
    ~posting();

    context& runtime;
    const commtask_op& op;
    const commtask_options* const options;
    comm_queue& queue;
    const operation_traits& kind;
    MPI_Comm comm;       ///< The task's: if the communicator is striped, the queue's.
    std::uint32_t flags; ///< Of the task.

    [[nodiscard]] bool may_wait() const noexcept { return (flags & COMMTASK_TRY) == 0; }
    /// After begin().
    [[nodiscard]] task& slot() noexcept { return *slot_; }

    // The steps, in this order: each returns COMMTASK_OK, or a code with a sentence.

    /// Takes memory for the task.
    [[nodiscard]] int begin() noexcept;
    /// Takes memory for the task's turn, if the task may have to wait for others or others for it.
    /// @param flags_of_turn  give the order of the turn
    [[nodiscard]] int make_turn(std::uint32_t flags_of_turn) noexcept;
    void unmake_turn() noexcept;
    /// Writes the task with its options, and keeps the arguments that the program may free.
    /// @param n_more_references  in addition to the worker's and the handle's
    [[nodiscard]] int write(std::uint32_t n_more_references = 0) noexcept;
    /// Hands the task to its lane, and takes the turn that was made.
    [[nodiscard]] int hand_over() noexcept;
    /// Called instead of hand_over(), when a lane has the task already.
    void was_posted(bool is_ordered) noexcept;

private:
    void tell_observers(bool is_ordered) noexcept;

    commtask_t* const task_out_;
    std::uint32_t n_predecessors_ = 0;
    bool is_written_ = false;
    /// The submitter starts the task before the post returns, and has a reference for that.
    bool starts_here_ = false;
    task* slot_ = nullptr; ///< Null: a lane has it.
    turn* its_turn_ = nullptr;
    std::uint64_t begin_ns_ = 0; ///< This and trace_id_ are set only with observers.
    std::uint64_t trace_id_ = 0;
};

// Options (post_options.cpp) ----------------------------------------------------------------------------------------------

[[nodiscard]] int check_options(const commtask_options& options, const operation_traits& operation,
                                const comm_queue& queue) noexcept;
/// The ticket of the options, or null.
[[nodiscard]] const commtask_ticket* ticket_of(const commtask_options* options) noexcept;
/// The source location that the options give.
[[nodiscard]] source_location source_of(const commtask_options* options) noexcept;
[[nodiscard]] std::uint32_t count_predecessors(const commtask_options& options) noexcept;
/// Calls `visit(task&)` for each predecessor.
template <typename Visit>
void for_each_predecessor(const commtask_options& options, Visit&& visit) noexcept {
    const auto visit_one = [&](task* predecessor) {
        if (predecessor != nullptr) visit(*predecessor);
    };
    for (std::size_t i = 0; i < options.n_after; ++i) visit_one(options.after[i]);
    for (std::size_t i = 0; i < options.n_events; ++i) visit_one(options.events[i]);
}

/// Whether the ticket was taken for this communicator. The program order knows whether the ticket
/// is unused (post_order.cpp).
[[nodiscard]] int check_ticket(const commtask_ticket& ticket, const comm_queue& queue) noexcept;

// The ways of a post ------------------------------------------------------------------------------------------------------

/// Posts in the task's place in program order, if it has one (post_order.cpp).
[[nodiscard]] int post_in_order(posting& made) noexcept;
/// Posts in the place that was taken earlier.
[[nodiscard]] int post_with_ticket(posting& made, const commtask_ticket& ticket) noexcept;
/// Posts on a window, whose epochs the program may open and close (post_window.cpp).
[[nodiscard]] int post_on_window(posting& made) noexcept;
/// Posts on a communicator that several lanes serve (striping.cpp).
[[nodiscard]] int post_striped(context& runtime, const commtask_op& op, const commtask_options* options,
                               comm_queue& home, commtask_t* task) noexcept;

// Of post.cpp -------------------------------------------------------------------------------------------------------------

/// Checks everything about a post. @return COMMTASK_OK, or the code of the error
[[nodiscard]] int check_post(context& runtime, const commtask_op& op, const commtask_options* options,
                             const comm_queue& queue) noexcept;
/// Operations in partitions are for plans alone.
[[nodiscard]] int refuse_single_partitions(const operation_traits& operation) noexcept;
/// Posts on this queue. @param comm  the communicator for the task
[[nodiscard]] int post_on_queue(context& runtime, const commtask_op& op, const commtask_options* options,
                                comm_queue& queue, MPI_Comm comm, commtask_t* task) noexcept;
/// Posts a task that does nothing on this queue, whose communicator may have been freed.
/// @param comm  the error handler of this communicator gets a failure
[[nodiscard]] int post_nothing(comm_queue& queue, MPI_Comm comm, const commtask_options* options,
                               commtask_t* task) noexcept;

} // namespace commtask::detail
