/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts, and the file of docs/one-sided.md: every rank puts a halo into its right neighbour's window, once to be read after the window was
 * unregistered, once with a notification that the neighbour awaits. It sees that the halo is the left neighbour's. And it writes it to a file. */
#include <commtask/commtask.h>

#include <stdio.h>

enum { n = 64, bytes = n * sizeof(double) };

static int rank, left, right, n_wrong;

static void look_at(const double* base) {
    for (int i = 0; i < n; ++i) n_wrong += base[i] != left;
}

static void put(MPI_Comm comm, const double* halo) {
    double* base;
    MPI_Win window;
    commtask_t task;
    MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, comm, &base, &window);
    commtask_win_register(window, comm); /* all ranks */
    commtask_post(commtask_op_put(halo, n, MPI_DOUBLE, right, 0, n, MPI_DOUBLE, window), NULL, &task);
    commtask_wait(&task, NULL);      /* the halo is free again */
    commtask_win_unregister(window); /* all ranks; then it is in the neighbour's window */
    look_at(base);
    MPI_Win_free(&window);
}

static void put_with_notification(MPI_Comm comm, const double* halo) {
    double* base;
    MPI_Win window;
    MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, comm, &base, &window);
    n_wrong += commtask_win_register(window, comm) != COMMTASK_OK;
    commtask_t task[2];
    commtask_post(commtask_op_put_notify(halo, n, MPI_DOUBLE, right, 0, n, MPI_DOUBLE, 7, window), NULL, &task[0]);
    commtask_post(commtask_op_await_notify(7, 1, left, window), NULL, &task[1]); /* successors read the halo */
    n_wrong += commtask_wait(&task[1], NULL) != COMMTASK_OK;
    look_at(base);
    n_wrong += commtask_wait(&task[0], NULL) != COMMTASK_OK;
    n_wrong += commtask_win_unregister(window) != COMMTASK_OK;
    MPI_Win_free(&window);
}

static void write_file(MPI_Comm comm, const double* halo, const char* name) {
    const MPI_Offset where = rank * (MPI_Offset)bytes;
    /* [file] */
    MPI_File file;
    commtask_t task;
    MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    commtask_post(commtask_op_file_write_at(where, halo, n, MPI_DOUBLE, file, comm), NULL, &task);
    commtask_wait(&task, NULL);       /* or another task that depends on it */
    commtask_file_close(&file, comm); /* all ranks; COMMTASK_ERR_RUNNING if a task still needs the file */
    /* [file] */
    n_wrong += file != MPI_FILE_NULL;
}

int main(int argc, char** argv) {
    int level, n_ranks;
    double halo[n];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    left = (rank + n_ranks - 1) % n_ranks;
    right = (rank + 1) % n_ranks;
    for (int i = 0; i < n; ++i) halo[i] = rank;
    if (commtask_init(NULL) != COMMTASK_OK) return 1;
    put(MPI_COMM_WORLD, halo);
    put_with_notification(MPI_COMM_WORLD, halo);
    write_file(MPI_COMM_WORLD, halo, "/dev/null");
    if (n_wrong > 0) fprintf(stderr, "rank %d: %d wrong values or calls\n", rank, n_wrong);
    commtask_finalize();
    MPI_Finalize();
    return n_wrong != 0;
}
