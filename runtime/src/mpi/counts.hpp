// SPDX-License-Identifier: Apache-2.0
//
// Counts on their way into MPI. An operation keeps MPI_Count; MPI has a function for int and, from MPI-4 on, one with _c
// for large counts. A value that converts to whatever the chosen function's parameter is lets one line of code serve
// both. Where MPI has no large counts, arrays are narrowed into memory that the task owns.
#pragma once

#include "core/task.hpp"

#include <mpi.h>

#include <climits>
#include <cstdint>

namespace commtask::detail {

#if MPI_VERSION >= 4
inline constexpr bool has_large_counts = true;
/// Calls MPI_name, or MPI_name_c if a count does not fit into an int.
#define COMMTASK_MPI_CALL(fits, name, ...) ((fits) ? MPI_##name(__VA_ARGS__) : MPI_##name##_c(__VA_ARGS__))
#else
inline constexpr bool has_large_counts = false;
#define COMMTASK_MPI_CALL(fits, name, ...) (static_cast<void>(fits), MPI_##name(__VA_ARGS__))
#endif

/// A count that becomes what the parameter is.
struct one_count {
    MPI_Count value;
    operator int() const noexcept { return static_cast<int>(value); }
    operator MPI_Count() const noexcept { return value; }
};

/// An array of counts or displacements that becomes what the parameter is.
struct count_array {
    const void* first;
    template <typename Element>
    operator const Element*() const noexcept {
        return static_cast<const Element*>(first);
    }
};

[[nodiscard]] inline bool fits_int(MPI_Count count) noexcept { return count <= INT_MAX; }

/// What an operation gives away, for statistics: of a message what is sent, of a collective the block that its one count
/// names; 0 where nobody is at the other end, and for collectives with arrays of counts.
[[nodiscard]] std::int64_t payload_bytes(const commtask_op& op) noexcept;

/// How many entries the arrays of counts of an operation have on this rank, which may ask MPI.
struct array_lengths {
    int send = 0;
    int recv = 0;
};
/// How many neighbors a communicator with a topology has. @return MPI_ERR_TOPOLOGY: it has none
[[nodiscard]] int find_neighbors(MPI_Comm comm, array_lengths& lengths) noexcept;
[[nodiscard]] int find_array_lengths(const commtask_op& op, array_lengths& lengths) noexcept;
/// The same without the arrays that the operation has not, or that MPI does not read.
[[nodiscard]] int find_used_lengths(const commtask_op& op, array_lengths& lengths) noexcept;

/// The operation's arrays as int arrays, in memory that is allocated and put into `scratch` (free it with free()).
/// @return MPI_SUCCESS, or the code of an error: one of them does not fit.
[[nodiscard]] int narrow_arrays(commtask_op& op, void*& scratch) noexcept;

/// The operation with copies of its arrays of counts and displacements (not of types), in memory that is allocated and put
/// into `copies` if there are any (free it with free()).
/// @return MPI_SUCCESS, or the code of an error; the operation is as it was then.
[[nodiscard]] int copy_arrays(commtask_op& op, void*& copies) noexcept;

} // namespace commtask::detail
