// SPDX-License-Identifier: Apache-2.0
// What really reaches MPI: the program that links counted_mpi.cpp has its own MPI_Isend and relatives, which count and
// hand on. A schedule's own counters are held against these, so that both cannot be wrong in the same way.
#pragma once

#include <cstdint>

namespace soi::test {

struct counted {
    std::int64_t messages; ///< Point to point.
    std::int64_t bytes;    ///< Sent to other ranks, point to point or by a collective.
};

/// Since the program began; of this process.
counted counted_so_far();

} // namespace soi::test
