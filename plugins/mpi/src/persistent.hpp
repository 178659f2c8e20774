// SPDX-License-Identifier: Apache-2.0
//
// Persistent requests keep the MPI's own handle, so that everything that can be asked of an inactive one is asked of MPI.
// MPI_Start posts a task that starts it; while the task is on its way, waits and tests of the handle are of the task.
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
    bool is_send = false;            ///< Its status says nothing but whether it was canceled.
    commtask_t task = COMMTASK_NULL; ///< While it is active; the program's threads take turns on one request.
    bool ended_at_start = false;  ///< Its last start left nothing to test; written by the driver, read after the task.
    MPI_Status status_at_start{}; ///< Then this is how it ended.
    bool is_orphan = false;       ///< Its communicator was freed.
    MPI_Errhandler of_freed =
        MPI_ERRHANDLER_NULL;  ///< Then this was its handler, with a reference of ours; null: MPI_COMM_WORLD's.
    start_set* set = nullptr; ///< What it was started with by the last MPI_Startall; null: nothing.
};

namespace persistents {

/// How many there are; nobody looks for one where there is none.
inline std::atomic<int> count{0};

/// Any thread. @return null if it is none that we know.
[[nodiscard]] persistent* find_listed(MPI_Request request) noexcept;
[[nodiscard]] inline persistent* find(MPI_Request request) noexcept {
    return count.load(std::memory_order_relaxed) == 0 ? nullptr : find_listed(request);
}

void add(MPI_Comm comm, MPI_Request request, bool is_send);
/// The program frees this communicator, whose requests live on: their starts go in the queue of another one, since this one's handle
/// means nothing any more, or soon another communicator. The caller may call MPI.
void outlive(MPI_Comm comm);
/// What starts it.
[[nodiscard]] commtask_op start_operation(persistent& which) noexcept;
/// The program has freed it; the MPI's request is freed when no task needs it.
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
