// SPDX-License-Identifier: Apache-2.0
// A receive writes its buffer: a range of const elements must be refused by the compiler, even where the container that
// it shows is writable.
// expect: no matching function|constraints not satisfied
#include <commtask/commtask.hpp>

#include <span>

#ifdef WRONG
using element_seen = const double;
#else
using element_seen = double;
#endif
commtask::operation operation(std::span<element_seen> buffer) { return commtask::recv(buffer, 0, 0, MPI_COMM_WORLD); }
