// SPDX-License-Identifier: Apache-2.0
//
// One request: wait, test, query, cancel, free. Native requests are tested repeatedly instead of
// waited for, so that another thread can complete a generalized request concurrently.
#include "core/operation_traits.hpp"
#include "own.hpp"
#include "polled.hpp"
#include "requests.hpp"
#include "sections.hpp"
#include "status.hpp"

namespace commtask::interposer {
namespace {

void poll_task(commtask_t asked) {
    poll_once([&] { return has_ended(asked); }, [&](auto&& poll) { poll(*asked); });
}

} // namespace

int own_MPI_Wait(MPI_Request* request, MPI_Status* status) {
    const tracked_request of = request == nullptr ? tracked_request{} : tracked(*request);
    if (of.task != COMMTASK_NULL) {
        wait_for_tasks([&] { return has_ended(of.task); });
        let_go(of, *request);
        return finish_one(of.task, status);
    }
    const polled::among completed{1, request};
    if (goes_to_mpi() || request == nullptr) return commtask_real_MPI_Wait(request, status);
    if (*request == MPI_REQUEST_NULL) {
        copy_but_error(current.empty_status, status);
        return MPI_SUCCESS;
    }
    int code = MPI_SUCCESS;
    poll_until([&] {
        int has_come = 0;
        code = commtask_real_MPI_Test(request, &has_come, status);
        return code != MPI_SUCCESS || has_come != 0;
    });
    return code;
}

int own_MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    const tracked_request of = request == nullptr ? tracked_request{} : tracked(*request);
    if (of.task == COMMTASK_NULL || flag == nullptr) {
        const polled::among completed{1, request};
        if (goes_to_mpi()) return commtask_real_MPI_Test(request, flag, status);
        return inside<progress_section>([&] { return commtask_real_MPI_Test(request, flag, status); });
    }
    poll_task(of.task);
    *flag = has_ended(of.task) ? 1 : 0;
    if (*flag == 0) return MPI_SUCCESS;
    let_go(of, *request);
    return finish_one(of.task, status);
}

int own_MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
    const tracked_request of = tracked(request);
    if (of.task == COMMTASK_NULL || flag == nullptr) {
        return inside<progress_section>([&] { return commtask_real_MPI_Request_get_status(request, flag, status); });
    }
    poll_task(of.task);
    *flag = has_ended(of.task) ? 1 : 0;
    if (*flag == 0) return MPI_SUCCESS;
    write_status(*of.task, status);
    const int error = error_of(*of.task);
    return error == MPI_SUCCESS ? MPI_SUCCESS : raise(owner_of_one_of_several(*of.task), error);
}

int own_MPI_Cancel(MPI_Request* request) {
    const tracked_request of = request == nullptr ? tracked_request{} : tracked(*request);
    if (of.holder == nullptr || of.task == COMMTASK_NULL) {
        const progress_section section;
        // A persistent request that has ended is inactive for MPI, and still active for the
        // program.
        if (of.task != COMMTASK_NULL && has_ended(of.task)) return MPI_SUCCESS;
        return commtask_real_MPI_Cancel(request);
    }
    // MPI's guarantee is about started operations, so a posted operation is issued first.
    const progress_section issues_posted;
    commtask_cancel(of.task);
    if (has_lock(active_lanes())) of.task->queue->served_by->engine.accept_and_start();
    return MPI_SUCCESS;
}

int own_MPI_Request_free(MPI_Request* request) {
    const tracked_request of = request == nullptr ? tracked_request{} : tracked(*request);
    if (of.holder != nullptr && of.task != COMMTASK_NULL) {
        if (detail::operation_of(of.task->op.kind).takes_message || of.holder->arrays != nullptr) {
            const progress_section issue_it; // the slot keeps the arguments until then
        }
        detail::task_pool::drop(of.task);
        let_go(of, *request);
        return MPI_SUCCESS;
    }
    persistent* const kept = request == nullptr || *request == MPI_REQUEST_NULL ? nullptr : persistents::find(*request);
    if (kept != nullptr) {
        *request = MPI_REQUEST_NULL;
        return persistents::free(kept);
    }
    const polled::among completed{1, request};
    return inside<progress_section>([&] { return commtask_real_MPI_Request_free(request); });
}

#if MPI_VERSION >= 4
int own_MPI_Parrived(MPI_Request request, int partition, int* flag) {
    const tracked_request of = tracked(request);
    if (of.task != COMMTASK_NULL) poll_task(of.task);
    const progress_section section; // in this section the task does not end
    if (of.task == COMMTASK_NULL || !has_ended(of.task) || flag == nullptr) {
        return commtask_real_MPI_Parrived(request, partition, flag);
    }
    *flag = 1; // for MPI the request is already inactive
    return MPI_SUCCESS;
}
#endif

} // namespace commtask::interposer
