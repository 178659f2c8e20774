// SPDX-License-Identifier: Apache-2.0
//
// Files of the program. A nonblocking call becomes a task only if MPI is certain to accept it. MPI
// reports a wrong mode, offset or number of bytes at the call, so this module records the
// properties that MPI checks. Other calls are made after all posted operations have been issued,
// and see the file position after these.
//
// Collective calls go directly to MPI. MPICH implements them by collectives on one communicator of
// the file, which begin when the request itself is tested. A worker that tests the request would
// begin them, on each rank, at a different point relative to the program's next call on the file.
#pragma once

#include "post.hpp"

#include <mpi.h>

namespace commtask::interposer {
namespace files {

// Any thread may call these functions.

void add(MPI_File opened, int mode);
void remove(MPI_File closed);
/// Records that the file's view now has elements of this type.
void record_view(MPI_File file, MPI_Datatype element);
/// @param file  MPI_FILE_NULL: for files that are opened from here on.
void record_handler(MPI_File file, MPI_Errhandler handler);

[[nodiscard]] bool is_known(MPI_File file);
/// Waits until all tasks on the file have ended, including those that the program does not wait
/// for. The caller must be in no section.
void end_tasks(MPI_File file);
/// Whether MPI is certain to accept this operation.
[[nodiscard]] bool is_good(const commtask_op& op);

} // namespace files

/// The wrapper of MPI_File_open.
template <typename Section, typename Open>
int open_file(const MPI_File* file, int mode, Open&& open) {
    const int code = inside<Section>(open);
    if (code == MPI_SUCCESS && file != nullptr) files::add(*file, mode);
    return code;
}

/// The wrapper of MPI_File_close. MPI requires that the file's requests are complete. Requests that
/// are tasks are completed here, so that the program may wait for them later. The handle is removed
/// from the list before MPI can reuse it.
template <typename Section, typename Close>
int close_file(const MPI_File* file, Close&& close) {
    const MPI_File closed = file == nullptr ? MPI_FILE_NULL : *file;
    if (!goes_to_mpi()) files::end_tasks(closed);
    files::remove(closed);
    return inside<Section>(close);
}

/// The wrappers of MPI_File_iread and similar functions.
inline int post_on_file(const commtask_op& op, MPI_Request* request, native_call native) {
    if (files::is_good(op)) return post(op, request, native);
    return inside<progress_section>([&] { return native(request); });
}

} // namespace commtask::interposer
