// SPDX-License-Identifier: Apache-2.0
//
// The plain program of bench rma, whose origin looks at the order of its own calls: no figure shows that it has slept itself before an
// access that comes after a pause of the target, or that several of its locks were beside one slice of the target's work.
#include "rma/way.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

/// What was called last, by the one thread of the program.
enum class event : std::uint8_t { none, barrier, access, lock };
event last = event::none;

void refuse(const char* what) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != commtask::bench::rma::origin) return;
    std::fprintf(stderr, "bench_rma_order: the origin %s\n", what);
    PMPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

} // namespace

// The program's calls come here.
#pragma GCC visibility push(default)
extern "C" {
int clock_nanosleep(clockid_t /*clock*/, int /*flags*/, const timespec* length, timespec* left) {
    if (last == event::barrier) refuse("sleeps before an access");
    return nanosleep(length, left) == 0 ? 0 : errno;
}
int MPI_Barrier(MPI_Comm comm) {
    last = event::barrier;
    return PMPI_Barrier(comm);
}
int MPI_Rput(const void* from, int n, MPI_Datatype type, int rank, MPI_Aint at, int n_there, MPI_Datatype type_there,
             MPI_Win window, MPI_Request* request) {
    last = event::access;
    return PMPI_Rput(from, n, type, rank, at, n_there, type_there, window, request);
}
int MPI_Rget(void* to, int n, MPI_Datatype type, int rank, MPI_Aint at, int n_there, MPI_Datatype type_there,
             MPI_Win window, MPI_Request* request) {
    last = event::access;
    return PMPI_Rget(to, n, type, rank, at, n_there, type_there, window, request);
}
int MPI_Raccumulate(const void* from, int n, MPI_Datatype type, int rank, MPI_Aint at, int n_there,
                    MPI_Datatype type_there, MPI_Op op, MPI_Win window, MPI_Request* request) {
    last = event::access;
    return PMPI_Raccumulate(from, n, type, rank, at, n_there, type_there, op, window, request);
}
int MPI_Win_lock(int how, int rank, int assertion, MPI_Win window) {
    if (last == event::lock) refuse("locks twice beside one slice");
    last = event::lock;
    return PMPI_Win_lock(how, rank, assertion, window);
}
}
#pragma GCC visibility pop
