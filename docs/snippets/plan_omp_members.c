/* SPDX-License-Identifier: Apache-2.0
 *
 * The halo exchange of docs/plans.md with OpenMP, where each task waits for the one message that it needs. A proxy is a plan
 * of one deferred member: an OpenMP task like any plan, which ends when a callback makes that member ready. */
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

/* [proxy] */
static commtask_plan_t record_proxy(void) {
    commtask_plan_t proxy = COMMTASK_PLAN_NULL;
    commtask_record_begin();
    commtask_post(commtask_op_noop(MPI_COMM_SELF), NULL, NULL);
    commtask_record_end(&proxy);
    commtask_plan_defer(proxy, 0);
    return proxy;
}

static void end_proxy(size_t member, const commtask_status* status, void* proxies) { /* runs as each member ends */
    (void)status;
    if (member < 2) commtask_plan_pready(((commtask_plan_t*)proxies)[member], 0); /* members 0 and 1 are the receives */
}
/* [proxy] */

int main(int argc, char** argv) {
    int level, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (commtask_init(NULL) != COMMTASK_OK) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int i = 0; i < n + 2; ++i) u[0][i] = u[1][i] = at_first(rank * n + i);
    commtask_plan_t halo[2] = {record_halo(u[0], left, right), record_halo(u[1], left, right)};
    commtask_plan_t proxy[2][2] = {{record_proxy(), record_proxy()}, {record_proxy(), record_proxy()}};
    for (int i = 0; i < 2; ++i) commtask_plan_on_member(halo[i], end_proxy, proxy[i]);
#pragma omp parallel
#pragma omp single
    {
        for (int s = 0; s < n_steps; ++s) {
            double *a = u[s % 2], *b = u[(s + 1) % 2];
            /* [members] */
            COMM_PLAN(proxy[s % 2][0], out(&a[0]));
            COMM_PLAN(proxy[s % 2][1], out(&a[n + 1]));
            COMM_PLAN(halo[s % 2], in(&a[1], &a[n])); /* a task that reads a ghost depends on a proxy */
#pragma omp task depend(in : a[0], a[1], a[2]) depend(out : b[1])
            step(b, a, 1, 1); /* needs only the message from the left */
#pragma omp task depend(in : a[2], a[n], a[n + 1]) depend(out : b[n])
            step(b, a, n, n);
            /* [members] */
#pragma omp task depend(in : a[1], a[2], a[n]) depend(out : b[2])
            step(b, a, 2, n - 1);
        }
#pragma omp taskwait
        n_wrong_here = wrong_cells(u[n_steps % 2], n, n_steps, rank, size);
        COMM_TASK(allreduce(&n_wrong_here, &n_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), in(&n_wrong_here),
                  out(&n_wrong));
    }
    for (int i = 0; i < 2; ++i) {
        commtask_plan_release(&halo[i]);
        for (int j = 0; j < 2; ++j) commtask_plan_release(&proxy[i][j]);
    }
    commtask_finalize();
    MPI_Finalize();
    return n_wrong != 0;
}
