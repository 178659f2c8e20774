/* SPDX-License-Identifier: Apache-2.0
 *
 * A rod of heat twice: by MPI_Isend, MPI_Irecv and MPI_Waitall, and line by line as communication tasks. Both give the same
 * numbers. The parts between the marks are shown on docs/from-mpi.md as they stand. */
#include <commtask/omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 1000, n_steps = 40 };
static double u[2][n + 2]; /* n cells and a ghost at each end, for this step and the next */
static int left, right;

static void compute(double* to, const double* from, int first, int last) {
    for (int i = first; i <= last; ++i) to[i] = 0.5 * (from[i - 1] + from[i + 1]);
}

/* [before] */
static void run_with_waits(void) {
    for (int s = 0; s < n_steps; ++s) {
        double *a = u[s % 2], *b = u[(s + 1) % 2];
        MPI_Request requests[4];
        MPI_Irecv(&a[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&a[n + 1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(&a[1], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(&a[n], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[3]);
        compute(b, a, 2, n - 1);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        compute(b, a, 1, 1);
        compute(b, a, n, n);
    }
}
/* [before] */

/* [after] */
static void run_with_tasks(void) {
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (int s = 0; s < n_steps; ++s) {
        double *a = u[s % 2], *b = u[(s + 1) % 2];
        COMM_TASK(recv(&a[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD), out(&a[0]));
        COMM_TASK(recv(&a[n + 1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD), out(&a[n + 1]));
        COMM_TASK(send(&a[1], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD), in(&a[1]));
        COMM_TASK(send(&a[n], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD), in(&a[n]));
#pragma omp task depend(in : a[1], a[2], a[n]) depend(out : b[2])
        compute(b, a, 2, n - 1); /* the inner cells, known by their first */
#pragma omp task depend(in : a[0], a[1], a[2]) depend(out : b[1])
        compute(b, a, 1, 1);
#pragma omp task depend(in : a[2], a[n], a[n + 1]) depend(out : b[n])
        compute(b, a, n, n);
    }
}
/* [after] */

static double sum_after(void (*run)(void)) {
    for (int i = 0; i <= n + 1; ++i) u[0][i] = u[1][i] = i % 17;
    run();
    double sum = 0;
    for (int i = 1; i <= n; ++i) sum += u[n_steps % 2][i] * i;
    return sum;
}

int main(int argc, char** argv) {
    int level, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (commtask_init(NULL) != COMMTASK_OK) {
        fprintf(stderr, "%s\n", commtask_last_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    const double with_waits = sum_after(run_with_waits), with_tasks = sum_after(run_with_tasks);
    if (with_waits != with_tasks)
        fprintf(stderr, "rank %d: %.17g with waits, %.17g with tasks\n", rank, with_waits, with_tasks);
    const int code = commtask_finalize();
    MPI_Finalize();
    return with_waits == with_tasks && code == COMMTASK_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
