// SPDX-License-Identifier: Apache-2.0
//
// Whether a handle is predefined, so that it cannot be freed. Every post tests this, so the test
// must not call MPI. In MPICH's family the two highest bits of a handle tell; Open MPI's predefined
// objects are contiguous in its library.
#pragma once

#include "mpi/arguments.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace commtask::detail {

#if defined(MPICH_NUMVERSION) || defined(I_MPI_NUMVERSION)

/// The two highest bits of a handle that MPI created in MPI_Init.
inline constexpr std::uint32_t built_in_handle = 1;

template <typename Handle>
[[nodiscard]] constexpr bool is_built_in(Handle handle) noexcept {
    static_assert(sizeof handle == sizeof(std::uint32_t));
    return static_cast<std::uint32_t>(handle) >> 30U <= built_in_handle; // 0: an invalid handle
}

/// False: the program cannot free the handle, or the handle is invalid.
[[nodiscard]] inline bool may_be_made(MPI_Datatype type) noexcept {
    if (is_built_in(type)) [[likely]]
        return false;
    const std::array pairs{MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT};
    return std::ranges::find(pairs, type) == pairs.end();
}
[[nodiscard]] inline bool may_be_made_operation(MPI_Op operation) noexcept { return !is_built_in(operation); }

#else

/// The lowest and the highest address of the predefined handles that every MPI has.
template <typename Handle, std::size_t N>
[[nodiscard]] std::pair<std::uintptr_t, std::uintptr_t> range_of(const std::array<Handle, N>& known) noexcept {
    std::array<std::uintptr_t, N> places{};
    std::ranges::transform(known, places.begin(), [](Handle each) { return reinterpret_cast<std::uintptr_t>(each); });
    const auto [lowest, highest] = std::ranges::minmax_element(places);
    return {*lowest, *highest};
}
template <typename Handle>
[[nodiscard]] bool lies_in(const std::pair<std::uintptr_t, std::uintptr_t>& range, Handle handle) noexcept {
    const auto place = reinterpret_cast<std::uintptr_t>(handle);
    return place >= range.first && place <= range.second;
}

/// False: the program cannot free the handle, or the handle is invalid.
[[nodiscard]] inline bool may_be_made(MPI_Datatype type) noexcept {
    static const auto own = range_of(std::array{MPI_BYTE,
                                                MPI_PACKED,
                                                MPI_CHAR,
                                                MPI_SIGNED_CHAR,
                                                MPI_UNSIGNED_CHAR,
                                                MPI_WCHAR,
                                                MPI_SHORT,
                                                MPI_UNSIGNED_SHORT,
                                                MPI_INT,
                                                MPI_UNSIGNED,
                                                MPI_LONG,
                                                MPI_UNSIGNED_LONG,
                                                MPI_LONG_LONG,
                                                MPI_UNSIGNED_LONG_LONG,
                                                MPI_FLOAT,
                                                MPI_DOUBLE,
                                                MPI_LONG_DOUBLE,
                                                MPI_FLOAT_INT,
                                                MPI_DOUBLE_INT,
                                                MPI_LONG_INT,
                                                MPI_2INT,
                                                MPI_SHORT_INT,
                                                MPI_LONG_DOUBLE_INT,
                                                MPI_INT64_T,
                                                MPI_UINT64_T,
                                                MPI_C_BOOL,
                                                MPI_C_DOUBLE_COMPLEX,
                                                MPI_AINT,
                                                MPI_OFFSET,
                                                MPI_COUNT});
    return type != MPI_Datatype{} && type != MPI_DATATYPE_NULL && !lies_in(own, type);
}
[[nodiscard]] inline bool may_be_made_operation(MPI_Op operation) noexcept {
    static const auto own =
        range_of(std::array{MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR,
                            MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP});
    return operation != MPI_Op{} && operation != MPI_OP_NULL && !lies_in(own, operation);
}

#endif

} // namespace commtask::detail
