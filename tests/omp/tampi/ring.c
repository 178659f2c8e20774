/* SPDX-License-Identifier: Apache-2.0
 *
 * A ring of ranks with a collective on each lap: every rank adds what came from its left, and all learn the sum. Once with
 * functions that hold tasks, and once in the blocking mode, whose tasks wait in MPI's own functions and let others run. */
#include "program.h"

enum { n_laps = 25 };

static double laps_that_hold(void) {
    int token = rank, came = -1, sum = 0, largest = -1, from_root = -1, n_wrong = 0;
    int all[64] = {0};
    char order = 0;
    (void)order;
    const int left = (rank + n_ranks - 1) % n_ranks, right = (rank + 1) % n_ranks;
#pragma omp parallel
#pragma omp single
    for (int lap = 1; lap <= n_laps; ++lap) {
#pragma omp task depend(in : token)
        TAMPI_Issend(&token, 1, MPI_INT, right, lap, MPI_COMM_WORLD);
#pragma omp task depend(out : came) firstprivate(lap)
        TAMPI_Irecv(&came, 1, MPI_INT, left, lap, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task depend(in : came) depend(inout : token)
        token = came;
        /* Collectives of one communicator need an order between their tasks. */
#pragma omp task depend(in : token) depend(out : sum, largest) depend(inout : order)
        {
            TAMPI_Iallreduce(&token, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            TAMPI_Iallreduce(&token, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        }
#pragma omp task depend(in : token) depend(out : all) depend(inout : order)
        TAMPI_Iallgather(&token, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
#pragma omp task depend(out : from_root) depend(inout : order) firstprivate(lap)
        {
            from_root = rank == 0 ? lap : -1;
            TAMPI_Ibcast(&from_root, 1, MPI_INT, 0, MPI_COMM_WORLD);
            TAMPI_Ibarrier(MPI_COMM_WORLD);
        }
#pragma omp task depend(in : token, sum, largest, all, from_root) firstprivate(lap)
        {
            n_wrong += token != ((rank - lap) % n_ranks + n_ranks) % n_ranks;
            n_wrong += sum != n_ranks * (n_ranks - 1) / 2 || largest != n_ranks - 1 || from_root != lap;
            for (int r = 0; r < n_ranks; ++r) n_wrong += all[r] != ((r - lap) % n_ranks + n_ranks) % n_ranks;
        }
    }
    return n_wrong;
}

static double laps_that_block(void) {
    int came[n_laps], sum = 0, one = 1, n_wrong = 0;
    const int left = (rank + n_ranks - 1) % n_ranks, right = (rank + 1) % n_ranks;
#pragma omp parallel
#pragma omp single
    {
        for (int lap = 0; lap < n_laps; ++lap) {
#pragma omp task firstprivate(lap)
            {
                const int mine = 100 * rank + lap;
                MPI_Send(&mine, 1, MPI_INT, right, lap, MPI_COMM_WORLD);
            }
        }
        for (int lap = 0; lap < n_laps; ++lap) {
#pragma omp task depend(out : came[lap]) firstprivate(lap) shared(came)
            {
                MPI_Status status;
                MPI_Recv(&came[lap], 1, MPI_INT, left, lap, MPI_COMM_WORLD, &status);
                if (status.MPI_TAG != lap) came[lap] = -1;
            }
#pragma omp task depend(in : came[lap]) firstprivate(lap) shared(came)
            if (came[lap] != 100 * left + lap) {
#pragma omp atomic
                ++n_wrong;
            }
        }
#pragma omp task shared(sum, one)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    return n_wrong + (sum != n_ranks);
}

int main(int argc, char** argv) {
    begin(&argc, &argv, MPI_TASK_MULTIPLE);
    int blocks = 0, holds = 0;
    TAMPI_Blocking_enabled(&blocks);
    TAMPI_Nonblocking_enabled(&holds);
    /* A message to itself is not sent before it is received, which a team of one thread has no task for then. */
    const double n_wrong = laps_that_hold() + (n_ranks > 1 ? laps_that_block() : 0);
    return end("ring", n_wrong + (blocks != 1) + (holds != 1), 0);
}
