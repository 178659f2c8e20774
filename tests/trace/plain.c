/* SPDX-License-Identifier: Apache-2.0
 *
 * An unmodified program: blocking and nonblocking messages, which commtask-run makes tasks of or not, and a collective. All have
 * one tag, so that one which is missing in the trace spoils the others. */
#include <mpi.h>

int main(int argc, char** argv) {
    enum { n_rounds = 20 };
    int rank = 0;
    int size = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int peer = rank ^ 1;
    int wrong = 0;
    for (int i = 0; i < n_rounds; ++i) {
        int given = 100 * rank + i;
        int taken = -1;
        MPI_Request requests[2];
        /* Both ways of sending meet both ways of receiving, with one tag. */
        if (i % 4 == 0) {
            MPI_Sendrecv(&given, 1, MPI_INT, peer, 5, &taken, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (i % 4 == 1 || rank % 2 == 0) {
            MPI_Irecv(&taken, 1, MPI_INT, i % 2 == 0 ? MPI_ANY_SOURCE : peer, 5, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(&given, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        } else {
            MPI_Send(&given, 1, MPI_INT, peer, 5, MPI_COMM_WORLD);
            MPI_Recv(&taken, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        wrong += taken != 100 * peer + i;
    }
    int all = 0;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all == 0 ? 0 : 1;
}
