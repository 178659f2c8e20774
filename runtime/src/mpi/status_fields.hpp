// SPDX-License-Identifier: Apache-2.0
//
// The length of a message, and whether it was canceled, from a status. When a receive ends, the
// library does not know whether the program will read them. MPI needs 10 ns for both queries, a
// twentieth of the time of a message. The MPIs with MPICH's ABI agree on the fields of a status, so
// the library reads them directly; with other MPIs it calls MPI.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace commtask::detail {

/// Whether a status has the fields of MPICH's ABI.
template <typename Status>
concept status_of_mpich = requires(Status status) {
    status.count_lo;
    status.count_hi_and_cancelled;
};

/// @return -1: the status has no length
template <typename Status>
[[nodiscard]] std::int64_t length_of(const Status& status) noexcept {
    if constexpr (status_of_mpich<Status>) {
        const auto high = static_cast<std::uint64_t>(static_cast<unsigned>(status.count_hi_and_cancelled) >> 1U);
        return static_cast<std::int64_t>(high << 32U | static_cast<unsigned>(status.count_lo));
    } else {
        MPI_Count bytes = MPI_UNDEFINED;
        return MPI_Get_elements_x(&status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes != MPI_UNDEFINED ? bytes : -1;
    }
}

template <typename Status>
[[nodiscard]] bool was_canceled(const Status& status) noexcept {
    if constexpr (status_of_mpich<Status>) {
        return (static_cast<unsigned>(status.count_hi_and_cancelled) & 1U) != 0;
    } else {
        int result = 0;
        MPI_Test_cancelled(&status, &result);
        return result != 0;
    }
}

} // namespace commtask::detail
