// SPDX-License-Identifier: Apache-2.0
//
// Windows of the program. What other ranks do to one may need this rank to make progress, whatever its threads compute: the
// worker is attentive from when a window is made until it is freed. Request-based operations are tasks where they are right
// for sure: in a passive epoch, towards a rank of the window, and with errors that reach no function of the program's, which
// the worker would run. Everything else is MPI's own call where the program made it.
#pragma once

#include "post.hpp"

#include <mpi.h>

namespace commtask::interposer {
namespace windows {

// All: any thread.

void add(MPI_Win made);
/// @return whether add() had seen it
bool remove(MPI_Win freed);
/// The program has opened or ended a passive epoch towards a rank.
void note_lock(MPI_Win window, int rank);
void note_unlock(MPI_Win window, int rank);
/// Towards all ranks.
void note_lock_all(MPI_Win window);
void note_unlock_all(MPI_Win window);
void note_handler(MPI_Win window, MPI_Errhandler handler);

/// Whether add() has seen it.
[[nodiscard]] bool is_known(MPI_Win window);
/// Whether MPI takes this operation for sure.
[[nodiscard]] bool is_good(const commtask_op& op);

} // namespace windows

/// The wrappers of MPI_Win_create and its like.
template <typename Section, typename Make>
int make_window(const MPI_Win* window, Make&& make) {
    const int code = inside<Section>(make);
    if (code == MPI_SUCCESS && window != nullptr) windows::add(*window);
    return code;
}

/// The wrapper of MPI_Win_free. The handle is forgotten before MPI can give it out again.
template <typename Section, typename Free>
int free_window(const MPI_Win* window, Free&& free) {
    const MPI_Win freed = window == nullptr ? MPI_WIN_NULL : *window;
    const bool was_known = windows::remove(freed);
    const int code = inside<Section>(free);
    if (code != MPI_SUCCESS && was_known) windows::add(freed);
    return code;
}

/// The wrappers of MPI_Rput and its like.
/// @param is_expressible  whether the operation says all that the call does
template <typename Native>
int post_on_window(commtask_op op, bool is_expressible, MPI_Request* request, Native&& native) {
    op.comm = MPI_COMM_WORLD; // whose order does not matter for them, and whose ranks these are not
    if (is_expressible && windows::is_good(op)) return post(op, request, native);
    return inside<progress_section>([&] { return native(request); });
}

} // namespace commtask::interposer
