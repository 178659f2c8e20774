/* SPDX-License-Identifier: Apache-2.0
 *
 * The halo exchange of docs/plans.md with OpenMP: the program of plan_halo.c, whose steps are tasks. Compiled as it stands it starts
 * its plans by COMM_PLAN; under commtask-clang, with CLAUSE defined, by the comm clause. */
#include "rod.h"
#include <commtask/omp.h>
enum { n = 1000, n_steps = 50 };
static int n_wrong_here, n_wrong;
static double u[2][n + 2];
static void step(double* to, const double* from, int first, int last) {
    for (int i = first; i <= last; ++i) to[i] = 0.5 * (from[i - 1] + from[i + 1]);
}

static commtask_plan_t record_halo(double* a, int left, int right) {
    commtask_plan_t halo = COMMTASK_PLAN_NULL;
    commtask_record_begin();
    commtask_post(commtask_op_recv(&a[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD), NULL, NULL);
    commtask_post(commtask_op_recv(&a[n + 1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD), NULL, NULL);
    commtask_post(commtask_op_send(&a[1], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD), NULL, NULL);
    commtask_post(commtask_op_send(&a[n], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD), NULL, NULL);
    commtask_record_end(&halo);
    return halo;
}

int main(int argc, char** argv) {
    int level, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (commtask_init(NULL) != COMMTASK_OK) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int i = 0; i < n + 2; ++i) u[0][i] = u[1][i] = at_first(rank * n + i);
    commtask_plan_t halo[2] = {record_halo(u[0], left, right), record_halo(u[1], left, right)};
#pragma omp parallel
#pragma omp single
    {
        for (int s = 0; s < n_steps; ++s) {
            double *a = u[s % 2], *b = u[(s + 1) % 2];
#ifndef CLAUSE
            /* [omp] */
            COMM_PLAN(halo[s % 2], in(&a[1], &a[n]), out(&a[0], &a[n + 1])); /* four messages, one task */
#pragma omp task depend(in : a[1], a[2], a[n]) depend(out : b[2])
            step(b, a, 2, n - 1); /* the inner cells wait for no message */
#pragma omp task depend(in : a[0], a[1], a[2]) depend(out : b[1])
            step(b, a, 1, 1);
#pragma omp task depend(in : a[2], a[n], a[n + 1]) depend(out : b[n])
            step(b, a, n, n);
            /* [omp] */
#else
            /* [clause] */
#pragma omp task depend(in : a[1], a[n]) depend(out : a[0], a[n + 1]) comm(plan : halo[s % 2])
            /* [clause] */
#pragma omp task depend(in : a[1], a[2], a[n]) depend(out : b[2])
            step(b, a, 2, n - 1);
#pragma omp task depend(in : a[0], a[1], a[2]) depend(out : b[1])
            step(b, a, 1, 1);
#pragma omp task depend(in : a[2], a[n], a[n + 1]) depend(out : b[n])
            step(b, a, n, n);
#endif
        }
#pragma omp taskwait
        n_wrong_here = wrong_cells(u[n_steps % 2], n, n_steps, rank, size);
        COMM_TASK(allreduce(&n_wrong_here, &n_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), in(&n_wrong_here),
                  out(&n_wrong));
    }
    for (int i = 0; i < 2; ++i) commtask_plan_release(&halo[i]);
    commtask_finalize();
    MPI_Finalize();
    return n_wrong != 0;
}
