/* SPDX-License-Identifier: Apache-2.0
 *
 * The halo exchange of docs/plans.md, recorded where it is started: in the first step of each buffer, and with COMMTASK_PLAN_CHECK=1 in
 * every step, to compare what the program would post with what the plan has. With OpenMP the steps are tasks. */
#include "rod.h"
#include <commtask/commtask.h>
#ifdef _OPENMP
#include <commtask/omp.h>
#endif
enum { n = 1000, n_steps = 50 };
static int n_wrong_here, n_wrong;
static double u[2][n + 2];
static void step(double* to, const double* from, int first, int last) {
    for (int i = first; i <= last; ++i) to[i] = 0.5 * (from[i - 1] + from[i + 1]);
}

/* [record] */
static void record_halo(commtask_plan_t* halo, double* a, int left, int right) {
    const int is_new = *halo == COMMTASK_PLAN_NULL;
    if (!is_new && !commtask_plan_is_checked()) return;
    commtask_record_begin();
    commtask_post(commtask_op_recv(&a[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD), NULL, NULL);
    commtask_post(commtask_op_recv(&a[n + 1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD), NULL, NULL);
    commtask_post(commtask_op_send(&a[1], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD), NULL, NULL);
    commtask_post(commtask_op_send(&a[n], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD), NULL, NULL);
    const int code = is_new ? commtask_record_end(halo) : commtask_record_check(*halo);
    if (code != COMMTASK_OK) MPI_Abort(MPI_COMM_WORLD, 1); /* commtask_last_error() names the first difference */
}
/* [record] */

int main(int argc, char** argv) {
    int level, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (commtask_init(NULL) != COMMTASK_OK) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int i = 0; i < n + 2; ++i) u[0][i] = u[1][i] = at_first(rank * n + i);
    commtask_plan_t halo[2] = {COMMTASK_PLAN_NULL, COMMTASK_PLAN_NULL};
#ifdef _OPENMP
#pragma omp parallel
#pragma omp single
    for (int s = 0; s < n_steps; ++s) {
        double *a = u[s % 2], *b = u[(s + 1) % 2];
        /* [omp] */
        record_halo(&halo[s % 2], a, left, right);
        COMM_PLAN(halo[s % 2], in(&a[1], &a[n]), out(&a[0], &a[n + 1]));
        /* [omp] */
#pragma omp task depend(in : a[0], a[1], a[n], a[n + 1]) depend(out : b[1], b[n])
        step(b, a, 1, n);
    }
#else
    for (int s = 0; s < n_steps; ++s) {
        double *a = u[s % 2], *b = u[(s + 1) % 2];
        commtask_t run = COMMTASK_NULL;
        /* [c] */
        record_halo(&halo[s % 2], a, left, right);
        commtask_plan_start(halo[s % 2], NULL, &run);
        /* [c] */
        commtask_wait(&run, NULL);
        step(b, a, 1, n);
    }
#endif
    n_wrong_here = wrong_cells(u[n_steps % 2], n, n_steps, rank, size);
    commtask_t sum = COMMTASK_NULL;
    commtask_post(commtask_op_allreduce(&n_wrong_here, &n_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), NULL, &sum);
    commtask_wait(&sum, NULL);
    for (int i = 0; i < 2; ++i) commtask_plan_release(&halo[i]);
    commtask_finalize();
    MPI_Finalize();
    return n_wrong != 0;
}
