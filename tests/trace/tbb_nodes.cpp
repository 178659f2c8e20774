// SPDX-License-Identifier: Apache-2.0
//
// oneTBB's tasks for a trace: a node whose body has a name sends to this rank and receives that, inside an arena. It waits as a
// thread that blocks does, so nothing else runs inside the body. Then bodies behind what nodes receive, which nobody waits for.
#include <commtask/tbb.hpp>

#include <mpi.h>

#include <array>
#include <cstddef>

namespace ct = commtask::tbb;
namespace flow = tbb::flow;

namespace {

constexpr int n_rounds = 10;

/// A message of a node and one of a plan's in each round; each comes once the graph has nothing else to do.
int receive_in_nodes(int rank) {
    std::array<int, 1> got{};
    std::array<int, 1> got_by_plan{};
    const commtask::plan receiving{
        [&] { commtask::post_detached(commtask::recv(got_by_plan, rank, n_rounds + 1, MPI_COMM_WORLD)); }};
    int sum = 0;
    flow::graph g;
    ct::recv_node<int> receive(g, flow::serial,
                               [&](int&) { return commtask::recv(got, rank, n_rounds, MPI_COMM_WORLD); });
    ct::plan_node<int> run(g, receiving);
    flow::function_node<int> behind_node(g, flow::serial, ct::traced("behind a node", [&](int) { sum += got[0]; }));
    flow::function_node<std::size_t> behind_member(
        g, flow::serial, ct::traced("behind a member", [&](std::size_t) { sum += got_by_plan[0]; }));
    flow::make_edge(receive, behind_node);
    flow::make_edge(run.members(), behind_member);
    const auto send_and_wait = [&](int value, int tag) {
        const std::array<int, 1> sent{value};
        commtask::task sending = commtask::post(commtask::send(sent, rank, tag, MPI_COMM_WORLD));
        ct::wait_for_all(g);
        static_cast<void>(sending.wait());
    };
    for (int round = 0; round < n_rounds; ++round) {
        receive.try_put(round);
        send_and_wait(1, n_rounds);
        run.try_put(round);
        send_and_wait(2, n_rounds + 1);
    }
    return sum;
}

} // namespace

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int sum = 0;
    int sum_of_nodes = 0;
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
        ct::arena(1).execute([&] { sum_of_nodes = receive_in_nodes(rank); });
    }
    MPI_Finalize();
    return sum == n_rounds * (n_rounds - 1) / 2 && sum_of_nodes == 3 * n_rounds ? 0 : 1;
}
