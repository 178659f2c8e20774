// SPDX-License-Identifier: Apache-2.0
//
// Bodies of oneTBB that wait for a message and leave their thread meanwhile. The arena has one thread, so what sends, which the
// body makes itself, runs only once that is suspended: the first one is sure to be.
#include <commtask/tbb.hpp>

#include <mpi.h>

#include <array>
#include <atomic>

namespace ct = commtask::tbb;
namespace flow = tbb::flow;

int main(int argc, char** argv) {
    constexpr int n_rounds = 10;
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::atomic<int> sum{0};
    std::array<std::array<int, 1>, n_rounds> given{};
    {
        commtask::runtime runtime;
        ct::arena arena(1);
        arena.execute([&] {
            flow::graph g;
            flow::function_node<int, int> send(g, flow::unlimited, ct::traced("send", [&](int round) {
                                                   std::array<int, 1>& mine = given.at(static_cast<std::size_t>(round));
                                                   mine[0] = round;
                                                   auto task = commtask::post(
                                                       commtask::send(mine, rank, round, MPI_COMM_WORLD));
                                                   return static_cast<int>(ct::wait(task).is_completed());
                                               }));
            flow::function_node<int, int> receive(g, flow::unlimited, ct::traced("receive", [&](int round) {
                                                      std::array<int, 1> got{-1};
                                                      auto task = commtask::post(
                                                          commtask::recv(got, rank, round, MPI_COMM_WORLD));
                                                      send.try_put(round);
                                                      static_cast<void>(ct::wait(task));
                                                      return sum += got[0];
                                                  }));
            for (int round = 0; round < n_rounds; ++round) receive.try_put(round);
            g.wait_for_all();
        });
    }
    MPI_Finalize();
    return sum == n_rounds * (n_rounds - 1) / 2 ? 0 : 1;
}
