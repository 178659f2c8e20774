/* SPDX-License-Identifier: Apache-2.0
 *
 * The first program of docs/one-sided.md: each rank of a ring puts a halo into its right neighbour's window with a notification, and
 * awaits its left neighbour's. Ends with 1 if the halo is another rank's. */
/* [program] */
#include <commtask/commtask.h>
enum { n = 64, tag = 7 };

int main(int argc, char** argv) {
    int level, rank, size, n_wrong = 0;
    double halo[n], *base;
    MPI_Win window;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (commtask_init(NULL) != COMMTASK_OK) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int i = 0; i < n; ++i) halo[i] = rank;
    MPI_Win_allocate(n * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    commtask_win_register(window, MPI_COMM_WORLD); /* all ranks */
    commtask_t put, come;
    commtask_post(commtask_op_put_notify(halo, n, MPI_DOUBLE, right, 0, n, MPI_DOUBLE, tag, window), NULL, &put);
    commtask_post(commtask_op_await_notify(tag, 1, left, window), NULL, &come);
    commtask_wait(&come, NULL); /* the left neighbour's halo is here: a task that depends on this one could read it */
    for (int i = 0; i < n; ++i) n_wrong += base[i] != left;
    commtask_wait(&put, NULL);
    commtask_win_unregister(window); /* all ranks */
    MPI_Win_free(&window);
    commtask_finalize();
    MPI_Finalize();
    return n_wrong != 0;
}
/* [program] */
