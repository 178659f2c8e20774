// SPDX-License-Identifier: Apache-2.0
//
// Persistent requests keep MPI's own handle, so every query of an inactive request goes to MPI.
// MPI_Start posts a task that starts the request. Until the task ends, waits and tests of the
// handle apply to the task.
#pragma once

#include "sections.hpp"

#include <commtask/commtask.h>

#include <atomic>

namespace commtask::interposer {

struct start_set;

/// A persistent request of the program.
struct persistent {
    MPI_Request request;
    MPI_Comm comm;
    bool is_send = false; ///< The status says only whether it was canceled.
    /// Null while the request is inactive. Threads of the program use one request one at a time.
    commtask_t task = COMMTASK_NULL;
    /// The last start completed the request at once. Written by the progress thread, read after the
    /// task has ended.
    bool ended_at_start = false;
    MPI_Status status_at_start{}; ///< Its status, if ended_at_start.
    bool is_orphan = false;       ///< Its communicator was freed.
    /// The handler of the freed communicator, with a reference; null: MPI_COMM_WORLD's.
    MPI_Errhandler of_freed = MPI_ERRHANDLER_NULL;
    start_set* set = nullptr; ///< Started together by the last MPI_Startall; null: none.
};

namespace persistents {

/// Number of persistent requests. If it is zero, no list is searched.
inline std::atomic<int> count{0};

/// Any thread.
/// @return null if the request is not in the list
[[nodiscard]] persistent* find_listed(MPI_Request request) noexcept;
[[nodiscard]] inline persistent* find(MPI_Request request) noexcept {
    return count.load(std::memory_order_relaxed) == 0 ? nullptr : find_listed(request);
}

void add(MPI_Comm comm, MPI_Request request, bool is_send);
/// Called when the program frees this communicator, whose persistent requests remain. Their starts
/// are queued on another communicator, since this handle becomes invalid and may soon name a
/// different communicator. The caller must be allowed to call MPI.
void outlive(MPI_Comm comm);
/// The operation that starts the request.
[[nodiscard]] commtask_op start_operation(persistent& which) noexcept;
/// Called when the program has freed the request. MPI's request is freed when no task needs it.
[[nodiscard]] int free(persistent* which);

} // namespace persistents

/// The wrappers of MPI_..._init.
template <typename Section, typename Make>
int make_persistent(MPI_Comm comm, bool is_send, const MPI_Request* request, Make&& make) {
    const int code = inside<Section>(make);
    if (code == MPI_SUCCESS && request != nullptr && *request != MPI_REQUEST_NULL) {
        persistents::add(comm, *request, is_send);
    }
    return code;
}

} // namespace commtask::interposer
