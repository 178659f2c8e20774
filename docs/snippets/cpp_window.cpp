// SPDX-License-Identifier: Apache-2.0
//
// The window of docs/one-sided.md in C++: a halo is put into the right neighbour's window, and the task that comes after the left
// one's notification reads it. One rank or more in a ring.
#include <commtask/commtask.hpp>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

namespace {

constexpr std::size_t n = 64;

bool exchange(int rank, int n_ranks, MPI_Comm comm) {
    const int left = (rank + n_ranks - 1) % n_ranks;
    const int right = (rank + 1) % n_ranks;
    double* base = nullptr;
    MPI_Win handle = MPI_WIN_NULL;
    MPI_Win_allocate(n * sizeof(double), sizeof(double), MPI_INFO_NULL, comm, static_cast<void*>(&base), &handle);
    const std::span<const double> ghost{base, n};
    const std::vector<double> edge(n, rank);
    // [window]
    commtask::window<double> halo(handle, comm); // all ranks
    commtask::task put = commtask::post(halo.put_notify(edge, right, 0, 7));
    commtask::task come = commtask::post(halo.await_notify(7, 1, left));
    const bool is_here = come.wait().is_completed(); // or post something after(come)
    const bool is_gone = put.wait().is_completed();
    halo.unregister(); // all ranks
    // [window]
    const bool is_right = std::ranges::count(ghost, left) == n;
    MPI_Win_free(&handle);
    return is_here && is_gone && is_right;
}

} // namespace

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    bool is_right = true;
    {
        const commtask::runtime library;
        int rank = 0;
        int n_ranks = 1;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
        is_right = exchange(rank, n_ranks, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
