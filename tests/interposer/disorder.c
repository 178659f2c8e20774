// SPDX-License-Identifier: Apache-2.0
//
// Ranks that disagree about the order of a communicator's collectives: wrong in MPI, and COMMTASK_MPI_CHECK=1 says where. First
// on a communicator that is freed, with roots that differ, then on MPI_COMM_WORLD.
#include "probe.h"

int main(int argc, char** argv) {
    MPI_Comm apart;
    MPI_Request request;
    int value = 1;
    int sum = 0;
    MPI_Init(&argc, &argv);
    probe_start();
    MPI_Comm_dup(MPI_COMM_WORLD, &apart);
    MPI_Barrier(apart);
    MPI_Bcast(&value, 0, MPI_INT, me % 2, apart);
    MPI_Comm_free(&apart);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me % 2 == 0) {
        MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
