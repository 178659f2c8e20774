// SPDX-License-Identifier: Apache-2.0
//
// The same in C++, where every compiler says it.
// expect: TAMPI_Isend has no request since TAMPI 4: leave it out
#include "../../../plugins/omp/tampi/include/TAMPI.h"

void receive(int* where, MPI_Status* status);
void receive(int* where, MPI_Status* status) {
    TAMPI_Irecv(where, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, status);
#ifdef WRONG
    MPI_Request request;
    TAMPI_Isend(where, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
#endif
}
