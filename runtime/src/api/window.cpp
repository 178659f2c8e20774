// SPDX-License-Identifier: Apache-2.0
//
// Registering a window needs two collective tasks: a duplicate of the communicator, and an
// allgather of each rank's part of the window, or of its error code. No collective call runs on the
// worker directly, so that a late rank does not block another rank's worker inside MPI.
#include "api/context.hpp"
#include "api/post_window.hpp"
#include "api/run_in_progress_call.hpp"
#include "base/last_error.hpp"
#include "core/operation_traits.hpp"
#include "mpi/groups.hpp"
#include "mpi/one_sided.hpp"

#include <commtask/commtask.h>

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <vector>

namespace commtask::detail {
namespace {

/// A rank's contribution to the allgather.
struct registration {
    std::int64_t code = COMMTASK_OK;
    std::int64_t has_epochs = 0;
    window_part part;
};

[[nodiscard]] int run_task(const commtask_op& op) noexcept {
    commtask_t task = COMMTASK_NULL;
    if (const int code = commtask_post_operation(&op, nullptr, &task); code != COMMTASK_OK) return code;
    return commtask_wait(&task, nullptr);
}

[[nodiscard]] int code_of(int mpi_code) noexcept {
    int error_class = MPI_SUCCESS;
    MPI_Error_class(mpi_code, &error_class);
    return error_class == MPI_ERR_COMM ? COMMTASK_ERR_COMM : COMMTASK_ERR_WINDOW;
}

/// On a progress thread: opens this rank's part of the window, and the library's epoch.
[[nodiscard]] registration open(mpi_windows& windows, served_window& made, std::string& why) noexcept {
    registration mine;
    try {
        const int mpi_code = windows.open(made, mine.part, why);
        if (mpi_code == MPI_SUCCESS) return mine;
        mine.code = code_of(mpi_code);
        if (!why.empty()) return mine;
        std::array<char, MPI_MAX_ERROR_STRING> text{};
        int length = 0;
        MPI_Error_string(mpi_code, text.data(), &length);
        why = std::string{"the window cannot be registered: "} + text.data();
    } catch (const std::bad_alloc&) {
        mine.code = COMMTASK_ERR_NO_MEMORY;
    }
    return mine;
}

/// Has a progress thread open this rank's part of the window. @return COMMTASK_OK: `mine` has the
/// result
[[nodiscard]] int open_part(context& runtime, served_window& made, bool has_epochs, registration& mine, int& n_ranks,
                            std::string& why) noexcept {
    return run_in_progress_call([&] {
        MPI_Comm_size(made.channel, &n_ranks);
        try {
            if (has_epochs) {
                made.epochs = std::make_unique<served_window::own_epochs>(
                    runtime.lanes(),
                    [cpus = runtime.placement().compute_cpus] { static_cast<void>(set_thread_cpus(cpus)); },
                    runtime.stack_bytes());
            }
            mine = open(runtime.windows(), made, why);
        } catch (const std::exception&) { // no thread or no memory: the other ranks must know
            mine.code = COMMTASK_ERR_NO_MEMORY;
        }
        mine.has_epochs = has_epochs ? 1 : 0;
        if (made.name.empty())
            made.name = "a window of " + std::to_string(n_ranks) + (n_ranks == 1 ? " rank" : " ranks");
        MPI_Comm_set_name(made.channel, made.name.c_str());
    });
}

/// @throws std::bad_alloc
[[nodiscard]] int register_on(context& runtime, MPI_Win window, MPI_Comm comm, bool has_epochs) {
    int known = COMMTASK_OK;
    const comm_queue* const queue = runtime.queue_of(comm, known);
    if (queue == nullptr) return known;
    // On an intercommunicator, the allgather below would give the values of the remote ranks, so
    // all ranks of both groups are refused.
    if (queue->is_intercommunicator)
        return refuse(COMMTASK_ERR_COMM, "comm is an intercommunicator, and a window has one group");
    const auto made = std::make_shared<served_window>();
    made->handle = window;
    if (const int code = run_task(commtask_op_comm_dup(&made->channel, comm)); code != COMMTASK_OK) {
        return code == COMMTASK_FAILED ? refuse(COMMTASK_ERR_COMM, "comm cannot be duplicated for the window") : code;
    }
    std::string why;
    registration mine;
    int n_ranks = 0;
    int code = open_part(runtime, *made, has_epochs, mine, n_ranks, why);
    if (code != COMMTASK_OK) return code;
    std::vector<registration> all(static_cast<std::size_t>(n_ranks));
    constexpr MPI_Count words = sizeof(registration) / sizeof(std::int64_t);
    code = run_task(commtask_op_allgather(&mine, words, MPI_INT64_T, all.data(), words, MPI_INT64_T, made->channel));
    int refused = code == COMMTASK_OK ? -1 : 0;
    int differs = -1;
    for (int rank = n_ranks; rank > 0 && code == COMMTASK_OK; --rank) {
        if (all[static_cast<std::size_t>(rank - 1)].code != COMMTASK_OK) refused = rank - 1;
        if (all[static_cast<std::size_t>(rank - 1)].has_epochs != all.front().has_epochs) differs = rank - 1;
    }
    for (const registration& each : all) made->parts.push_back(each.part);
    if (refused < 0 && differs < 0 && runtime.windows().add(made)) {
        if (made->has_others()) runtime.lanes()[0].count_windows(1);
        return COMMTASK_OK;
    }
    const bool lacks_memory = refused < 0 && differs < 0;
    static_cast<void>(run_in_progress_call([&] {
        if (mine.code == COMMTASK_OK) static_cast<void>(runtime.windows().close(*made));
        MPI_Comm_free(&made->channel);
    }));
    if (code != COMMTASK_OK) return refuse(COMMTASK_ERR_WINDOW, "the allgather of the ranks of the window failed");
    if (lacks_memory) return refuse(COMMTASK_ERR_NO_MEMORY, "no memory for  the window");
    if (refused < 0) {
        return refuse(COMMTASK_ERR_WINDOW,
                      "ranks 0 and %d called different functions: one called commtask_win_register, the other "
                      "commtask_win_register_epochs",
                      differs);
    }
    if (mine.code == COMMTASK_OK) {
        return refuse(COMMTASK_ERR_WINDOW, "rank %d could not register the window: %s", refused,
                      commtask_error_string(static_cast<int>(all[static_cast<std::size_t>(refused)].code)));
    }
    return refuse(static_cast<int>(mine.code), "%s", why.empty() ? "no memory for  the window" : why.c_str());
}

/// The queue whose tasks are counted; set by the progress thread during one count.
thread_local const comm_queue* counted_queue = nullptr;

[[nodiscard]] std::size_t count_tasks(const comm_queue& queue) noexcept {
    std::size_t found = 0;
    static_cast<void>(run_in_progress_call([&] {
        counted_queue = &queue;
        found = queue.served_by->incomplete.count([](const task& which) { return which.queue == counted_queue; }).all;
    }));
    return found;
}

} // namespace

} // namespace commtask::detail

using namespace commtask::detail;

namespace {

[[nodiscard]] int register_window(MPI_Win window, MPI_Comm comm, bool has_epochs) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (has_epochs && runtime->thread_level() < MPI_THREAD_MULTIPLE) {
        return refuse(COMMTASK_ERR_THREAD_LEVEL,
                      "commtask_win_register_epochs needs MPI_THREAD_MULTIPLE, since a thread waits in MPI while the "
                      "worker calls MPI: request it in MPI_Init_thread");
    }
    if (window == MPI_WIN_NULL) return refuse(COMMTASK_ERR_WINDOW, "window is MPI_WIN_NULL");
    if (comm == MPI_COMM_NULL) return refuse(COMMTASK_ERR_COMM, "comm is MPI_COMM_NULL");
    if (runtime->windows().find(window) != nullptr) return refuse(COMMTASK_ERR_WINDOW, "window is registered already");
    if (!may_wait()) {
        return refuse(COMMTASK_ERR_WORKER_THREAD,
                      "registering a window waits for other ranks, and was called in a callback");
    }
    const pause_recording scope;
    try {
        return register_on(*runtime, window, comm, has_epochs);
    } catch (const std::system_error&) {
        return refuse(COMMTASK_ERR_NO_MEMORY, "cannot start a thread for the window");
    } catch (const std::bad_alloc&) {
        return refuse(COMMTASK_ERR_NO_MEMORY, "no memory for  the window");
    }
}

} // namespace

int commtask_win_register(MPI_Win window, MPI_Comm comm) noexcept { return register_window(window, comm, false); }

int commtask_win_register_epochs(MPI_Win window, MPI_Comm comm) noexcept { return register_window(window, comm, true); }

int commtask_win_unregister(MPI_Win window) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    const auto opened = runtime->windows().find(window);
    if (opened == nullptr) return refuse_unregistered();
    if (!may_wait()) {
        return refuse(COMMTASK_ERR_WORKER_THREAD,
                      "commtask_win_unregister waits for other ranks, and was called in a callback");
    }
    const pause_recording scope;
    int code = COMMTASK_OK;
    comm_queue* const queue = runtime->queue_of(opened->channel, code);
    if (queue == nullptr) return code;
    if (const std::size_t n_tasks = count_tasks(*queue); n_tasks > 0) {
        return refuse(COMMTASK_ERR_RUNNING, "%zu tasks of %s have not ended: wait for them first", n_tasks,
                      opened->name.c_str());
    }
    if (opened->epochs) {
        if (const char* const missing = opened->epochs->log.missing_operation()) {
            return refuse(COMMTASK_ERR_WINDOW, "an epoch of %s is open: post %s first", opened->name.c_str(), missing);
        }
    }
    // Every operation reaches its target while all ranks still make passive-target progress. After
    // the barrier no rank needs another to end the epoch.
    if (!opened->epochs) code = run_task(commtask_op_flush_all(window));
    const int code_of_barrier = run_task(commtask_op_barrier(opened->channel));
    if (code == COMMTASK_OK) code = code_of_barrier;
    int mpi_code = MPI_SUCCESS;
    runtime->windows().remove(window);
    lane& first_lane = runtime->lanes()[0];
    const int code_of_control_task = run_in_progress_call([&] {
        MPI_Comm channel = opened->channel;
        mpi_code = runtime->windows().close(*opened);
        MPI_Comm_free(&channel);
        // Called by the progress thread. If the caller's thread ran it, the worker might still be
        // inside MPI when the caller continues and calls MPI.
        if (opened->has_others()) first_lane.count_windows(-1);
    });
    // The control task has not run.
    if (code_of_control_task != COMMTASK_OK && opened->has_others()) first_lane.count_windows(-1);
    if (code == COMMTASK_OK) code = code_of_control_task;
    if (code == COMMTASK_OK && mpi_code == MPI_SUCCESS) return COMMTASK_OK;
    return refuse(COMMTASK_FAILED, "MPI could not end the epoch of %s", opened->name.c_str());
}
