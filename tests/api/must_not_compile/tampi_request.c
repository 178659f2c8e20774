// SPDX-License-Identifier: Apache-2.0
//
// The wrappers of TAMPI had a request up to its release 3; clang says what to do, gcc that there is one too many in C.
// expect: TAMPI_Isend has no request since TAMPI 4: leave it out|too many arguments
#include "../../../plugins/omp/tampi/include/TAMPI.h"

void receive(int* where, MPI_Status* status);
void receive(int* where, MPI_Status* status) {
    TAMPI_Irecv(where, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, status);
#ifdef WRONG
    MPI_Request request;
    TAMPI_Isend(where, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
#endif
}
