// SPDX-License-Identifier: Apache-2.0
//
// What the statistics of COMMTASK_STATS=1 say of calls. Nonblocking ones on a communicator that the program has made are
// tasks, from the first on. Of blocking ones that do not end at once, with "blocking", rank 0 has sends alone.
#include "probe.h"

enum { n_turns = 20, n_values = 20000, n_large = 4 << 20 };

/// The receiver comes late to most, by the time that it takes to look through what came before.
static void send_blocking(void) {
    int* const values = calloc(n_large, sizeof *values);
    for (int turn = 0; turn < n_turns; ++turn) {
        if (me == 0) MPI_Ssend(values, n_large, MPI_INT, 1, turn, MPI_COMM_WORLD);
        if (me == 1) MPI_Recv(values, n_large, MPI_INT, 0, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; me == 1 && i < n_large; ++i) EXPECT(values[i] == 0);
    }
    free(values);
}

int main(int argc, char** argv) {
    static int out[n_values], in[n_values];
    MPI_Comm made;
    MPI_Init(&argc, &argv);
    probe_start();
    if (argc > 1) {
        send_blocking();
        MPI_Finalize();
        return probe_result();
    }
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
