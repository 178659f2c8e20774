/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that knows nothing of commtask, and is paused from outside (pausing_test.py): for each line that rank 0 reads all ranks
 * exchange a message with their neighbours on a ring, and rank 0 says how it came out. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { n_numbers = 1 << 16 };

static int is_right(const int* received, int sender) {
    for (int i = 0; i < n_numbers; ++i) {
        if (received[i] != sender + i) return 0;
    }
    return 1;
}

int main(int argc, char** argv) {
    int rank = 0;
    int n_ranks = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    fprintf(stderr, "process %d\n", (int)getpid());
    int* const sent = malloc(n_numbers * sizeof *sent);
    int* const received = malloc(n_numbers * sizeof *received);
    if (sent == NULL || received == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < n_numbers; ++i) sent[i] = rank + i;
    const int left = (rank + n_ranks - 1) % n_ranks;
    int goes_on = 1;
    for (;;) {
        char line[16];
        if (rank == 0) goes_on = fgets(line, sizeof line, stdin) != NULL;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (!goes_on) break;
        MPI_Request requests[2];
        MPI_Irecv(received, n_numbers, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(sent, n_numbers, MPI_INT, (rank + 1) % n_ranks, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        int mine = is_right(received, left);
        int all = 0;
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        if (rank == 0) fprintf(stderr, "exchange: %s\n", all ? "right" : "WRONG");
    }
    free(sent);
    free(received);
    MPI_Finalize();
    return 0;
}
