// SPDX-License-Identifier: Apache-2.0
//
// Files of the program. Nonblocking calls are tasks where they are right for sure: MPI finds a wrong mode, offset or number of
// bytes at the call, so what it looks at is kept here. Collective ones are MPI's own: MPICH makes them of collectives on one
// communicator of the file, begun when somebody asks for that request, and a worker that asks meets the program's next call on the
// file elsewhere on each rank. Other calls come after what was posted has been issued, and see the position that it left.
#pragma once

#include "post.hpp"

#include <mpi.h>

namespace commtask::interposer {
namespace files {

// All: any thread.

void add(MPI_File opened, int mode);
void remove(MPI_File closed);
/// An element of the file's view is such a type now.
void note_view(MPI_File file, MPI_Datatype element);
/// MPI_FILE_NULL: of files that are opened from now on.
void note_handler(MPI_File file, MPI_Errhandler handler);

[[nodiscard]] bool is_known(MPI_File file);
/// Waits for what the program has started on the file and nobody waits for. The caller is in no section.
void end_tasks(MPI_File file);
/// Whether MPI takes this operation for sure.
[[nodiscard]] bool is_good(const commtask_op& op);

} // namespace files

/// The wrapper of MPI_File_open.
template <typename Section, typename Open>
int open_file(const MPI_File* file, int mode, Open&& open) {
    const int code = inside<Section>(open);
    if (code == MPI_SUCCESS && file != nullptr) files::add(*file, mode);
    return code;
}

/// The wrapper of MPI_File_close. MPI wants the file's requests completed by then: those that are tasks are, so that nothing is
/// lost if the program comes to wait for them later. The handle is forgotten before MPI can give it out again.
template <typename Section, typename Close>
int close_file(const MPI_File* file, Close&& close) {
    const MPI_File closed = file == nullptr ? MPI_FILE_NULL : *file;
    if (!passes_through()) files::end_tasks(closed);
    files::remove(closed);
    return inside<Section>(close);
}

/// The wrappers of MPI_File_iread and its like.
template <typename Native>
int post_on_file(const commtask_op& op, MPI_Request* request, Native&& native) {
    if (files::is_good(op)) return post(op, request, native);
    return inside<progress_section>([&] { return native(request); });
}

} // namespace commtask::interposer
