/* SPDX-License-Identifier: Apache-2.0
 *
 * The program of the README: a ring of ranks, each of which adds what it receives. The part between the marks is shown
 * there as it stands. */
/* [readme] */
#include <commtask/omp.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int level, rank, size;
    double edge[100] = {1}, ghost[100], local = 0, total = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (commtask_init(NULL) != COMMTASK_OK) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#pragma omp parallel
#pragma omp single
    {
        COMM_TASK(recv(ghost, 100, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD), out(ghost));
        COMM_TASK(send(edge, 100, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD), in(edge));
#pragma omp task depend(in : ghost) depend(out : local)
        local = ghost[0] + rank;
        COMM_TASK(allreduce(&local, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), in(&local), out(&total));
#pragma omp task depend(in : total)
        if (rank == 0) printf("total %g\n", total);
    }
    commtask_finalize();
    MPI_Finalize();
}
/* [readme] */
