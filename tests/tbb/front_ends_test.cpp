// SPDX-License-Identifier: Apache-2.0
//
// One program, one runtime, all faces at once: tasks of OpenMP, a graph of oneTBB, a suspended task, and a thread with the
// C interface, each exchanging with the neighbours at the same time and all of them ending.
#include "tbb_fixture.hpp"

#include <commtask/omp.h>

#include <array>
#include <thread>

using namespace commtask::test;
using commtask::one;

namespace {

constexpr int n_rounds = 50;

/// Receives from the left in turn with sending to the right; adds up what came.
struct ring {
    int rank = 0;
    int left = 0;
    int right = 0;
    MPI_Comm comm = MPI_COMM_NULL;
};

int by_openmp(const ring& at) {
    std::array<int, n_rounds> got{};
    int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < n_rounds; ++i) {
        int* const into = &got[static_cast<std::size_t>(i)];
        COMM_TASK(recv(into, 1, MPI_INT, at.left, 1000 + i, at.comm), out(into));
        COMM_TASK(send(&at.rank, 1, MPI_INT, at.right, 1000 + i, at.comm), in(&at.rank));
#pragma omp task depend(in : *into) depend(inout : sum) shared(sum) firstprivate(into)
        sum += *into;
    }
    return sum;
}

int by_graph(const ring& at) {
    std::array<int, n_rounds> got{};
    int sum = 0;
    flow::graph graph;
    ct::recv_node<int> receive(graph, flow::unlimited, [&](int& i) {
        return commtask::recv(one(got[static_cast<std::size_t>(i)]), at.left, 2000 + i, at.comm);
    });
    ct::send_node<int> send(graph, flow::unlimited,
                            [&](int& i) { return commtask::send(one(at.rank), at.right, 2000 + i, at.comm); });
    flow::function_node<int, flow::continue_msg> add(graph, flow::serial,
                                                     [&](int i) { sum += got[static_cast<std::size_t>(i)]; });
    flow::make_edge(receive, add);
    for (int i = 0; i < n_rounds; ++i) {
        receive.try_put(i);
        send.try_put(i);
    }
    graph.wait_for_all();
    return sum;
}

int by_waiting(const ring& at) {
    std::atomic<int> sum{0};
    ::tbb::parallel_for(0, n_rounds, [&](int i) {
        int got = 0;
        commtask::post_detached(commtask::send(one(at.rank), at.right, 3000 + i, at.comm));
        static_cast<void>(ct::wait(commtask::post(commtask::recv(one(got), at.left, 3000 + i, at.comm))));
        sum += got;
    });
    return sum;
}

int by_c_interface(const ring& at) {
    std::array<int, n_rounds> got{};
    std::array<commtask_t, 2 * n_rounds> tasks{};
    for (int i = 0; i < n_rounds; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const commtask_op receive = commtask_op_recv(&got[k], 1, MPI_INT, at.left, 4000 + i, at.comm);
        const commtask_op send = commtask_op_send(&at.rank, 1, MPI_INT, at.right, 4000 + i, at.comm);
        EXPECT_EQ(commtask_post_operation(&receive, nullptr, &tasks[2 * k]), COMMTASK_OK);
        EXPECT_EQ(commtask_post_operation(&send, nullptr, &tasks[2 * k + 1]), COMMTASK_OK);
    }
    EXPECT_EQ(commtask_wait_all(tasks.size(), tasks.data(), nullptr), COMMTASK_OK);
    return std::accumulate(got.begin(), got.end(), 0);
}

TEST_F(TbbFace, OpenMpOneTbbAndTheCInterfaceShareOneRuntime) {
    const ring at{rank_, left(), right(), comm_};
    ASSERT_EQ(commtask_omp_check(), COMMTASK_OK) << commtask_omp_last_error();
    std::array<int, 4> sums{};
    std::thread openmp([&] { sums[0] = by_openmp(at); });
    std::thread plain([&] { sums[3] = by_c_interface(at); });
    in_arena([&] {
        sums[1] = by_graph(at);
        sums[2] = by_waiting(at);
    });
    openmp.join();
    plain.join();
    EXPECT_THAT(sums, testing::Each(n_rounds * left()));
    EXPECT_EQ(commtask_omp_error_count(), 0U);

    // A graph's node between tasks of OpenMP: the same buffers, one after the other.
    int value = rank_;
    int total = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
    {
        COMM_TASK(allreduce(&value, &total, 1, MPI_INT, MPI_SUM, comm_), in(&value), out(&total));
#pragma omp task depend(inout : total) shared(total)
        in_arena([&] {
            flow::graph graph;
            ct::collective_node<flow::continue_msg> largest(
                graph, flow::serial, commtask::allreduce(commtask::in_place, one(total), MPI_SUM, comm_));
            largest.try_put({});
            graph.wait_for_all();
        });
    }
    EXPECT_EQ(total, n_ranks_ * n_ranks_ * (n_ranks_ - 1) / 2);
}

} // namespace
