// SPDX-License-Identifier: Apache-2.0
//
// The first program of docs/cpp.md: a message round the ring while the thread computes. Built and run by the tests, so
// that the page shows what works.
// [first]
#include <commtask/commtask.hpp>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    int rank = 0;
    int n_ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    {
        commtask::runtime runtime;
        std::vector<double> mine(1000, rank);
        std::vector<double> theirs(1000);
        commtask::task received =
            commtask::post(commtask::recv(theirs, (rank + n_ranks - 1) % n_ranks, 7, MPI_COMM_WORLD));
        commtask::post_detached(commtask::send(mine, (rank + 1) % n_ranks, 7, MPI_COMM_WORLD));
        double computed = 0;
        for (int i = 1; i < 100000; ++i) computed += 1.0 / i;
        if (const commtask::outcome ended = received.wait(); !ended)
            std::printf("error class %d\n", ended.error_class());
        if (rank == 0) std::printf("computed %.3f, received %.0f\n", computed, theirs.front());
        if (!runtime.finalize()) return 1; // sent: the buffer may go
    }
    MPI_Finalize();
}
// [first]
