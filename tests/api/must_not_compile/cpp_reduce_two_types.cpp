// SPDX-License-Identifier: Apache-2.0
// A reduction has one datatype for both buffers: float contributions and a double result would make MPI write half of
// the result, or past its end.
// expect: no matching function|constraints not satisfied
#include <commtask/commtask.hpp>

#include <array>

#ifdef WRONG
using result = double;
#else
using result = float;
#endif
commtask::operation operation(const std::array<float, 2>& mine, std::array<result, 2>& sum) {
    return commtask::allreduce(mine, sum, MPI_SUM, MPI_COMM_WORLD);
}
