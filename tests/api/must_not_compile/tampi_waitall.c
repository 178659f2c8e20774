// SPDX-License-Identifier: Apache-2.0
//
// Nothing is left to wait for where the wrappers hold their task.
// expect: TAMPI_Waitall is not part of commtask.s TAMPI.h: TAMPI_I... hold their task
#include "../../../plugins/omp/tampi/include/TAMPI.h"

void receive(int* where, MPI_Status* status);
void receive(int* where, MPI_Status* status) {
    TAMPI_Irecv(where, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, status);
#ifdef WRONG
    MPI_Request requests[2];
    TAMPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
#endif
}
