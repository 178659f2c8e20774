// SPDX-License-Identifier: Apache-2.0
//
// The active-message handler of docs/many.md in a flow graph: any rank sends, and each message starts a task of its receiver's
// graph.
#include <commtask/tbb.hpp>

#include <cstdlib>
#include <numeric>
#include <vector>

namespace flow = tbb::flow;

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    int n_wrong = 0;
    {
        const commtask::runtime library;
        int rank = 0;
        int size = 1;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        constexpr int n_messages = 20;
        std::vector<int> next(static_cast<std::size_t>(size));
        int n_seen = 0;
        flow::graph graph;
        commtask::tbb::listen_node numbers{graph, MPI_COMM_WORLD, 3, sizeof(int), 8};
        using message = commtask::tbb::listen_node::message_type;
        flow::function_node<message> count{graph, flow::serial, [&](const message& come) {
                                               int& expected = next[static_cast<std::size_t>(come->source())];
                                               if (come->as<int>()[0] != expected++) ++n_wrong;
                                               if (++n_seen == n_messages * size) numbers.stop();
                                               return flow::continue_msg{};
                                           }};
        flow::make_edge(numbers.messages(), count);
        numbers.start();
        std::vector<int> everyone(static_cast<std::size_t>(size));
        std::iota(everyone.begin(), everyone.end(), 0);
        std::vector<int> mine(n_messages);
        std::iota(mine.begin(), mine.end(), 0);
        std::vector<commtask::task> sent; // not waited for here: this thread runs the graph, which lets messages in
        for (int& i : mine) {
            sent.push_back(commtask::post(commtask::multicast(commtask::one(i), everyone, 3, MPI_COMM_WORLD)));
        }
        graph.wait_for_all();
        for (commtask::task& each : sent) {
            if (!each.wait().is_completed()) ++n_wrong;
        }
        if (n_seen != n_messages * size) ++n_wrong;
    }
    MPI_Finalize();
    return n_wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
