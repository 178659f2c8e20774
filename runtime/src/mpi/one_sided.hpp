// SPDX-License-Identifier: Apache-2.0
//
// How an operation stores a window, a file and a displacement: as values in pointer-sized fields,
// so that the operation needs no further memory. The functions in the public headers copy the
// values byte by byte.
#pragma once

#include <commtask/operation.h>

#include <cstring>

namespace commtask::detail {

[[nodiscard]] inline MPI_Win window_of(const commtask_op& op) noexcept {
    MPI_Win window = MPI_WIN_NULL;
    static_assert(sizeof window <= sizeof op.result);
    std::memcpy(&window, &op.result, sizeof window);
    return window;
}

[[nodiscard]] inline MPI_File file_of(const commtask_op& op) noexcept {
    MPI_File file = MPI_FILE_NULL;
    static_assert(sizeof file <= sizeof op.result);
    std::memcpy(static_cast<void*>(&file), &op.result, sizeof file);
    return file;
}

/// For post and start.
[[nodiscard]] inline MPI_Group group_of(const commtask_op& op) noexcept {
    MPI_Group group = MPI_GROUP_NULL;
    static_assert(sizeof group <= sizeof op.send.displs);
    std::memcpy(static_cast<void*>(&group), &op.send.displs, sizeof group);
    return group;
}
/// For fence, post, start and locks.
[[nodiscard]] inline int assertion_of(const commtask_op& op) noexcept { return op.send_tag; }
/// For a lock of one rank.
[[nodiscard]] inline int lock_type_of(const commtask_op& op) noexcept { return op.recv_tag; }

/// Calls MPI's blocking function for an operation on a window that the program synchronises itself.
/// @return an MPI error code
[[nodiscard]] int call_one_sided(const commtask_op& op) noexcept;

/// The displacement of the side that is in a window or a file.
[[nodiscard]] inline MPI_Aint displacement_of(const commtask_side& side) noexcept {
    MPI_Aint displacement = 0;
    static_assert(sizeof displacement <= sizeof side.displs);
    std::memcpy(&displacement, &side.displs, sizeof displacement);
    return displacement;
}

} // namespace commtask::detail
