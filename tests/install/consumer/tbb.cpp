// SPDX-License-Identifier: Apache-2.0
// A C++ program that uses only the installed oneTBB face: a receive and a send around the ring are nodes of a flow graph,
// and a third node follows the receive. Wrong data or a missing edge makes it fail.
#include <commtask/tbb.hpp>
#include <cstdio>

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    int rank = 0;
    int n_ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    const int left = (rank + n_ranks - 1) % n_ranks;
    const int right = (rank + 1) % n_ranks;
    int received = -1;
    int seen = -1;
    bool is_ended = false;
    {
        commtask::runtime runtime;
        commtask::tbb::arena arena;
        arena.execute([&] {
            tbb::flow::graph graph;
            commtask::tbb::recv_node<std::span<int>> receive(graph, left, 7, MPI_COMM_WORLD);
            commtask::tbb::send_node<std::span<const int>> send(graph, right, 7, MPI_COMM_WORLD);
            tbb::flow::function_node<std::span<int>> look(graph, tbb::flow::serial,
                                                          [&](std::span<int> full) { seen = full[0]; });
            tbb::flow::make_edge(receive, look);
            receive.try_put(commtask::one(received));
            send.try_put(commtask::one(rank));
            graph.wait_for_all();
        });
        is_ended = runtime.finalize();
    }
    const bool is_right = is_ended && seen == left;
    if (!is_right) std::fprintf(stderr, "rank %d saw %d\n", rank, seen);
    MPI_Finalize();
    return is_right ? 0 : 1;
}
