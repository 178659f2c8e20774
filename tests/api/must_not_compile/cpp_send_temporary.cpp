// SPDX-License-Identifier: Apache-2.0
// The buffer belongs to the task until it has ended: a temporary container is gone before the worker reads it, so it must
// be refused; a span, which owns nothing, may be a temporary.
// expect: no matching function|constraints not satisfied
#include <commtask/commtask.hpp>

#include <span>
#include <vector>

std::vector<int> made();

commtask::operation operation(std::vector<int>& lasting) {
#ifdef WRONG
    static_cast<void>(lasting);
    return commtask::send(made(), 0, 0, MPI_COMM_WORLD);
#else
    return commtask::send(std::span{lasting}, 0, 0, MPI_COMM_WORLD);
#endif
}
