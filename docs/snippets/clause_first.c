/* SPDX-License-Identifier: Apache-2.0
 *
 * The smallest whole program with comm clauses: a ring in which every rank sends an edge and receives a ghost. The part
 * between the marks is shown in the docs as it stands, and is what the installed compiler wrapper is tested with. */
/* [first] */
#include <commtask/omp.h>
#include <mpi.h>

int main(int argc, char** argv) {
    int provided, rank, size;
    double edge[100] = {0}, ghost[100];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (commtask_init(NULL) != COMMTASK_OK) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(in : edge) comm(send : edge, 100, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD)
#pragma omp task depend(out : ghost) comm(recv : ghost, 100, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD)
#pragma omp task depend(in : ghost)
        ghost[0] += 1; /* use ghost */
    }
    commtask_finalize();
    MPI_Finalize();
}
/* [first] */
