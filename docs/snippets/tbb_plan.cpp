// SPDX-License-Identifier: Apache-2.0
//
// The plan of docs/plans.md in a flow graph of oneTBB: two messages from the left; each is used as soon as it has arrived, and the next
// exchange starts when all have ended.
#include <commtask/commtask.hpp>
#include <commtask/tbb.hpp>

#include <array>
#include <atomic>
#include <cstdlib>

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    std::atomic<int> n_used{0};
    std::atomic<int> n_wrong{0};
    int n_exchanges = 0;
    {
        const commtask::runtime library;
        int rank = 0;
        int size = 1;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        const int left = (rank + size - 1) % size;
        const int right = (rank + 1) % size;
        std::array<std::array<double, 100>, 2> edges{};
        std::array<std::array<double, 100>, 2> ghosts{};
        // [tbb]
        commtask::plan halo{[&] {
            commtask::post_detached(commtask::recv(ghosts[0], left, 0, MPI_COMM_WORLD));
            commtask::post_detached(commtask::recv(ghosts[1], left, 1, MPI_COMM_WORLD));
            commtask::post_detached(commtask::send(edges[0], right, 0, MPI_COMM_WORLD));
            commtask::post_detached(commtask::send(edges[1], right, 1, MPI_COMM_WORLD));
        }};
        tbb::flow::graph graph;
        commtask::tbb::plan_node<int> exchange{graph, halo};
        tbb::flow::function_node<std::size_t> use{graph, tbb::flow::unlimited, [&](std::size_t member) {
                                                      if (member >= 2) return tbb::flow::continue_msg{}; // a send
                                                      ++n_used;
                                                      if (ghosts[member][99] != 10.0 * left + double(member)) ++n_wrong;
                                                      return tbb::flow::continue_msg{};
                                                  }};
        tbb::flow::make_edge(exchange.members(), use);
        for (int step = 0; step < 20; ++step) {
            edges[0].fill(10.0 * rank);
            edges[1].fill(10.0 * rank + 1);
            exchange.try_put(step); // one post, four messages
            graph.wait_for_all();
            ++n_exchanges;
        }
        // [tbb]
    }
    MPI_Finalize();
    return n_used == 2 * n_exchanges && n_wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
