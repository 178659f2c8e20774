// SPDX-License-Identifier: Apache-2.0
//
// A post that is more than a plain message (post.cpp): its options, its turn in program order, and what is kept for it. Each path is
// a function of its own, in a file of its own, which takes the steps of `posting` that it needs. The destructor takes back what no
// lane has, so no path undoes anything itself.
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
    MPI_Comm comm;       ///< The task's: of a striped communicator, the queue's.
    std::uint32_t flags; ///< Of the task.

    [[nodiscard]] bool may_wait() const noexcept { return (flags & COMMTASK_TRY) == 0; }
    /// After begin().
    [[nodiscard]] task& slot() noexcept { return *slot_; }

    // The steps, in this order: each returns COMMTASK_OK, or a code with a sentence.

    /// Takes memory for the task.
    [[nodiscard]] int begin() noexcept;
    /// Takes memory for its turn, if it may have to wait, or others for it. @param flags_of_turn  by which it is ordered
    [[nodiscard]] int make_turn(std::uint32_t flags_of_turn) noexcept;
    void unmake_turn() noexcept;
    /// Writes the task, with its options, and keeps what the program may free.
    /// @param n_more_references  beside the worker's and the handle's
    [[nodiscard]] int write(std::uint32_t n_more_references = 0) noexcept;
    /// Hands the task to its lane, in the turn that was made.
    [[nodiscard]] int hand_over() noexcept;
    /// In place of hand_over(), when a lane has the task.
    void was_posted(bool is_ordered) noexcept;

private:
    void tell_observers(bool is_ordered) noexcept;

    commtask_t* const task_out_;
    std::uint32_t n_predecessors_ = 0;
    bool is_written_ = false;
    bool starts_here_ = false; ///< Before the post returns, which has a reference for that.
    task* slot_ = nullptr;     ///< Null: a lane has it.
    turn* its_turn_ = nullptr;
    std::uint64_t begin_ns_ = 0; ///< This and the next one only with observers.
    std::uint64_t trace_id_ = 0;
};

// Options (post_options.cpp) ----------------------------------------------------------------------------------------------

[[nodiscard]] int check_options(const commtask_options& options, const operation_traits& operation,
                                const comm_queue& queue) noexcept;
/// The ticket of the options, or null.
[[nodiscard]] const commtask_ticket* ticket_of(const commtask_options* options) noexcept;
/// Where the options say that the task was created.
[[nodiscard]] source_place source_of(const commtask_options* options) noexcept;
[[nodiscard]] std::uint32_t count_predecessors(const commtask_options& options) noexcept;
/// `visit(task&)` of each predecessor.
template <typename Visit>
void for_each_predecessor(const commtask_options& options, Visit&& visit) noexcept {
    const auto visit_one = [&](task* predecessor) {
        if (predecessor != nullptr) visit(*predecessor);
    };
    for (std::size_t i = 0; i < options.n_after; ++i) visit_one(options.after[i]);
    for (std::size_t i = 0; i < options.n_events; ++i) visit_one(options.events[i]);
}

/// Whether it was taken for this communicator. Whether it is still to be used, the program order knows (post_order.cpp).
[[nodiscard]] int check_ticket(const commtask_ticket& ticket, const comm_queue& queue) noexcept;

// The ways of a post ------------------------------------------------------------------------------------------------------

/// In its place in program order, if it has one (post_order.cpp).
[[nodiscard]] int post_in_order(posting& made) noexcept;
/// In the place that was taken earlier.
[[nodiscard]] int post_with_ticket(posting& made, const commtask_ticket& ticket) noexcept;
/// On a window, whose epochs the program may open and close (post_window.cpp).
[[nodiscard]] int post_on_window(posting& made) noexcept;
/// On a communicator that several lanes serve (striping.cpp).
[[nodiscard]] int post_striped(context& runtime, const commtask_op& op, const commtask_options* options,
                               comm_queue& home, commtask_t* task) noexcept;

// Of post.cpp -------------------------------------------------------------------------------------------------------------

/// Whether a post could be done. @return COMMTASK_OK, or the code of what is wrong
[[nodiscard]] int check_post(context& runtime, const commtask_op& op, const commtask_options* options,
                             const comm_queue& queue) noexcept;
/// Partitions are for plans.
[[nodiscard]] int refuse_single_partitions(const operation_traits& operation) noexcept;
/// Posts on this queue, whose communicator for the task is `comm`.
[[nodiscard]] int post_on_queue(context& runtime, const commtask_op& op, const commtask_options* options,
                                comm_queue& queue, MPI_Comm comm, commtask_t* task) noexcept;
/// Posts a task that does nothing on this queue, whose communicator may be freed. @param comm  a failure is reported to its handler
[[nodiscard]] int post_nothing(comm_queue& queue, MPI_Comm comm, const commtask_options* options,
                               commtask_t* task) noexcept;

} // namespace commtask::detail
