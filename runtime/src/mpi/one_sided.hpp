// SPDX-License-Identifier: Apache-2.0
//
// How an operation keeps a window, a file and a displacement: as values, in fields of the size of a pointer, so that an
// operation that has one of them needs no memory beside itself. The headers' functions put them there byte by byte.
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

/// Of the side that is in a window or a file.
[[nodiscard]] inline MPI_Aint displacement_of(const commtask_side& side) noexcept {
    MPI_Aint displacement = 0;
    static_assert(sizeof displacement <= sizeof side.displs);
    std::memcpy(&displacement, &side.displs, sizeof displacement);
    return displacement;
}

} // namespace commtask::detail
