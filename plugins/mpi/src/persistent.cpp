// SPDX-License-Identifier: Apache-2.0
//
// The list of persistent requests, and the functions that start and free them. A request that is
// freed while active remains until its task has ended; a successor of the task then frees the
// request in MPI.
#include "persistent.hpp"

#include "core/task_pool.hpp"
#include "errors.hpp"
#include "handles.hpp"
#include "own.hpp"
#include "start_sets.hpp"
#include "status.hpp"

#include <memory>
#include <mutex>
#include <unordered_map>

namespace commtask::interposer {
namespace persistents {
namespace {

struct table {
    std::mutex mutex;
    std::unordered_map<MPI_Request, std::unique_ptr<persistent>> entries;
};
table& all() {
    static table* const made = new table; // never destroyed: calls may come during exit
    return *made;
}

} // namespace

persistent* find_listed(MPI_Request request) noexcept {
    table& known = all();
    const std::lock_guard guard{known.mutex};
    const auto found = known.entries.find(request);
    return found == known.entries.end() ? nullptr : found->second.get();
}

void add(MPI_Comm comm, MPI_Request request, bool is_send) {
    table& known = all();
    const std::lock_guard guard{known.mutex};
    known.entries[request] =
        std::make_unique<persistent>(persistent{.request = request, .comm = comm, .is_send = is_send});
    count.store(static_cast<int>(known.entries.size()), std::memory_order_relaxed);
}

void outlive(MPI_Comm comm) {
    if (count.load(std::memory_order_relaxed) == 0) return;
    table& known = all();
    const std::lock_guard guard{known.mutex};
    for (const auto& [request, each] : known.entries) {
        if (each->comm != comm || each->is_orphan) continue;
        each->of_freed = own_handler(comm);
        each->comm = MPI_COMM_WORLD;
        each->is_orphan = true;
    }
}

commtask_op start_operation(persistent& which) noexcept {
    const auto start = [](MPI_Request* started, void* argument) -> int {
        auto* const of = static_cast<persistent*>(argument);
        *started = MPI_REQUEST_NULL;
        of->ended_at_start = false;
        if (const int code = commtask_real_MPI_Start(&of->request); code != MPI_SUCCESS) return code;
        // A request to or from MPI_PROC_NULL is inactive now. A test of an array would never report
        // that it has ended.
        int has_come = 0;
        const int code = commtask_real_MPI_Test(&of->request, &has_come, &of->status_at_start);
        of->ended_at_start = has_come != 0;
        if (has_come == 0) *started = of->request;
        return code;
    };
    commtask_op op = commtask_op_start(+start, &which, which.comm);
    op.reserved = detail::flag_is_call;
    return op;
}

int free(persistent* which) {
    start_sets::leave(*which);
    commtask_t task = which->task;
    MPI_Request request = which->request;
    std::unique_ptr<persistent> taken;
    {
        table& known = all();
        const std::lock_guard guard{known.mutex};
        const auto found = known.entries.find(request);
        taken = std::move(found->second);
        known.entries.erase(found);
        count.store(static_cast<int>(known.entries.size()), std::memory_order_relaxed);
    }
    if (task == COMMTASK_NULL) {
        return inside<progress_section>([&] {
            release_handler(taken->of_freed);
            return commtask_real_MPI_Request_free(&request);
        });
    }
    // A successor task frees the request. No thread waits for either task.
    const auto give_back = [](void* argument) -> int {
        const std::unique_ptr<persistent> last{static_cast<persistent*>(argument)};
        release_handler(last->of_freed);
        return commtask_real_MPI_Request_free(&last->request);
    };
    commtask_options options = COMMTASK_OPTIONS_INIT;
    options.flags = COMMTASK_RUN_AFTER_FAILURE;
    options.after = &task;
    options.n_after = 1;
    commtask_op op = commtask_op_call(+give_back, taken.get(), MPI_COMM_WORLD);
    op.reserved = detail::flag_is_call;
    // if memory is exhausted the request leaks
    static_cast<void>(commtask_post_operation(&op, &options, nullptr));
    [[maybe_unused]] const persistent* const is_the_tasks = taken.release();
    detail::task_pool::drop(task);
    return MPI_SUCCESS;
}

} // namespace persistents

namespace {

/// Posts the task of one request.
/// @return false: MPI itself must start the request, or report the error
[[nodiscard]] bool start_one(MPI_Request request) {
    persistent* const which = goes_to_mpi() ? nullptr : persistents::find(request);
    if (which == nullptr || which->task != COMMTASK_NULL) return false;
    const commtask_op op = persistents::start_operation(*which);
    return commtask_post_operation(&op, nullptr, &which->task) == COMMTASK_OK;
}

} // namespace

int own_MPI_Start(MPI_Request* request) {
    if (request != nullptr && start_one(*request)) return MPI_SUCCESS;
    return inside<progress_section>([&] { return commtask_real_MPI_Start(request); });
}

int own_MPI_Startall(int count, MPI_Request* requests) {
    if (requests == nullptr || count < 0) {
        return inside<progress_section>([&] { return commtask_real_MPI_Startall(count, requests); });
    }
    if (start_sets::start(count, requests)) return MPI_SUCCESS;
    for (int i = 0; i < count; ++i) {
        if (const int code = own_MPI_Start(&requests[i]); code != MPI_SUCCESS) return code;
    }
    return MPI_SUCCESS;
}

} // namespace commtask::interposer
