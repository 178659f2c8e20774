// SPDX-License-Identifier: Apache-2.0
//
// Request handles of our own. A program sees an MPI_Request that no MPI gives out: in MPICH a number whose kind is
// "invalid", as that of MPI_REQUEST_NULL is, with an index; in Open MPI an address in a range of our own. The range is
// reserved once, for as many requests as a handle can name, so that it never moves, and opened piece by piece as it is used:
// mlockall would else give memory to all of it.
#pragma once

#include "real_mpi.hpp"

#include <commtask/commtask.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace commtask::interposer {

/// What a handle of ours stands for.
struct slot {
    commtask_t task;
    void* arrays; ///< Copies of a collective's counts: the program may free its own at once. From malloc, or null.
    MPI_Message message; ///< Of an Imrecv: the program's own variable is null at once.
    std::uint32_t next;  ///< In the list of free ones.
};

namespace handles {

inline std::size_t capacity = std::size_t{1} << 26U; ///< Less where the process may not have so much address space.
inline slot* first = nullptr;                        ///< Reserved range; index 0 is not used.
/// How many slots can be touched. relaxed: whoever has a handle was given it after the slot was opened.
inline std::atomic<std::size_t> n_open{0};

/// Reserves the range, smaller if it must be; without any space there are no handles, and calls are MPI's own.
void reserve() noexcept;

/// Any thread. @return null if all are in use, or memory is out.
[[nodiscard]] slot* acquire() noexcept;
/// Any thread. What the slot keeps for its task is freed.
void release(slot* unused) noexcept;

#ifdef OMPI_MAJOR_VERSION
[[nodiscard]] inline bool is_ours(MPI_Request request) noexcept {
    const auto* const address = reinterpret_cast<const std::byte*>(request);
    const auto* const begin = reinterpret_cast<const std::byte*>(first);
    return begin != nullptr && address >= begin &&
           address < begin + n_open.load(std::memory_order_relaxed) * sizeof(slot);
}
[[nodiscard]] inline slot* slot_of(MPI_Request request) noexcept { return reinterpret_cast<slot*>(request); }
[[nodiscard]] inline MPI_Request handle_of(slot* which) noexcept { return reinterpret_cast<MPI_Request>(which); }
#else
inline constexpr std::uint32_t index_bits = 0x03ffffffU;
[[nodiscard]] inline bool is_ours(MPI_Request request) noexcept {
    const auto bits = static_cast<std::uint32_t>(request);
    const std::uint32_t index = bits & index_bits;
    return (bits & ~index_bits) == static_cast<std::uint32_t>(MPI_REQUEST_NULL) && index != 0 &&
           index < n_open.load(std::memory_order_relaxed);
}
[[nodiscard]] inline slot* slot_of(MPI_Request request) noexcept {
    return first + (static_cast<std::uint32_t>(request) & index_bits);
}
[[nodiscard]] inline MPI_Request handle_of(const slot* which) noexcept {
    return static_cast<MPI_Request>(static_cast<std::uint32_t>(MPI_REQUEST_NULL) |
                                    static_cast<std::uint32_t>(which - first));
}
#endif

} // namespace handles
} // namespace commtask::interposer
