// SPDX-License-Identifier: Apache-2.0
//
// The window of docs/tbb.md: a node of a flow graph puts a halo into the right neighbour's window, another waits for the left one's.
// A ring of any number of ranks; it sees that the halo is the neighbour's.
#include <commtask/tbb.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace ct = commtask::tbb;
namespace flow = tbb::flow;

namespace {

constexpr std::size_t n = 64;
constexpr int n_steps = 3;

bool exchange(int rank, int n_ranks, MPI_Comm comm) {
    const int left = (rank + n_ranks - 1) % n_ranks;
    const int right = (rank + 1) % n_ranks;
    bool is_right = true;
    double* base = nullptr;
    MPI_Win handle = MPI_WIN_NULL;
    MPI_Win_allocate(n * sizeof(double), sizeof(double), MPI_INFO_NULL, comm, static_cast<void*>(&base), &handle);
    const std::span<const double> ghost{base, n};
    std::vector<double> edge(n);
    const auto compute = [&](int step) { std::ranges::fill(edge, 100.0 * step + rank); };
    const auto use = [&](int step) { is_right = is_right && std::ranges::count(ghost, 100.0 * step + left) == n; };
    // [window]
    commtask::window<double> halo(handle, comm); // all ranks
    flow::graph g;
    flow::function_node<int, int> work(g, flow::serial, [&](int step) {
        compute(step);
        return step;
    });
    ct::request_node<int> put(g, flow::serial, [&](int& step) { return halo.put_notify(edge, right, 0, step); });
    ct::request_node<int> come(g, flow::serial, [&](int& step) { return halo.await_notify(step, 1, left); });
    flow::function_node<int> user(g, flow::serial, [&](int step) { use(step); }); // the neighbour's edge is here
    flow::make_edge(work, put);
    flow::make_edge(come, user);
    // [window]
    for (int step = 0; step < n_steps; ++step) {
        come.try_put(step);
        work.try_put(step);
        g.wait_for_all();
        MPI_Barrier(comm); // nobody puts before this halo is used
    }
    halo.unregister();
    MPI_Win_free(&handle);
    return is_right;
}

} // namespace

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    int rank = 0;
    int n_ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    bool is_right = true;
    {
        commtask::runtime runtime;
        is_right = exchange(rank, n_ranks, MPI_COMM_WORLD);
        is_right = runtime.finalize() && is_right;
    }
    MPI_Finalize();
    return is_right ? 0 : 1;
}
