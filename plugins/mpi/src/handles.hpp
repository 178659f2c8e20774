// SPDX-License-Identifier: Apache-2.0
//
// The interposer's request handles. The program sees an MPI_Request value that MPI never returns.
// In MPICH it is an integer whose kind is "invalid", like that of MPI_REQUEST_NULL, with an index.
// In Open MPI it is an address in a range that the library reserves. The range is reserved once,
// for as many requests as a handle can name, so that the range never moves. Parts of the range are
// made accessible as they are used: otherwise mlockall would allocate memory for all of it.
#pragma once

#include "real_mpi.hpp"

#include <commtask/commtask.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace commtask::interposer {

/// The record that a handle refers to.
struct slot {
    commtask_t task;
    /// Copies of a collective's counts, since the program may free its arrays after the call. From
    /// malloc, or null.
    void* arrays;
    MPI_Message message; ///< Of an Imrecv, which sets the program's variable to null at once.
    std::uint32_t next;  ///< Index of the next free slot in the list.
};

namespace handles {

/// The number of slots in the range; fewer if the process cannot have so much address space.
inline std::size_t capacity = std::size_t{1} << 26U;
inline slot* first = nullptr; ///< The reserved range; index 0 is not used.
/// The number of accessible slots. relaxed: a thread gets a handle only after its slot was made
/// accessible.
inline std::atomic<std::size_t> n_open{0};

/// Reserves the range, or a smaller one if necessary. Without address space there are no handles,
/// and calls go directly to MPI.
void reserve() noexcept;

/// Any thread. @return null if all slots are in use, or memory is exhausted
[[nodiscard]] slot* acquire() noexcept;
/// Any thread. Also frees what the slot keeps for its task.
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
