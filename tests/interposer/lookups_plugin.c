// SPDX-License-Identifier: Apache-2.0
//
// A library that calls MPI, and is opened with RTLD_DEEPBIND: its calls go to the MPI's own functions, whatever is preloaded. Its
// requests are its own, so that all that can go wrong is two threads in MPI at once.
#include <mpi.h>

__attribute__((visibility("default"))) int probe_exchange(int to, int from) {
    int me = -1;
    int other = -1;
    MPI_Request request;
    PMPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Isend(&me, 1, MPI_INT, to, 17, MPI_COMM_WORLD, &request);
    MPI_Recv(&other, 1, MPI_INT, from, 17, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return other;
}
