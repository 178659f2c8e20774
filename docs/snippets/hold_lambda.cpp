// SPDX-License-Identifier: Apache-2.0
//
// The halo of docs/hold.md in C++: what a lambda starts inside a task holds that task too. The part between the marks is shown on
// that page.
#include <commtask/omp.h>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
    int rank = 0, n_ranks = 0, level = 0, ghost[2] = {-1, -1};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (commtask_init(nullptr) != COMMTASK_OK) return 1;
    const int neighbour[2] = {(rank + n_ranks - 1) % n_ranks, (rank + 1) % n_ranks};
    int edge = rank;

#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        // [lambda]
        const auto exchange = [&](int side) {
            commtask_omp_hold(commtask_op_recv(&ghost[side], 1, MPI_INT, neighbour[side], 1 - side, MPI_COMM_WORLD));
            commtask_omp_hold(commtask_op_send(&edge, 1, MPI_INT, neighbour[side], side, MPI_COMM_WORLD));
        };
#pragma omp task depend(in : edge) depend(out : ghost)
        for (const int side : {0, 1}) exchange(side);
#pragma omp task depend(in : ghost)
        std::printf("rank %d is between %d and %d\n", rank, ghost[0], ghost[1]);
        // [lambda]
    }

    const bool is_wrong = ghost[0] != neighbour[0] || ghost[1] != neighbour[1] || commtask_omp_error_count() > 0;
    commtask_finalize();
    MPI_Finalize();
    return is_wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
