/* SPDX-License-Identifier: Apache-2.0
 *
 * The tutorial of docs/clause.md: heat in a rod that is cut among the ranks, with a halo exchange in every step and a
 * sum at the end. The rod begins in its steady state, so every step must leave it as it is, and a message that does not
 * come in time is seen in the sum. The part between the marks is shown in the docs as it stands. */
/* [halo] */
#include <commtask/omp.h>
enum { n = 1000, n_steps = 50 };
static double u[2][n + 2], local, total; /* u: n cells and a ghost at each end, for this step and the next */
static void step(double* to, const double* from, int first, int last) {
    for (int i = first; i <= last; ++i) to[i] = 0.5 * (from[i - 1] + from[i + 1]);
}

int main(int argc, char** argv) {
    int level, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (commtask_init(NULL) != COMMTASK_OK) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int i = 1; i <= n; ++i) u[0][i] = rank * n + i;
    u[0][n + 1] = u[1][n + 1] = rank + 1 < size ? 0 : size * n + 1; /* the rod's ends stay as they are */
#pragma omp parallel
#pragma omp single
    {
        for (int s = 0; s < n_steps; ++s) {
            double *a = u[s % 2], *b = u[(s + 1) % 2];
#pragma omp task depend(in : a[1]) comm(send : &a[1], 1, MPI_DOUBLE, left, s, MPI_COMM_WORLD)
#pragma omp task depend(in : a[n]) comm(send : &a[n], 1, MPI_DOUBLE, right, s, MPI_COMM_WORLD)
#pragma omp task depend(out : a[0]) comm(recv : &a[0], 1, MPI_DOUBLE, left, s, MPI_COMM_WORLD)
#pragma omp task depend(out : a[n + 1]) comm(recv : &a[n + 1], 1, MPI_DOUBLE, right, s, MPI_COMM_WORLD)
#pragma omp task depend(in : a[1], a[2], a[n]) depend(out : b[2])
            step(b, a, 2, n - 1); /* the inner cells, known by their first: they wait for no message */
#pragma omp task depend(in : a[0], a[1], a[2]) depend(out : b[1])
            step(b, a, 1, 1);
#pragma omp task depend(in : a[2], a[n], a[n + 1]) depend(out : b[n])
            step(b, a, n, n);
        }
#pragma omp taskwait
        for (int i = 1; i <= n; ++i) local += u[n_steps % 2][i];
#pragma omp task depend(out : total) comm(allreduce : &local, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)
    }
    commtask_finalize();
    MPI_Finalize();
    return total != 0.5 * size * n * (size * n + 1);
}
/* [halo] */
