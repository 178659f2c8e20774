// SPDX-License-Identifier: Apache-2.0
//
// A post that is more than a plain message (post.cpp): its options, its turn in program order, and
// references to its arguments. Each path is a function in a file of its own, and calls the steps of
// `posting` that it needs. The destructor undoes every step unless the task was handed to a lane.
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
    MPI_Comm comm;       ///< The task's: of the queue, if the communicator is striped.
    std::uint32_t flags; ///< Of the task.

    [[nodiscard]] bool may_wait() const noexcept { return (flags & COMMTASK_TRY) == 0; }
    /// Precondition: begin().
    [[nodiscard]] task& slot() noexcept { return *slot_; }

    // The steps, in this order. Each returns COMMTASK_OK, or an error code with a message.

    /// Allocates the task.
    [[nodiscard]] int begin() noexcept;
    /// Allocates the task's turn, if the task may have to wait for others or others for it.
    /// @param flags_of_turn  contain the order of the turn
    [[nodiscard]] int make_turn(std::uint32_t flags_of_turn) noexcept;
    void unmake_turn() noexcept;
    /// Writes the task with its options, and keeps the arguments that the program may free.
    /// @param n_more_references  in addition to the worker's and the handle's
    [[nodiscard]] int write(std::uint32_t n_more_references = 0) noexcept;
    /// Hands the task over to its lane, and takes the turn that make_turn() allocated.
    [[nodiscard]] int hand_over() noexcept;
    /// Called instead of hand_over() if a lane has the task already.
    void was_posted(bool is_ordered) noexcept;

private:
    void tell_observers(bool is_ordered) noexcept;

    commtask_t* const task_out_;
    std::uint32_t n_predecessors_ = 0;
    bool is_written_ = false;
    /// The submitter starts the task during the post, and has a reference for that.
    bool starts_here_ = false;
    task* slot_ = nullptr; ///< Null: a lane has the task.
    turn* its_turn_ = nullptr;
    std::uint64_t begin_ns_ = 0; ///< Set only if there are observers, like trace_id_.
    std::uint64_t trace_id_ = 0;
};

// Options (post_options.cpp) ----------------------------------------------------------------------------------------------

[[nodiscard]] int check_options(const commtask_options& options, const operation_traits& operation,
                                const comm_queue& queue) noexcept;
/// The ticket of the options, or null.
[[nodiscard]] const commtask_ticket* ticket_of(const commtask_options* options) noexcept;
/// The source location given in the options.
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

/// Whether the ticket was taken on this communicator. The program order checks whether it is unused
/// (post_order.cpp).
[[nodiscard]] int check_ticket(const commtask_ticket& ticket, const comm_queue& queue) noexcept;

// The ways of a post ------------------------------------------------------------------------------------------------------

/// Posts at the task's position in program order, if it has one (post_order.cpp).
[[nodiscard]] int post_in_order(posting& made) noexcept;
/// Posts at the position that the ticket reserved.
[[nodiscard]] int post_with_ticket(posting& made, const commtask_ticket& ticket) noexcept;
/// Posts on a window, whose epochs the program may manage (post_window.cpp).
[[nodiscard]] int post_on_window(posting& made) noexcept;
/// Posts on a communicator that several lanes serve (striping.cpp).
[[nodiscard]] int post_striped(context& runtime, const commtask_op& op, const commtask_options* options,
                               comm_queue& home, commtask_t* task) noexcept;

// Of post.cpp -------------------------------------------------------------------------------------------------------------

/// Checks all arguments of a post. @return COMMTASK_OK, or an error code with a message
[[nodiscard]] int check_post(context& runtime, const commtask_op& op, const commtask_options* options,
                             const comm_queue& queue) noexcept;
/// Refuses partitioned operations, which only plans may have.
[[nodiscard]] int refuse_single_partitions(const operation_traits& operation) noexcept;
/// @param comm  the communicator of the task
[[nodiscard]] int post_on_queue(context& runtime, const commtask_op& op, const commtask_options* options,
                                comm_queue& queue, MPI_Comm comm, commtask_t* task) noexcept;
/// Posts a control task on this queue, whose communicator may have been freed.
/// @param comm  its error handler is called on a failure
[[nodiscard]] int post_nothing(comm_queue& queue, MPI_Comm comm, const commtask_options* options,
                               commtask_t* task) noexcept;

} // namespace commtask::detail
