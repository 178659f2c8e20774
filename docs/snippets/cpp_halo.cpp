// SPDX-License-Identifier: Apache-2.0
//
// Snippets of docs/cpp.md about dependences, order and failure. Each marked part stands in the page word for word; the
// rest makes it a program that checks itself.
#include <commtask/commtask.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    bool is_right = true;
    {
        int rank = 0;
        int n_ranks = 1;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
        const MPI_Comm comm = MPI_COMM_WORLD;
        const int left = (rank + n_ranks - 1) % n_ranks;
        const int right = (rank + 1) % n_ranks;
        commtask::runtime runtime;

        // [after]
        using namespace commtask;
        std::vector<float> packed(64);
        std::vector<float> halo(64);
        event is_packed;
        std::array<task, 2> exchange{post(recv(halo, left, 0, comm)),
                                     post(send(packed, right, 0, comm), after(is_packed))};
        task forwarded = post(send(halo, right, 1, comm), after(exchange[0]));
        std::fill(packed.begin(), packed.end(), 1.0F); // a compute thread packs ...
        is_packed.signal();                            // ... and the worker sends
        // [after]
        std::vector<float> second(64);
        is_right = is_right && post(recv(second, left, 1, comm)).wait();

        if (wait_all(exchange) != ending::completed) std::puts("the halo did not come");
        if (!forwarded.wait_for(std::chrono::seconds{10})) std::puts("late, but it goes on");
        is_right = is_right && halo.back() == 1.0F && second.back() == 1.0F;

        // [failure]
        std::array<int, 2> too_short{};
        const std::array<int, 4> longer{};
        task truncated = post(recv(too_short, left, 2, comm));
        task successor = post(noop(comm), after(truncated));
        task cleanup = post(noop(comm), after(truncated), run_after_failure);
        post_detached(send(longer, right, 2, comm));
        const outcome ended = truncated.wait();
        if (ended.is_failed()) std::printf("class %d\n", ended.error_class()); // MPI_ERR_TRUNCATE
        const bool was_canceled = successor.wait().is_canceled();              // it never started
        const bool did_clean_up = cleanup.wait().is_completed();
        // [failure]
        is_right = is_right && ended.error_class() == MPI_ERR_TRUNCATE && was_canceled && did_clean_up;

        std::array<double, 2> sums{1.0, 2.0};
        task reduced = post(allreduce(in_place, sums, MPI_SUM, comm));
        std::vector<int> everybody(static_cast<std::size_t>(n_ranks));
        task gathered = post(allgather(one(rank), everybody, comm));
        is_right =
            is_right && reduced.wait() && gathered.wait() && everybody.back() == n_ranks - 1 && sums[0] == n_ranks;

        ticket place{barrier(comm)};      // now ...
        task later = post(barrier(comm)); // ... so this one comes second
        task earlier = post(barrier(comm), at(place));
        is_right = is_right && earlier.wait() && later.wait();

        // [error]
        try {
            post_detached(send(packed, n_ranks, 0, comm));
        } catch (const error& refused) {
            std::printf("%d: %s\n", refused.code(), refused.what()); // COMMTASK_ERR_RANK, and which argument
        }
        // [error]

        MPI_Datatype column = MPI_DATATYPE_NULL;
        MPI_Type_vector(8, 1, 8, MPI_FLOAT, &column);
        MPI_Type_commit(&column);
        task column_sent = post(send(elements(packed.data(), 1, column), right, 3, comm));
        std::array<float, 8> row{};
        task row_received = post(recv(row, left, 3, comm));
        is_right = is_right && column_sent.wait() && row_received.wait() && row[7] == 1.0F;
        MPI_Type_free(&column);
        is_right = runtime.finalize() && is_right;
    }
    MPI_Finalize();
    return is_right ? 0 : 1;
}
