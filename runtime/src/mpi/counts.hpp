// SPDX-License-Identifier: Apache-2.0
//
// Counts in MPI calls. An operation stores MPI_Count; MPI has a function for int and, since MPI-4,
// one with _c for large counts. A value that converts to the parameter type of the called function
// lets one line of code serve both. If MPI has no large counts, arrays are narrowed into memory of
// the task.
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

/// A count that converts to the type of the parameter.
struct one_count {
    MPI_Count value;
    operator int() const noexcept { return static_cast<int>(value); }
    operator MPI_Count() const noexcept { return value; }
};

/// An array of counts or displacements that converts to the type of the parameter.
struct count_array {
    const void* first;
    template <typename Element>
    operator const Element*() const noexcept {
        return static_cast<const Element*>(first);
    }
};

[[nodiscard]] inline bool fits_int(MPI_Count count) noexcept { return count <= INT_MAX; }

/// The bytes that an operation sends, for statistics: for a message its bytes, for a collective the
/// block of its single count. 0 if the peer is MPI_PROC_NULL, and for collectives with arrays of
/// counts.
[[nodiscard]] std::int64_t payload_bytes(const commtask_op& op) noexcept;

/// The numbers of entries that an operation's arrays of counts have on this rank. The functions may
/// call MPI.
struct array_lengths {
    int send = 0;
    int recv = 0;
};
/// The number of neighbors in a communicator with a topology. @return MPI_ERR_TOPOLOGY: it has no
/// topology
[[nodiscard]] int find_neighbors(MPI_Comm comm, array_lengths& lengths) noexcept;
[[nodiscard]] int find_array_lengths(const commtask_op& op, array_lengths& lengths) noexcept;
/// Like find_array_lengths(), with 0 for absent arrays and for arrays that MPI does not read.
[[nodiscard]] int find_used_lengths(const commtask_op& op, array_lengths& lengths) noexcept;

/// Replaces the operation's arrays by int arrays, in memory that is stored in `scratch` (released
/// by free()).
/// @return MPI_SUCCESS, or an error code, for example if an entry does not fit
[[nodiscard]] int narrow_arrays(commtask_op& op, void*& scratch) noexcept;

/// Replaces the operation's arrays of counts and displacements (not of datatypes) by copies. Their
/// memory, if any, is stored in `copies` (released by free()).
/// @return MPI_SUCCESS, or an error code with the operation unchanged
[[nodiscard]] int copy_arrays(commtask_op& op, void*& copies) noexcept;

} // namespace commtask::detail
