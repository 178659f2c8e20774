// SPDX-License-Identifier: Apache-2.0
//
// Properties of TAMPI are not there, nor their names.
// expect: TAMPI_Property_set is not part of commtask.s TAMPI.h: leave it out
#include "../../../plugins/omp/tampi/include/TAMPI.h"

void receive(int* where, MPI_Status* status);
void receive(int* where, MPI_Status* status) {
    TAMPI_Irecv(where, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, status);
#ifdef WRONG
    TAMPI_Property_set(TAMPI_PROPERTY_OF_SOME_NAME, 0);
#endif
}
