/* SPDX-License-Identifier: Apache-2.0
 *
 * A ring of ranks with a collective on each lap: every rank adds what came from its left, and all learn the sum. Once with
 * functions that hold tasks, and once in the blocking mode, whose tasks wait in MPI's own functions and let others run; then every
 * other collective, and waits for requests, each way. */
#include "collectives.h"

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

static double all_collectives(const struct collectives* with) {
    static struct exchange x;
    int n_wrong = 0;
#pragma omp parallel
#pragma omp single
    for (int turn = 0; turn < 5; ++turn) {
#pragma omp task depend(inout : x)
        prepare(&x);
#pragma omp task depend(inout : x)
        exchange(with, &x, MPI_COMM_WORLD);
#pragma omp task depend(in : x)
        n_wrong += look(&x);
    }
    return n_wrong;
}

/* Requests that a task waits for itself: one, and several with their statuses. No task depends on another, so all of them begin
 * and none is needed that lies under a waiting one. */
static double waits_that_block(void) {
    int came[n_laps][3], n_wrong = 0;
    const int left = (rank + n_ranks - 1) % n_ranks, right = (rank + 1) % n_ranks;
#pragma omp parallel
#pragma omp single
    for (int lap = 0; lap < n_laps; ++lap) {
#pragma omp task firstprivate(lap) shared(came, n_wrong)
        {
            MPI_Request receive, send;
            MPI_Status status;
            MPI_Irecv(&came[lap][0], 1, MPI_INT, left, 100 + lap, MPI_COMM_WORLD, &receive);
            MPI_Isend(&lap, 1, MPI_INT, right, 100 + lap, MPI_COMM_WORLD, &send);
            MPI_Wait(&receive, &status);
            MPI_Wait(&send, MPI_STATUS_IGNORE);
            const int is_wrong = receive != MPI_REQUEST_NULL || status.MPI_SOURCE != left || came[lap][0] != lap;
#pragma omp atomic
            n_wrong += is_wrong;
        }
#pragma omp task firstprivate(lap) shared(came, n_wrong)
        {
            const int mine[2] = {10 * rank + lap, 20 * rank + lap}, first_tag = 200 + 2 * lap;
            int is_wrong = 0;
            MPI_Request requests[4];
            MPI_Status statuses[4];
            for (int i = 0; i < 2; ++i) {
                MPI_Irecv(&came[lap][1 + i], 1, MPI_INT, left, first_tag + i, MPI_COMM_WORLD, &requests[i]);
                MPI_Isend(&mine[i], 1, MPI_INT, right, first_tag + i, MPI_COMM_WORLD, &requests[2 + i]);
            }
            MPI_Waitall(4, requests, statuses);
            for (int i = 0; i < 2; ++i) {
                is_wrong += came[lap][1 + i] != 10 * (i + 1) * left + lap || statuses[i].MPI_TAG != first_tag + i;
            }
#pragma omp atomic
            n_wrong += is_wrong;
        }
    }
    return n_wrong;
}

int main(int argc, char** argv) {
    begin(&argc, &argv, MPI_TASK_MULTIPLE);
    int blocks = 0, holds = 0;
    TAMPI_Blocking_enabled(&blocks);
    TAMPI_Nonblocking_enabled(&holds);
    /* A message to itself is not sent before it is received, which a team of one thread has no task for then. */
    const double n_wrong = laps_that_hold() + (n_ranks > 1 ? laps_that_block() : 0) + all_collectives(&holding) +
                           all_collectives(&blocking) + waits_that_block();
    return end("ring", n_wrong + (blocks != 1) + (holds != 1), 0);
}
