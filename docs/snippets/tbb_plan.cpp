// SPDX-License-Identifier: Apache-2.0
//
// The halo exchange of docs/plans.md in a flow graph of oneTBB. The rod is compared with the whole one, which each rank computes alone;
// it changes in every step, so that a ghost of another step would be seen.
#include <commtask/commtask.hpp>
#include <commtask/tbb.hpp>

#include <array>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

namespace flow = tbb::flow;

constexpr int n = 1000;
constexpr unsigned n_steps = 50;

/// One step of cells first to last.
static void step(std::vector<double>& to, const std::vector<double>& from, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i <= last; ++i) to[i] = 0.5 * (from[i - 1] + from[i + 1]);
}

static commtask::plan record_halo(std::vector<double>& a, int left, int right) {
    return commtask::plan{[&] {
        commtask::post_detached(commtask::recv(std::span{&a[0], 1}, left, 0, MPI_COMM_WORLD));
        commtask::post_detached(commtask::recv(std::span{&a[n + 1], 1}, right, 1, MPI_COMM_WORLD));
        commtask::post_detached(commtask::send(std::span{&a[1], 1}, left, 1, MPI_COMM_WORLD));
        commtask::post_detached(commtask::send(std::span{&a[n], 1}, right, 0, MPI_COMM_WORLD));
    }};
}

/// A step from buffer a to buffer b: a message to `exchange` starts its four messages.
struct halo_step {
    halo_step(flow::graph& graph, std::vector<double>& a, std::vector<double>& b, int left, int right)
        : halo(record_halo(a, left, right)), exchange(graph, halo),
          ends(graph, flow::unlimited, [&a, &b](std::size_t member) {
              if (member == 0) step(b, a, 1, 1); // as soon as the message from the left has come
              if (member == 1) step(b, a, n, n);
              return flow::continue_msg{};
          }) {
        flow::make_edge(exchange.members(), ends);
    }
    commtask::plan halo;
    commtask::tbb::plan_node<unsigned> exchange;
    flow::function_node<std::size_t> ends;
};

/// What the rod is, ghosts at its ends included, in the beginning.
static double initial(int cell) { return (cell * 37) % 101; }

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
        const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
        const int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
        const auto n_all = static_cast<std::size_t>(size * n);
        std::array<std::vector<double>, 2> u{std::vector<double>(n + 2), std::vector<double>(n + 2)};
        for (int i = 0; i < n + 2; ++i) {
            u[0][std::size_t(i)] = initial(rank * n + i);
            const bool has_ghost = (i == 0 && rank > 0) || (i == n + 1 && rank + 1 < size);
            if (has_ghost) u[0][std::size_t(i)] = -1;
        }
        u[1] = u[0];
        std::vector<double> whole(n_all + 2);
        for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = initial(int(i));
        std::vector<double> before = whole;
        flow::graph graph;
        halo_step from_first{graph, u[0], u[1], left, right};
        halo_step from_second{graph, u[1], u[0], left, right};
        for (unsigned s = 0; s < n_steps; ++s) {
            halo_step& now = s % 2 == 0 ? from_first : from_second;
            now.exchange.try_put(s);                  // one post, four messages
            step(u[(s + 1) % 2], u[s % 2], 2, n - 1); // the inner cells wait for no message
            commtask::tbb::wait_for_all(graph);       // for both ends, and for what has been sent
        }
        for (unsigned s = 0; s < n_steps; ++s) {
            std::swap(whole, before);
            step(whole, before, 1, n_all);
        }
        for (std::size_t i = 1; i <= n; ++i) {
            if (u[n_steps % 2][i] != whole[std::size_t(rank * n) + i]) ++n_wrong;
        }
    }
    MPI_Finalize();
    return n_wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
