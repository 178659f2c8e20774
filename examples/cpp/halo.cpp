// SPDX-License-Identifier: Apache-2.0
//
// Relaxation on a periodic 2-D grid that is cut among the ranks in both directions, in C++20 without a tasking runtime. Every
// step posts four receives and four sends, computes the inner cells while the worker moves the halos, and waits for the
// halos alone before the rim. A wave whose decay is known checks every cell.
#include <commtask/commtask.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

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

bool step(cells& to, cells& from, const torus& grid) {
    using namespace commtask;
    const auto along = [&](int i) { return std::span<double>(&from[at(i, 1)], n); };
    const auto down = [&](int j) { return elements(&from[at(1, j)], 1, grid.column); };
    std::array<task, 4> halos{post(recv(along(0), grid.north, southwards, grid.comm)),
                              post(recv(along(n + 1), grid.south, northwards, grid.comm)),
                              post(recv(down(0), grid.west, eastwards, grid.comm)),
                              post(recv(down(n + 1), grid.east, westwards, grid.comm))};
    std::array<task, 4> sends{post(send(along(n), grid.south, southwards, grid.comm)),
                              post(send(along(1), grid.north, northwards, grid.comm)),
                              post(send(down(n), grid.east, eastwards, grid.comm)),
                              post(send(down(1), grid.west, westwards, grid.comm))};
    relax(to, from, 2, n - 1, 2, n - 1);
    if (wait_all(halos) != ending::completed) return false;
    relax(to, from, 1, 1, 1, n);
    relax(to, from, n, n, 1, n);
    relax(to, from, 2, n - 1, 1, 1);
    relax(to, from, 2, n - 1, n, n);
    return wait_all(sends) == ending::completed; // the next step writes where they read
}

/// @return the worst error of any cell of this rank; infinite if a message failed.
double run(const torus& grid) {
    // sin(ax + by) is multiplied by (cos a + cos b) / 2 in every step.
    const double a = 2 * std::numbers::pi / (n * grid.dims[0]);
    const double b = 2 * std::numbers::pi / (n * grid.dims[1]);
    const double decay = std::pow((std::cos(a) + std::cos(b)) / 2, n_steps);
    const auto wave = [&](int i, int j) { return std::sin(a * (grid.here[0] * n + i) + b * (grid.here[1] * n + j)); };
    cells u(row * row);
    cells next(row * row);
    for (int i = 1; i <= n; ++i)
        for (int j = 1; j <= n; ++j) u[at(i, j)] = wave(i, j);
    for (int k = 0; k < n_steps; ++k) {
        if (!step(next, u, grid)) return HUGE_VAL;
        std::swap(u, next);
    }
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
    } catch (const commtask::error& refused) {
        std::fprintf(stderr, "%s\n", refused.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return worst[0] < 1e-12 ? 0 : 1;
}
