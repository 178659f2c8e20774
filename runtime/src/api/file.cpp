// SPDX-License-Identifier: Apache-2.0
//
// MPI does not notify the library when a file is closed. commtask_file_close lets a program find
// tasks that still need the file. The ranks first meet in a barrier that is a task, so that a late
// rank does not block a worker inside MPI.
#include "api/context.hpp"
#include "api/run_in_progress_call.hpp"
#include "base/last_error.hpp"
#include "core/operation_traits.hpp"
#include "core/waiting.hpp"
#include "mpi/one_sided.hpp"
#include "mpi/open_files.hpp"

#include <commtask/commtask.h>

#include <array>
#include <cstddef>

namespace commtask::detail {
namespace {

[[nodiscard]] std::size_t count_open_tasks(lane_set& lanes, MPI_File file) noexcept {
    if (!lanes.acquire_all_locks()) return 1; // the tasks of an abandoned lane cannot be counted
    for (lane& each : lanes) each.engine.accept_and_start();
    const std::size_t found = count_tasks_of(file, lanes);
    lanes.release_all_locks();
    for (lane& each : lanes) leave_to_worker(each);
    return found;
}

[[nodiscard]] bool have_same_ranks(MPI_File file, MPI_Comm comm) noexcept {
    MPI_Group of_file = MPI_GROUP_NULL;
    MPI_Group of_comm = MPI_GROUP_NULL;
    int how = MPI_UNEQUAL;
    int has_two_groups = 0;
    MPI_Comm_test_inter(comm, &has_two_groups);
    if (has_two_groups == 0 && MPI_File_get_group(file, &of_file) == MPI_SUCCESS &&
        MPI_Comm_group(comm, &of_comm) == MPI_SUCCESS) {
        MPI_Group_compare(of_file, of_comm, &how);
    }
    if (of_file != MPI_GROUP_NULL) MPI_Group_free(&of_file);
    if (of_comm != MPI_GROUP_NULL) MPI_Group_free(&of_comm);
    return how != MPI_UNEQUAL;
}

[[nodiscard]] int refuse_closing(int mpi_code) noexcept {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    static_cast<void>(run_in_progress_call([&] { MPI_Error_string(mpi_code, text.data(), &length); }));
    return refuse(COMMTASK_FAILED, "MPI could not close the file: %s", text.data());
}

[[nodiscard]] int close(context& runtime, MPI_File& file, MPI_Comm comm) noexcept {
    int code = commtask_comm_register(comm); // from here on errors on comm are returned
    if (code != COMMTASK_OK) return code;
    bool is_theirs = false;
    code = run_in_progress_call([&] { is_theirs = have_same_ranks(file, comm); });
    if (code != COMMTASK_OK) return code;
    if (!is_theirs) return refuse(COMMTASK_ERR_COMM, "comm has other ranks than the communicator of MPI_File_open");
    if (const std::size_t n_tasks = count_open_tasks(runtime.lanes(), file); n_tasks > 0) {
        return refuse(COMMTASK_ERR_RUNNING, "%zu tasks of the file have not ended: wait for them first", n_tasks);
    }
    const std::size_t n_members = runtime.plans().count_members(
        [&](const plan_member& each) { return operation_of(each.op.kind).takes_file && file_of(each.op) == file; });
    if (n_members > 0) {
        return refuse(COMMTASK_ERR_RUNNING, "plans have %zu members on the file: release them first", n_members);
    }
    commtask_op together = commtask_op_barrier(comm);
    // Always the same lane, whichever thread of a rank calls.
    together.reserved = static_cast<int>(flag_uses_first_lane);
    commtask_t task = COMMTASK_NULL;
    code = commtask_post_operation(&together, nullptr, &task);
    if (code == COMMTASK_OK) code = commtask_wait(&task, nullptr);
    if (code == COMMTASK_FAILED) return refuse(code, "the barrier on comm failed");
    if (code != COMMTASK_OK) return code;
    int mpi_code = MPI_SUCCESS;
    code = run_in_progress_call([&] { mpi_code = MPI_File_close(&file); });
    if (code != COMMTASK_OK) return code;
    return mpi_code == MPI_SUCCESS ? COMMTASK_OK : refuse_closing(mpi_code);
}

} // namespace
} // namespace commtask::detail

using namespace commtask::detail;

int commtask_file_close(MPI_File* file, MPI_Comm comm) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (file == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "file is null: it must be the address of an MPI_File");
    if (*file == MPI_FILE_NULL) return refuse(COMMTASK_ERR_FILE, "file is MPI_FILE_NULL: it was closed already");
    if (comm == MPI_COMM_NULL) return refuse(COMMTASK_ERR_COMM, "comm is MPI_COMM_NULL");
    if (!may_wait()) {
        return refuse(COMMTASK_ERR_WORKER_THREAD,
                      "commtask_file_close waits for other ranks, and was called in a callback");
    }
    const pause_recording scope;
    return close(*runtime, *file, comm);
}
