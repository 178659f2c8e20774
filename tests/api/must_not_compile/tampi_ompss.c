// SPDX-License-Identifier: Apache-2.0
//
// OmpSs-2 has a runtime of its own.
// expect: OmpSs-2 has a runtime of its own, with a TAMPI for it
#ifdef WRONG
#define _OMPSS_2 1
#endif
#include "../../../plugins/omp/tampi/include/TAMPI.h"

void receive(int* where, MPI_Status* status);
void receive(int* where, MPI_Status* status) { TAMPI_Irecv(where, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, status); }
