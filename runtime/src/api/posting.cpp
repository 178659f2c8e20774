// SPDX-License-Identifier: Apache-2.0
//
// The steps of a post. Wrong arguments were refused before. A step fails only if memory is
// exhausted, or if the lane's queue is full and COMMTASK_TRY is set.
#include "api/posting.hpp"

#include "api/keeping.hpp"
#include "base/last_error.hpp"
#include "core/graph.hpp"
#include "core/task_pool.hpp"

#include <cstring>
#include <utility>

namespace commtask::detail {

posting::posting(context& its_runtime, const commtask_op& its_op, const commtask_options* its_options,
                 comm_queue& its_queue, commtask_t* task_out) noexcept
    : runtime(its_runtime), op(its_op), options(its_options), queue(its_queue), kind(operation_of(its_op.kind)),
      comm(its_op.comm), flags(static_cast<std::uint32_t>(its_op.reserved) & (flag_is_call | flag_has_handler)),
      task_out_(task_out) {
    if (task_out != nullptr) flags |= flag_has_handle;
    if (runtime.has_observers()) begin_ns_ = now_ns();
    if (options == nullptr) return;
    flags |= options->flags | flag_has_extras;
    if (source_of(options).file != nullptr) flags |= flag_has_source;
    n_predecessors_ = count_predecessors(*options);
}

posting::~posting() {
    if (slot_ == nullptr) return;
    unmake_turn();
    if (is_written_) {
        if (options != nullptr) {
            for (std::uint32_t i = 0; i < n_predecessors_; ++i) task_pool::drop(slot_->predecessors[i]);
        }
        if (slot_->may_keep()) runtime.handles().let_go(*slot_);
    }
    task_pool::release(slot_);
}

int posting::begin() noexcept {
    slot_ = task_pool::acquire();
    if (slot_ != nullptr && graph::make_room_for_edges(*slot_, n_predecessors_)) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_NO_MEMORY, "no memory for  a task");
}

int posting::make_turn(std::uint32_t flags_of_turn) noexcept {
    if (n_predecessors_ == 0 && !queue.order.has_open()) return COMMTASK_OK;
    its_turn_ = queue.order.make(op, flags_of_turn, source_of(options));
    if (its_turn_ == nullptr) return refuse(COMMTASK_ERR_NO_MEMORY, "no memory for  a task's turn");
    if (!its_turn_->has_channels()) unmake_turn();
    return COMMTASK_OK;
}

void posting::unmake_turn() noexcept {
    if (its_turn_ != nullptr) queue.order.unmake(*std::exchange(its_turn_, nullptr));
}

int posting::write(std::uint32_t n_more_references) noexcept {
    if (its_turn_ != nullptr) flags |= flag_has_extras;
    starts_here_ = must_start_now(op, kind, flags, n_predecessors_);
    slot_->begin_operation(op, queue, flags,
                           (task_out_ != nullptr ? 2 : 1) + (starts_here_ ? 1 : 0) + n_more_references);
    if (starts_here_) slot_->run.now = phase::posted; // until the lane has accepted it
    slot_->op.comm = comm;
    is_written_ = true;
    if (options != nullptr) {
        slot_->extras = {options->callback, options->callback_argument, options->status, its_turn_, 0};
        for_each_predecessor(*options, [&](task& each) { graph::add_predecessor(*slot_, each); });
        if ((flags & flag_has_source) != 0) slot_->source = source_of(options);
    } else if ((flags & flag_has_extras) != 0) {
        slot_->extras = {nullptr, nullptr, nullptr, its_turn_, 0};
    }
    if (begin_ns_ != 0) {
        task_trace* const traced = runtime.trace_if_kept();
        slot_->posted_ns = begin_ns_;
        slot_->trace_id = trace_id_ = traced != nullptr ? traced->records().new_id() : 0;
    }
    if (kind.computes) slot_->modes = modes_of_this_thread();
    // Moves the request of an attach into the slot. After a successful post the caller's variable
    // is MPI_REQUEST_NULL.
    static_assert(sizeof(MPI_Request) <= sizeof slot_->mpi_status);
    if (kind.takes_request) std::memcpy(slot_->mpi_status, op.result, sizeof(MPI_Request));
    return must_keep(*slot_, kind) ? keep_arguments(runtime, *slot_) : static_cast<int>(COMMTASK_OK);
}

int posting::hand_over() noexcept {
    lane& to = *queue.served_by;
    const auto take_turn = [](task& which) noexcept { which.queue->order.take(*which.extras.its_turn); };
    if (may_wait()) {
        if (its_turn_ != nullptr) queue.order.take(*its_turn_);
        to.post(*slot_);
    } else if (!to.try_post(*slot_, its_turn_ != nullptr ? +take_turn : nullptr)) {
        return refuse(COMMTASK_AGAIN, "the queue is full");
    }
    was_posted(is_in_common_order(kind, flags));
    return COMMTASK_OK;
}

void posting::was_posted(bool is_ordered) noexcept {
    task* const posted = std::exchange(slot_, nullptr);
    if (starts_here_) start_now(*queue.served_by, *posted);
    if (kind.takes_request) *static_cast<MPI_Request*>(op.result) = MPI_REQUEST_NULL;
    if (task_out_ != nullptr) *task_out_ = static_cast<commtask_t>(posted);
    if (begin_ns_ != 0) tell_observers(is_ordered);
}

void posting::tell_observers(bool is_ordered) noexcept {
    if (statistics* const counted = runtime.statistics_if_kept(*queue.served_by))
        counted->add_post(now_ns() - begin_ns_);
    if (trace_id_ == 0) return;
    task_trace& traced = *runtime.trace_if_kept();
    unsigned said = 0;
    if ((flags & flag_is_call) != 0) said |= trace::posted_by_interposer;
    if ((flags & flag_has_handler) != 0) said |= trace::posted_with_handler;
    if (is_ordered) said |= trace::posted_in_order;
    const bool has_predecessors = options != nullptr && options->n_after + options->n_events > 0;
    if (has_predecessors) said |= trace::posted_after_others;
    traced.posted(trace_id_, op, queue, said, begin_ns_);
    if (!has_predecessors) return;
    for_each_predecessor(*options, [&](const task& each) { traced.waits_for(trace_id_, each.trace_id); });
}

} // namespace commtask::detail
