// SPDX-License-Identifier: Apache-2.0
// MPI cannot send what has no datatype: sending the bytes of a struct with pointers would compile in C and arrive as
// nonsense. A datatype_of for the type makes it an element.
// expect: no matching function|constraints not satisfied
#include <commtask/commtask.hpp>

#include <array>

struct site {
    float phase;
};
#ifndef WRONG
template <>
struct commtask::datatype_of<site> {
    static MPI_Datatype get() noexcept { return MPI_FLOAT; }
};
#endif

commtask::operation operation(const std::array<site, 3>& sites) { return commtask::send(sites, 0, 0, MPI_COMM_WORLD); }
