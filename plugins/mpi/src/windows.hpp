// SPDX-License-Identifier: Apache-2.0
//
// The program's windows. Accesses of other ranks to a window may need progress of this rank while
// its threads compute: the worker makes progress for them from the creation of a window until it is
// freed. A request-based operation becomes a task only if MPI is certain to accept it: in a
// passive-target epoch, and to a rank of the window. The window's error handler must not be a
// function of the program, since the worker would run it. All other calls go directly to MPI on the
// calling thread.
#pragma once

#include "post.hpp"

#include <mpi.h>

namespace commtask::interposer {
namespace windows {

// Any thread may call these functions.

void add(MPI_Win made);
/// @return whether the window was in the list
bool remove(MPI_Win freed);
/// Called when the program has opened or ended a passive-target epoch for a rank.
void record_lock(MPI_Win window, int rank);
void record_unlock(MPI_Win window, int rank);
/// For all ranks.
void record_lock_all(MPI_Win window);
void record_unlock_all(MPI_Win window);
void record_handler(MPI_Win window, MPI_Errhandler handler);

/// Whether the window is in the list.
[[nodiscard]] bool is_known(MPI_Win window);
/// Whether MPI is certain to accept this operation.
[[nodiscard]] bool is_good(const commtask_op& op);

} // namespace windows

/// The wrappers of MPI_Win_create and similar functions.
template <typename Section, typename Make>
int make_window(const MPI_Win* window, Make&& make) {
    const int code = inside<Section>(make);
    if (code == MPI_SUCCESS && window != nullptr) windows::add(*window);
    return code;
}

/// The wrapper of MPI_Win_free. The window is removed from the list before MPI can reuse its
/// handle.
template <typename Section, typename Free>
int free_window(const MPI_Win* window, Free&& free) {
    const MPI_Win freed = window == nullptr ? MPI_WIN_NULL : *window;
    const bool was_known = windows::remove(freed);
    const int code = inside<Section>(free);
    if (code != MPI_SUCCESS && was_known) windows::add(freed);
    return code;
}

/// The wrappers of MPI_Rput and similar functions.
/// @param is_expressible  whether the operation describes the call completely
inline int post_on_window(commtask_op op, bool is_expressible, MPI_Request* request, native_call native) {
    op.comm = MPI_COMM_WORLD; // a placeholder: its order and its ranks do not matter
    if (is_expressible && windows::is_good(op)) return post(op, request, native);
    return inside<progress_section>([&] { return native(request); });
}

} // namespace commtask::interposer
