/* SPDX-License-Identifier: Apache-2.0
 *
 * One source for compilers with the comm clause and without: what the page on the clause says of COMMTASK_HAVE_CLAUSE.
 * Ranks pass their number on around a ring. */
#include <commtask/omp.h>

#if EXPECT_CLAUSE != (COMMTASK_HAVE_CLAUSE + 0)
#error "commtask_enable_clause has not done what was expected"
#endif

int main(int argc, char** argv) {
    int provided, rank, size, got = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    commtask_init(NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
#pragma omp parallel
#pragma omp single
    {
#if COMMTASK_HAVE_CLAUSE
#pragma omp task depend(out : got) comm(recv : &got, 1, MPI_INT, left, 0, MPI_COMM_WORLD)
#pragma omp task depend(in : rank) comm(send : &rank, 1, MPI_INT, right, 0, MPI_COMM_WORLD)
#else
        COMM_TASK(recv(&got, 1, MPI_INT, left, 0, MPI_COMM_WORLD), out(&got));
        COMM_TASK(send(&rank, 1, MPI_INT, right, 0, MPI_COMM_WORLD), in(&rank));
#endif
    }
    commtask_finalize();
    MPI_Finalize();
    return got != left;
}
