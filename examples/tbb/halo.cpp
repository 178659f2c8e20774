// SPDX-License-Identifier: Apache-2.0
//
// Relaxation on a periodic 2-D grid that is cut among the ranks in both directions, as a flow graph of oneTBB. Nodes receive
// and send the four halos; the inner cells are computed meanwhile, by several threads, the rim when its halos are there. The
// graph is made once and started in every step. A wave whose decay is known checks every cell.
#include <commtask/tbb.hpp>

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <span>
#include <vector>

namespace ct = commtask::tbb;
namespace flow = tbb::flow;

namespace {

constexpr int n = 64;      ///< Cells of a rank in each direction.
constexpr int row = n + 2; ///< With a ghost at each end.
constexpr int n_steps = 100;
enum tag { southwards, northwards, eastwards, westwards }; ///< Where a message goes.

/// The ranks as a torus, and the datatype of a column.
struct torus {
    std::array<int, 2> dims{0, 0};
    std::array<int, 2> here{};
    int north = 0, south = 0, west = 0, east = 0, rank = 0;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Datatype column = MPI_DATATYPE_NULL;

    torus() {
        const std::array<int, 2> is_periodic{1, 1};
        int size = 0;
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        MPI_Dims_create(size, 2, dims.data());
        MPI_Cart_create(MPI_COMM_WORLD, 2, dims.data(), is_periodic.data(), 1, &comm);
        MPI_Comm_rank(comm, &rank);
        MPI_Cart_coords(comm, rank, 2, here.data());
        MPI_Cart_shift(comm, 0, 1, &north, &south);
        MPI_Cart_shift(comm, 1, 1, &west, &east);
        MPI_Type_vector(n, 1, row, MPI_DOUBLE, &column);
        MPI_Type_commit(&column);
    }
    torus(const torus&) = delete;
    torus& operator=(const torus&) = delete;
    ~torus() {
        MPI_Type_free(&column);
        MPI_Comm_free(&comm);
    }
};

using cells = std::vector<double>;

std::size_t at(int i, int j) { return static_cast<std::size_t>(i * row + j); }

void relax(cells& to, const cells& from, int first_i, int last_i, int first_j, int last_j) {
    for (int i = first_i; i <= last_i; ++i)
        for (int j = first_j; j <= last_j; ++j)
            to[at(i, j)] = 0.25 * (from[at(i - 1, j)] + from[at(i + 1, j)] + from[at(i, j - 1)] + from[at(i, j + 1)]);
}

void run_steps(cells& u, const torus& grid) {
    using message = flow::continue_msg;
    using commtask::recv, commtask::send;
    using receiving = ct::recv_node<message>;
    using sending = ct::send_node<message>;
    cells next(u.size());
    const auto along = [&](int i) { return std::span<double>(&u[at(i, 1)], n); };
    const auto down = [&](int j) { return commtask::elements(&u[at(1, j)], 1, grid.column); };

    flow::graph graph;
    flow::broadcast_node<message> start(graph);
    receiving north(graph, flow::serial, recv(along(0), grid.north, southwards, grid.comm));
    receiving south(graph, flow::serial, recv(along(n + 1), grid.south, northwards, grid.comm));
    receiving west(graph, flow::serial, recv(down(0), grid.west, eastwards, grid.comm));
    receiving east(graph, flow::serial, recv(down(n + 1), grid.east, westwards, grid.comm));
    sending to_south(graph, flow::serial, send(along(n), grid.south, southwards, grid.comm));
    sending to_north(graph, flow::serial, send(along(1), grid.north, northwards, grid.comm));
    sending to_east(graph, flow::serial, send(down(n), grid.east, eastwards, grid.comm));
    sending to_west(graph, flow::serial, send(down(1), grid.west, westwards, grid.comm));
    flow::continue_node<message> inner(
        graph, [&](const message&) { tbb::parallel_for(2, n, [&](int i) { relax(next, u, i, i, 2, n - 1); }); });
    flow::continue_node<message> rim(graph, [&](const message&) {
        relax(next, u, 1, 1, 1, n);
        relax(next, u, n, n, 1, n);
        relax(next, u, 2, n - 1, 1, 1);
        relax(next, u, 2, n - 1, n, n);
    });
    flow::continue_node<message> end_of_step(graph, [&](const message&) {
        std::copy_n(&next[at(1, 0)], n * row, &u[at(1, 0)]); // the sends have left u, the updates have read it
    });
    for (receiving* halo : {&north, &south, &west, &east}) {
        flow::make_edge(start, *halo);
        flow::make_edge(*halo, rim);
    }
    for (sending* out : {&to_south, &to_north, &to_east, &to_west}) {
        flow::make_edge(start, *out);
        flow::make_edge(*out, end_of_step);
    }
    flow::make_edge(start, inner);
    flow::make_edge(inner, end_of_step);
    flow::make_edge(rim, end_of_step);

    for (int k = 0; k < n_steps; ++k) {
        start.try_put({});
        graph.wait_for_all(); // throws commtask::tbb::operation_failed if a message failed
    }
}

/// @return the worst error of any cell of this rank.
double run(const torus& grid) {
    // sin(ax + by) is multiplied by (cos a + cos b) / 2 in every step.
    const double a = 2 * std::numbers::pi / (n * grid.dims[0]);
    const double b = 2 * std::numbers::pi / (n * grid.dims[1]);
    const double decay = std::pow((std::cos(a) + std::cos(b)) / 2, n_steps);
    const auto wave = [&](int i, int j) { return std::sin(a * (grid.here[0] * n + i) + b * (grid.here[1] * n + j)); };
    cells u(row * row);
    for (int i = 1; i <= n; ++i)
        for (int j = 1; j <= n; ++j) u[at(i, j)] = wave(i, j);
    ct::arena arena; // leaves the worker its core
    arena.execute([&] { run_steps(u, grid); });
    double worst = 0;
    for (int i = 1; i <= n; ++i)
        for (int j = 1; j <= n; ++j) worst = std::max(worst, std::abs(u[at(i, j)] - decay * wave(i, j)));
    return worst;
}

} // namespace

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    std::array<double, 1> worst{HUGE_VAL};
    try {
        commtask::runtime runtime;
        const torus grid;
        worst[0] = run(grid);
        if (!commtask::post(commtask::allreduce(commtask::in_place, worst, MPI_MAX, grid.comm)).wait())
            worst[0] = HUGE_VAL;
        if (grid.rank == 0) std::printf("%d x %d ranks, worst error %.1e\n", grid.dims[0], grid.dims[1], worst[0]);
        if (!runtime.finalize()) worst[0] = HUGE_VAL;
    } catch (const std::exception& wrong) {
        std::fprintf(stderr, "%s\n", wrong.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return worst[0] < 1e-12 ? 0 : 1;
}
