// SPDX-License-Identifier: Apache-2.0
//
// Snippets of docs/tbb.md: the halo exchange of a 1-D stencil as a flow graph, errors, order. Each marked part stands in
// the page word for word; the rest makes it a program that checks itself against the same steps on one rank.
#include <commtask/tbb.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <span>
#include <vector>

namespace ct = commtask::tbb;
namespace flow = tbb::flow;

namespace {

constexpr std::size_t n_cells = 100; ///< Of one rank.
constexpr int n_steps = 50;

double start_value(std::size_t cell) { return static_cast<double>((cell * 7919) % 101); }
double relaxed(double left, double middle, double right) { return 0.25 * left + 0.5 * middle + 0.25 * right; }

/// u has a ghost cell at each end.
void heat(std::span<double> u, std::span<double> next, MPI_Comm comm) {
    int rank = 0;
    int n_ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    using tbb::flow::continue_msg;
    const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int right = rank + 1 < n_ranks ? rank + 1 : MPI_PROC_NULL;
    const std::size_t last = u.size() - 2; // u[0] and u[last + 1] are the neighbours'
    const auto update = [&](std::size_t i) { next[i] = relaxed(u[i - 1], u[i], u[i + 1]); };

    flow::graph g;
    flow::broadcast_node<continue_msg> start(g);
    // [nodes]
    using commtask::one, commtask::recv, commtask::send;
    ct::recv_node<continue_msg> left_halo(g, flow::serial, recv(one(u[0]), left, 0, comm));
    ct::recv_node<continue_msg> right_halo(g, flow::serial, recv(one(u[last + 1]), right, 1, comm));
    ct::send_node<continue_msg> to_right(g, flow::serial, send(one(u[last]), right, 0, comm));
    ct::send_node<continue_msg> to_left(g, flow::serial, send(one(u[1]), left, 1, comm));
    // [nodes]
    flow::continue_node<continue_msg> interior(g, [&](const continue_msg&) {
        for (std::size_t i = 2; i < last; ++i) update(i); // while the messages are on their way
    });
    flow::continue_node<continue_msg> left_edge(g, [&](const continue_msg&) { update(1); });
    flow::continue_node<continue_msg> right_edge(g, [&](const continue_msg&) { update(last); });
    flow::continue_node<continue_msg> end_of_step(g, [&](const continue_msg&) {
        std::copy_n(&next[1], last, &u[1]); // all five have ended: the sends have left u, the updates have read it
    });
    flow::make_edge(start, left_halo);
    flow::make_edge(start, right_halo);
    flow::make_edge(start, to_right);
    flow::make_edge(start, to_left);
    flow::make_edge(start, interior);
    flow::make_edge(left_halo, left_edge);
    flow::make_edge(right_halo, right_edge);
    for (auto* part : {&interior, &left_edge, &right_edge}) flow::make_edge(*part, end_of_step);
    flow::make_edge(to_right, end_of_step);
    flow::make_edge(to_left, end_of_step);

    for (int step = 0; step < n_steps; ++step) {
        start.try_put({});
        g.wait_for_all();
    }
}

bool is_as_on_one_rank(std::span<const double> u, int rank, int n_ranks) {
    const std::size_t n_all = n_cells * static_cast<std::size_t>(n_ranks);
    std::vector<double> all(n_all + 2, 0.0);
    for (std::size_t i = 1; i <= n_all; ++i) all[i] = start_value(i);
    for (int step = 0; step < n_steps; ++step) {
        std::vector<double> next = all;
        for (std::size_t i = 1; i <= n_all; ++i) next[i] = relaxed(all[i - 1], all[i], all[i + 1]);
        all.swap(next);
    }
    return std::equal(u.begin() + 1, u.end() - 1, all.begin() + 1 + static_cast<std::ptrdiff_t>(n_cells) * rank);
}

bool shows_errors(int rank, int n_ranks, MPI_Comm comm) {
    const int left = (rank + n_ranks - 1) % n_ranks;
    const int right = (rank + 1) % n_ranks;
    const std::array<int, 3> longer{1, 2, 3};
    int error_class = MPI_SUCCESS;
    bool was_thrown = false;
    flow::graph g;
    // [failure]
    using pair = std::array<int, 2>;
    ct::recv_node<pair> receive(g, flow::serial, [=](pair& p) { return commtask::recv(p, left, 5, comm); });
    flow::function_node<ct::failure<pair>> report(g, flow::serial, [&](const ct::failure<pair>& what) {
        error_class = what.result.error_class(); // MPI_ERR_TRUNCATE
    });
    flow::make_edge(flow::output_port<1>(receive), report);
    // [failure]
    receive.try_put({});
    commtask::post_detached(commtask::send(longer, right, 5, comm));
    g.wait_for_all();

    flow::remove_edge(flow::output_port<1>(receive), report);
    receive.try_put({});
    commtask::post_detached(commtask::send(longer, right, 5, comm));
    // [exception]
    try {
        g.wait_for_all();
    } catch (const ct::operation_failed& failed) { // nobody at port 1
        was_thrown = failed.result().error_class() == MPI_ERR_TRUNCATE;
    }
    // [exception]
    return error_class == MPI_ERR_TRUNCATE && was_thrown;
}

bool keeps_order(int n_ranks, MPI_Comm comm) {
    int n_right = 0;
    // [order]
    struct step {
        std::size_t number = 0;
        std::array<double, 1> residual{1.0};
    };
    const auto number_of = [](const step& s) { return s.number; };
    flow::graph g;
    ct::sequence order(comm);
    ct::collective_node<step> add(
        g, flow::unlimited, [=](step& s) { return commtask::allreduce(commtask::in_place, s.residual, MPI_SUM, comm); },
        ct::in_order(order, number_of));
    // [order]
    flow::function_node<step> look(g, flow::serial,
                                   [&](const step& s) { n_right += s.residual[0] == n_ranks ? 1 : 0; });
    flow::make_edge(add, look);
    for (std::size_t i = 10; i-- > 0;) add.try_put({.number = i});
    g.wait_for_all();
    return n_right == 10;
}

} // namespace

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    int rank = 0;
    int n_ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    bool is_right = true;
    {
        commtask::runtime runtime;
        ct::arena arena;
        std::vector<double> u(n_cells + 2, 0.0);
        std::vector<double> next(n_cells + 2, 0.0);
        for (std::size_t i = 1; i <= n_cells; ++i) u[i] = start_value(i + n_cells * static_cast<std::size_t>(rank));
        arena.execute([&] {
            heat(u, next, MPI_COMM_WORLD);
            is_right = is_as_on_one_rank(u, rank, n_ranks) && shows_errors(rank, n_ranks, MPI_COMM_WORLD) &&
                       keeps_order(n_ranks, MPI_COMM_WORLD);
        });
        is_right = runtime.finalize() && is_right;
    }
    MPI_Finalize();
    return is_right ? 0 : 1;
}
