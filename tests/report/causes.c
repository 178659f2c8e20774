// SPDX-License-Identifier: Apache-2.0
// A program of two ranks with one known mistake, or none, for causes_run_test.py: each step computes for some time and exchanges
// a border. The time of computing is processor time, so that other work on the machine does not make it unequal.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { n_steps = 40, n_bytes = 2000000, n_small = 400, work_us = 3000 };
static char out[n_bytes], in[n_bytes];

static void compute(long us) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    const long end = now.tv_sec * 1000000L + now.tv_nsec / 1000 + us;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_sec * 1000000L + now.tv_nsec / 1000 < end);
}

int main(int argc, char** argv) {
    const char* const mistake = argc > 1 ? argv[1] : "none";
    const int late_pack = strcmp(mistake, "late-pack") == 0, late_receive = strcmp(mistake, "late-receive") == 0;
    const int small = strcmp(mistake, "small-messages") == 0, unequal = strcmp(mistake, "imbalance") == 0;
    const int late_exchange = strcmp(mistake, "imbalance-after") == 0;
    const int n = small ? n_small : 1, size = small ? 8 : n_bytes;
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const long us = unequal || late_exchange ? (rank == 0 ? work_us : 3 * work_us) : small ? 200 : work_us;
    static MPI_Request requests[2 * n_small];
    for (int step = 0; step < n_steps; ++step) {
        if (late_exchange) compute(us);
        for (int k = 0; k < n && !late_receive; ++k)
            MPI_Irecv(in + 8 * k, size, MPI_BYTE, 1 - rank, k, MPI_COMM_WORLD, &requests[k]);
        if (late_pack) compute(us);
        memset(out, step, n_bytes);
        for (int k = 0; k < n; ++k)
            MPI_Isend(out + 8 * k, size, MPI_BYTE, 1 - rank, k, MPI_COMM_WORLD, &requests[n + k]);
        if (!late_pack && !late_exchange) compute(us);
        for (int k = 0; k < n && late_receive; ++k)
            MPI_Irecv(in + 8 * k, size, MPI_BYTE, 1 - rank, k, MPI_COMM_WORLD, &requests[k]);
        MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return in[0] == (char)(n_steps - 1) ? EXIT_SUCCESS : EXIT_FAILURE;
}
