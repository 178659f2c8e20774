// SPDX-License-Identifier: Apache-2.0
//
// oneTBB's tasks for a trace: a node whose body has a name sends to this rank and receives that, inside an arena. It waits as a
// thread that blocks does, so nothing else runs inside the body.
#include <commtask/tbb.hpp>

#include <mpi.h>

#include <array>

namespace ct = commtask::tbb;
namespace flow = tbb::flow;

int main(int argc, char** argv) {
    constexpr int n_rounds = 10;
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int sum = 0;
    {
        commtask::runtime runtime;
        ct::arena arena;
        arena.execute([&] {
            flow::graph g;
            flow::function_node<int, int> add(g, flow::serial, ct::traced("add up", [&](int round) {
                                                  std::array<int, 1> sent{round};
                                                  std::array<int, 1> got{-1};
                                                  auto receive =
                                                      commtask::post(commtask::recv(got, rank, round, MPI_COMM_WORLD));
                                                  auto send =
                                                      commtask::post(commtask::send(sent, rank, round, MPI_COMM_WORLD));
                                                  static_cast<void>(receive.wait());
                                                  static_cast<void>(send.wait());
                                                  return sum += got[0];
                                              }));
            for (int round = 0; round < n_rounds; ++round) add.try_put(round);
            g.wait_for_all();
        });
    }
    MPI_Finalize();
    return sum == n_rounds * (n_rounds - 1) / 2 ? 0 : 1;
}
