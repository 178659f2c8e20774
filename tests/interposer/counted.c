// SPDX-License-Identifier: Apache-2.0
//
// Nonblocking calls on a communicator that the program has made: each is a task, from the first on, as the statistics of
// COMMTASK_STATS=1 say.
#include "probe.h"

enum { n_turns = 20, n_values = 20000 };

int main(int argc, char** argv) {
    static int out[n_values], in[n_values];
    MPI_Comm made;
    MPI_Init(&argc, &argv);
    probe_start();
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    for (int turn = 0; turn < n_turns; ++turn) {
        MPI_Request requests[3];
        int sum = 0;
        MPI_Irecv(in, n_values, MPI_INT, previous_rank(), turn, made, &requests[0]);
        MPI_Isend(out, n_values, MPI_INT, next_rank(), turn, made, &requests[1]);
        MPI_Iallreduce(&me, &sum, 1, MPI_INT, MPI_SUM, made, &requests[2]);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        EXPECT(sum == n_ranks * (n_ranks - 1) / 2);
    }
    MPI_Comm_free(&made);
    MPI_Finalize();
    return probe_result();
}
