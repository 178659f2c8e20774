// SPDX-License-Identifier: Apache-2.0
// What really reaches MPI: the program that links counted_mpi.cpp has its own MPI_Isend and relatives, which count and
// hand on. A schedule's own counters are held against these, so that both cannot be wrong in the same way. And where a
// message is made to fail, since nothing else in here can.
#pragma once

#include <cstdint>

namespace soi::test {

struct counted {
    std::int64_t messages; ///< Point to point.
    std::int64_t bytes;    ///< Sent to other ranks, point to point or by a collective.
};

/// Since the program began; of this process.
counted counted_so_far();

/// The next MPI_Irecv is one byte too short for its message, so that MPI reports an error when it comes.
void spoil_next_receive();

/// Of the next MPI_Isends the n-th (from 1) tells an error; its message goes all the same, so that no rank waits for it.
void spoil_send(int n);

} // namespace soi::test
