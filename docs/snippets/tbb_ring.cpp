// SPDX-License-Identifier: Apache-2.0
//
// The program of docs/tbb.md: blocks go round a ring of ranks as messages of a flow graph, and a task waits for a message. It
// checks its results and ends with 1 if one is wrong.
// [program]
#include <commtask/tbb.hpp>
#include <cstdio>
#include <numeric>
#include <vector>

namespace ct = commtask::tbb;
namespace flow = tbb::flow;

struct block {
    int hop = 0;
    std::vector<double> values = std::vector<double>(1000);
};

double sum_over_ring(const std::vector<double>& mine, MPI_Comm comm) {
    int rank = 0;
    int n_ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    const int left = (rank + n_ranks - 1) % n_ranks;
    const int right = (rank + 1) % n_ranks;
    double total = 0;

    flow::graph g;
    ct::recv_node<block> from_left(g, flow::unlimited,
                                   [=](block& b) { return commtask::recv(b.values, left, b.hop, comm); });
    ct::send_node<block> to_right(g, flow::unlimited,
                                  [=](block& b) { return commtask::send(b.values, right, b.hop, comm); });
    using add_node = flow::multifunction_node<block, std::tuple<block>>;
    add_node add(g, flow::serial, [&](const block& b, add_node::output_ports_type& ports) {
        total += std::accumulate(b.values.begin(), b.values.end(), 0.0);
        // A block that is back at its first rank ends here.
        if (b.hop + 1 < n_ranks) std::get<0>(ports).try_put({b.hop + 1, b.values});
    });
    flow::make_edge(from_left, add);
    flow::make_edge(flow::output_port<0>(add), to_right);

    for (int hop = 0; hop < n_ranks; ++hop) from_left.try_put({.hop = hop});
    to_right.try_put({0, mine});
    g.wait_for_all();
    return total;
}

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    int rank = 0;
    int n_ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    bool is_right = true;
    {
        commtask::runtime runtime; // takes the worker's core
        ct::arena arena;           // has no thread on that core
        if (!arena.leaves_core_free() && rank == 0) std::printf("%s\n", arena.advice().c_str());
        double total = 0;
        arena.execute([&] { total = sum_over_ring(std::vector<double>(1000, rank + 1), MPI_COMM_WORLD); });
        is_right = total == 1000.0 * n_ranks * (n_ranks + 1) / 2;

        tbb::task_group group;
        group.run([&] {
            double theirs = 0;
            commtask::task received =
                commtask::post(commtask::recv(commtask::one(theirs), (rank + 1) % n_ranks, 7, MPI_COMM_WORLD));
            if (const commtask::outcome ended = ct::wait(received); !ended) // the thread does other work meanwhile
                std::printf("error class %d\n", ended.error_class());
        });
        const double mine = 1;
        commtask::post_detached(commtask::send(commtask::one(mine), (rank + n_ranks - 1) % n_ranks, 7, MPI_COMM_WORLD));
        group.wait();
        is_right = runtime.finalize() && is_right;
    }
    MPI_Finalize();
    return is_right ? 0 : 1;
}
// [program]
