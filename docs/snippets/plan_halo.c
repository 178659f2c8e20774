/* SPDX-License-Identifier: Apache-2.0
 *
 * The halo exchange of docs/plans.md in C: heat in a rod that is cut among the ranks, with one plan for each of the two buffers. Ends
 * with 1 if a cell of any rank is not what it is in a rod in one piece. */
/* [c] */
#include "rod.h" /* at_first(cell), and wrong_cells(), which compares with a rod in one piece */
#include <commtask/commtask.h>
enum { n = 1000, n_steps = 50 };
static int n_wrong_here, n_wrong;
static double u[2][n + 2]; /* n cells and a ghost at each end, for this step and the next */
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
    commtask_record_end(&halo); /* null if something was wrong: commtask_last_error() says what */
    return halo;
}

int main(int argc, char** argv) {
    int level, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (commtask_init(NULL) != COMMTASK_OK) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int i = 0; i < n + 2; ++i) u[0][i] = u[1][i] = at_first(rank * n + i); /* the rod's ends stay as they are */
    commtask_plan_t halo[2] = {record_halo(u[0], left, right), record_halo(u[1], left, right)};
    for (int s = 0; s < n_steps; ++s) {
        double *a = u[s % 2], *b = u[(s + 1) % 2];
        commtask_t run = COMMTASK_NULL;
        commtask_plan_start(halo[s % 2], NULL, &run); /* four messages, one post */
        step(b, a, 2, n - 1);                         /* the inner cells wait for no message */
        commtask_wait(&run, NULL);
        step(b, a, 1, 1);
        step(b, a, n, n);
    }
    n_wrong_here = wrong_cells(u[n_steps % 2], n, n_steps, rank, size);
    commtask_t sum = COMMTASK_NULL;
    commtask_post(commtask_op_allreduce(&n_wrong_here, &n_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), NULL, &sum);
    commtask_wait(&sum, NULL);
    for (int i = 0; i < 2; ++i) commtask_plan_release(&halo[i]);
    commtask_finalize();
    MPI_Finalize();
    return n_wrong != 0;
}
/* [c] */
