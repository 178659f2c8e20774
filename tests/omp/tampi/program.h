/* SPDX-License-Identifier: Apache-2.0
 *
 * How the programs here begin and end. Each is written as a program for TAMPI would be, and checks its numbers against a
 * computation without messages: what differs ends with status 1. */
#ifndef COMMTASK_TEST_TAMPI_PROGRAM_H
#define COMMTASK_TEST_TAMPI_PROGRAM_H

#include <TAMPI.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, n_ranks;

static inline void begin(int* argc, char*** argv, int required) {
    int provided = 0;
    MPI_Init_thread(argc, argv, required, &provided);
    if (provided != required) {
        fprintf(stderr, "level %d was asked for and %d given\n", required, provided);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
}

/* The largest difference, over all ranks. */
static inline int end(const char* name, double difference, double allowed) {
    double largest = 0;
    MPI_Allreduce(&difference, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %d ranks, difference %g\n", name, n_ranks, largest);
    MPI_Finalize();
    return largest <= allowed ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
