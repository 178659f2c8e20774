// SPDX-License-Identifier: Apache-2.0
//
// Starts a plan. The members and their communicators were checked when they were recorded. A start
// claims the plan, then writes and posts one task, independent of the number of members.
#include "api/plan_start.hpp"

#include "api/failures.hpp"
#include "api/posting.hpp"
#include "api/record.hpp"
#include "base/last_error.hpp"
#include "core/run_posting.hpp"

namespace commtask::detail {
namespace {

[[nodiscard]] int check_start(const commtask_op& start, const commtask_options* options,
                              const comm_queue& queue) noexcept {
    if (start.result == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "plan is null");
    if (options == nullptr) return COMMTASK_OK;
    if ((options->flags & (COMMTASK_ORDERED | COMMTASK_UNORDERED)) != 0 || ticket_of(options) != nullptr) {
        return refuse(
            COMMTASK_ERR_ARGUMENT,
            "options->flags has an order: the members of a plan have the orders with which they were recorded");
    }
    return check_options(*options, operation_of(start.kind), queue);
}

/// From here on no other thread can start or change the plan.
[[nodiscard]] int claim(plan& started) noexcept {
    switch (started.try_start()) {
    case plan::start_status::is_running: return refuse_running(started);
    case plan::start_status::comm_was_freed:
        return refuse(COMMTASK_ERR_COMM, "a communicator of the plan was freed since the plan was recorded");
    case plan::start_status::no_memory: return refuse(COMMTASK_ERR_NO_MEMORY, "no memory for  the plan's next run");
    case plan::start_status::done: break;
    }
    return COMMTASK_OK;
}

} // namespace

int start_plan(context& runtime, const commtask_op& start, const commtask_options* options, commtask_t* task) noexcept {
    const bool is_call = (static_cast<std::uint32_t>(start.reserved) & flag_is_call) != 0;
    if (is_recording() && !is_call) return refuse(COMMTASK_ERR_ARGUMENT, "a plan cannot be recorded in a plan");
    auto* const started = static_cast<commtask_plan_t>(start.result);
    int code = COMMTASK_OK;
    // An empty plan has no queue.
    comm_queue* const home = started != nullptr ? started->home() : nullptr;
    comm_queue* const queue = // registered with the runtime
        home != nullptr ? home : runtime.queue_of(MPI_COMM_SELF, code);
    if (queue == nullptr) return code;
    if (code = check_start(start, options, *queue); code != COMMTASK_OK) return code;
    if (code = claim(*started); code != COMMTASK_OK) return code;
    posting made{runtime, start, options, *queue, task};
    made.flags |= flag_is_run;
    if (code = made.begin(); code != COMMTASK_OK) {
        started->end_change();
        return code;
    }
    static_cast<void>(made.write(1)); // no arguments are kept; the extra reference is the plan's
    made.slot().modes = modes_of_this_thread();
    started->begin_start(made.slot());
    if (!post_run(made.slot(), made.may_wait())) return refuse(COMMTASK_AGAIN, "the queue is full");
    made.was_posted(false);
    return COMMTASK_OK;
}

} // namespace commtask::detail

using namespace commtask::detail;

int commtask_plan_start(commtask_plan_t plan, const commtask_options* options, commtask_t* task) noexcept {
    context* const runtime = context::current();
    const commtask_op start = commtask_op_plan(plan);
    const int code = runtime == nullptr ? refuse_without_runtime() : start_plan(*runtime, start, options, task);
    return code < COMMTASK_AGAIN ? name_refused(code, &start) : code;
}
