// SPDX-License-Identifier: Apache-2.0
//
// The halo exchange of docs/plans.md in C++: a ring, whose messages are released by the threads that fill them. The body of record()
// stands where the posts would stand; it runs once.
#include <commtask/commtask.hpp>

#include <array>
#include <cstdlib>
#include <thread>

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    bool is_right = true;
    {
        const commtask::runtime library;
        int rank = 0;
        int size = 1;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        const int left = (rank + size - 1) % size;
        const int right = (rank + 1) % size;
        std::array<double, 1000> edge{};
        std::array<double, 1000> ghost{};
        // [cpp]
        commtask::plan halo;
        for (int step = 0; step < 10; ++step) {
            halo.record([&] { // runs in the first step only
                commtask::post_detached(commtask::recv(ghost, left, 0, MPI_COMM_WORLD));
                commtask::post_detached(commtask::send(edge, right, 0, MPI_COMM_WORLD));
            });
            if (step == 0) halo.defer(1);
            commtask::task run = halo.start(); // member 1, the send, waits for its buffer
            std::thread compute{[&] {
                edge.fill(100.0 * step + rank);
                halo.pready(1); // no post: three atomic operations
            }};
            const commtask::outcome ended = run.wait();
            compute.join();
            is_right = is_right && ended.is_completed() && ghost[0] == 100.0 * step + left && ghost[999] == ghost[0];
        }
        // [cpp]
    }
    MPI_Finalize();
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
