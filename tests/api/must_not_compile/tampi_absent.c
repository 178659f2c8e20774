// SPDX-License-Identifier: Apache-2.0
//
// What starts and ends TAMPI itself, and collectives of neighborhoods: the compiler says what to do instead.
// expect: TAMPI_Init is not part of(.|\n)*TAMPI_Ineighbor_alltoallv is not part of(.|\n)*TAMPI_Finalize is not part of
#include "../../../plugins/omp/tampi/include/TAMPI.h"

void exchange(int* mine, int* theirs, const int* n, MPI_Status* status);
void exchange(int* mine, int* theirs, const int* n, MPI_Status* status) {
    TAMPI_Irecv(theirs, *n, MPI_INT, 0, 0, MPI_COMM_WORLD, status);
    TAMPI_Isend(mine, *n, MPI_INT, 0, 0, MPI_COMM_WORLD);
#ifdef WRONG
    TAMPI_Init();
    TAMPI_Ineighbor_alltoallv(mine, n, n, MPI_INT, theirs, n, n, MPI_INT, MPI_COMM_WORLD);
    TAMPI_Finalize();
#endif
}
