// SPDX-License-Identifier: Apache-2.0
//
// Snippets of docs/cpp.md about functions of yours: callbacks and user-defined operations. Each marked part stands in the page word
// for word; the rest makes it a program that checks itself.
#include <commtask/commtask.hpp>

#include <array>
#include <atomic>

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    bool is_right = true;
    {
        using namespace commtask;
        const MPI_Comm comm = MPI_COMM_WORLD;
        runtime library;

        // [then]
        event halo_is_here;
        int n_ranks = 0;
        const int one_each = 1;
        const scope all; // ends before them
        post_detached(allreduce(one(one_each), one(n_ranks), MPI_SUM, comm), then([&](const outcome& ended) noexcept {
                          if (ended) static_cast<void>(halo_is_here.try_signal());
                      }));
        // [then]
        is_right = is_right && post(noop(comm), after(halo_is_here)).wait();

        const int mine = 1;
        int sum = 0;
        task started = post(
            start([&](MPI_Request* request) { return MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, request); },
                  comm));
        is_right = is_right && started.wait() && sum == n_ranks;

        MPI_Comm copy = MPI_COMM_NULL;
        task made = post(comm_dup(copy, comm));
        task freed = post(call([&copy] { return MPI_Comm_free(&copy); }, comm), after(made));
        is_right = is_right && freed.wait() && copy == MPI_COMM_NULL;
        is_right = library.finalize() && is_right;
    }
    MPI_Finalize();
    return is_right ? 0 : 1;
}
