// SPDX-License-Identifier: Apache-2.0
//
// With MPI_THREAD_MULTIPLE the submitter itself keeps references to handles. With a lower thread
// level the submitter may not call MPI, but then no other thread may free a handle either. The lane
// keeps the handles of a task that must wait when it accepts the task: functions that run later on
// the lane's thread may free them.
#include "api/keeping.hpp"

#include "base/last_error.hpp"
#include "core/operation_traits.hpp"
#include "core/task_pool.hpp"
#include "mpi/kept_lists.hpp"

#include <commtask/frontend.h>

#include <cstddef>

namespace commtask::detail {

int keep_arguments(context& runtime, task& made) noexcept {
    const std::size_t n_types = kept_handles::count_types(made.op, *made.queue);
    if (!keep_lists(made, n_types, runtime.settings().check != 0)) {
        return refuse(COMMTASK_ERR_NO_MEMORY, "no memory for  the lists of an operation");
    }
    made.n_kept_types = static_cast<std::uint32_t>(n_types);
    if (runtime.may_call_mpi()) {
        runtime.handles().keep(made);
        if (made.kept != 0) made.op.reserved |= static_cast<int>(flag_keeps);
    } else {
        made.kept = 0;
        made.op.reserved |= static_cast<int>(flag_keeps_at_accept);
    }
    return COMMTASK_OK;
}

void start_now(lane& to, task& posted) noexcept {
    // The wait is limited, since the worker may be in a function of the program that needs a lock
    // of this thread. If another thread occupies the worker's core, the worker needs some tens of
    // milliseconds to release the progress lock.
    constexpr std::uint64_t longest_wait_ns = 1'000'000'000;
    to.start_posted(posted, now_ns() + longest_wait_ns);
    task_pool::drop(&posted);
}

} // namespace commtask::detail

using namespace commtask::detail;

commtask_retained_t commtask_frontend_retain(commtask_op* operation) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr || operation == nullptr || operation->comm == MPI_COMM_NULL) return nullptr;
    const operation_traits& kind = operation_of(operation->kind);
    int code = COMMTASK_OK;
    comm_queue* const queue = runtime->queue_of(operation->comm, code);
    // If so, a post is refused with an error message.
    if (queue == nullptr || kind.family == operation_family::custom) return nullptr;
    if (!has_lists(kind) && !(may_have_handles(*operation, *queue) && runtime->may_call_mpi())) return nullptr;
    task* const holder = task_pool::acquire();
    if (holder == nullptr) return nullptr;
    holder->begin_operation(*operation, *queue, 0, 1);
    if (keep_arguments(*runtime, *holder) != COMMTASK_OK) {
        task_pool::release(holder);
        return nullptr;
    }
    *operation = holder->op;
    operation->reserved = 0;
    return static_cast<commtask_t>(holder);
}

void commtask_frontend_release(commtask_retained_t kept) noexcept {
    if (kept == nullptr) return;
    context* const runtime = context::current();
    if (runtime != nullptr) runtime->handles().let_go(*kept);
    task_pool::release(kept);
}
