/* SPDX-License-Identifier: Apache-2.0
 *
 * An epoch between two fences and a write to a file as tasks of OpenMP: dependences put the fences before and behind what is
 * between them, and the file's task after the one that makes its data. One rank or more in a ring. */
#include <commtask/omp.h>

#include <stdio.h>

enum { n = 64 };

int main(int argc, char** argv) {
    int level, rank, n_ranks, n_wrong = 0;
    double *base, values[n], seen[n];
    char epoch;
    MPI_Win window;
    MPI_File file;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    const int left = (rank + n_ranks - 1) % n_ranks;
    const int right = (rank + 1) % n_ranks;
    if (commtask_init(NULL) != COMMTASK_OK) return 1;
    MPI_Win_allocate(n * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_File_open(MPI_COMM_WORLD, "omp_windows.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    n_wrong += commtask_win_register_epochs(window, MPI_COMM_WORLD) != COMMTASK_OK;
    const MPI_Offset mine = rank * (MPI_Offset)sizeof values;

#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task depend(out : values) shared(values)
        for (int i = 0; i < n; ++i) {
            values[i] = rank + i;
        }
        COMM_TASK(win_fence(0, window), out(&epoch));
        COMM_TASK(put(values, n, MPI_DOUBLE, right, 0, n, MPI_DOUBLE, window), in(values), in(&epoch));
        COMM_TASK(win_fence(MPI_MODE_NOSUCCEED, window), out(&epoch));
        COMM_TASK(file_write_at(mine, values, n, MPI_DOUBLE, file, MPI_COMM_WORLD), in(values), out(seen));
        COMM_TASK(file_read_at(mine, seen, n, MPI_DOUBLE, file, MPI_COMM_WORLD), out(seen));
    }
    for (int i = 0; i < n; ++i) n_wrong += base[i] != left + i || seen[i] != rank + i;
    n_wrong += commtask_omp_error_count() > 0;
    n_wrong += commtask_file_close(&file, MPI_COMM_WORLD) != COMMTASK_OK;
    n_wrong += commtask_win_unregister(window) != COMMTASK_OK;
    if (n_wrong > 0) fprintf(stderr, "rank %d: %d wrong values or calls\n", rank, n_wrong);
    MPI_Win_free(&window);
    commtask_finalize();
    MPI_Finalize();
    return n_wrong != 0;
}
