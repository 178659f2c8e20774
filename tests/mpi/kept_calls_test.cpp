// SPDX-License-Identifier: Apache-2.0
//
// mpi.kept_calls: what it costs that a program may free its datatypes and communicators when a post has returned. This program has
// the functions of MPI by which something that refers to a handle is made, asked for or freed; they count and hand on. MPI's own
// datatypes on MPI_COMM_WORLD cost no call, whatever the task waits for.
#include "runtime_test.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <vector>

namespace {

struct call_counts {
    std::atomic<int> types_made{0};
    std::atomic<int> types_freed{0};
    std::atomic<int> requests_made{0};
    std::atomic<int> requests_freed{0};
    std::atomic<int> questions{0};
} calls;

} // namespace

#define COUNTED_VISIBLE extern "C" [[gnu::visibility("default")]]

COUNTED_VISIBLE int MPI_Type_contiguous(int count, MPI_Datatype type, MPI_Datatype* made) {
    ++calls.types_made;
    return PMPI_Type_contiguous(count, type, made);
}
COUNTED_VISIBLE int MPI_Type_dup(MPI_Datatype type, MPI_Datatype* made) {
    ++calls.types_made;
    return PMPI_Type_dup(type, made);
}
COUNTED_VISIBLE int MPI_Type_free(MPI_Datatype* type) {
    ++calls.types_freed;
    return PMPI_Type_free(type);
}
COUNTED_VISIBLE int MPI_Type_get_envelope(MPI_Datatype type, int* n_integers, int* n_addresses, int* n_types,
                                          int* combiner) {
    ++calls.questions;
    return PMPI_Type_get_envelope(type, n_integers, n_addresses, n_types, combiner);
}
COUNTED_VISIBLE int MPI_Recv_init(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                  MPI_Request* request) {
    ++calls.requests_made;
    return PMPI_Recv_init(buffer, count, type, source, tag, comm, request);
}
COUNTED_VISIBLE int MPI_Request_free(MPI_Request* request) {
    ++calls.requests_freed;
    return PMPI_Request_free(request);
}

namespace commtask::test {
namespace {

constexpr int n_tasks = 50;

class KeptCalls : public Runtime {
protected:
    struct counts {
        int types_made;
        int types_freed;
        int requests_made;
        int requests_freed;
        int questions;
        bool operator==(const counts&) const = default;
    };
    static constexpr counts none{0, 0, 0, 0, 0};
    /// Since the last call.
    [[nodiscard]] static counts counted() {
        return {calls.types_made.exchange(0), calls.types_freed.exchange(0), calls.requests_made.exchange(0),
                calls.requests_freed.exchange(0), calls.questions.exchange(0)};
    }
    /// With less the lane keeps what a task that must wait needs, and a task that need not wait needs nothing kept.
    [[nodiscard]] static bool is_multiple() {
        int level = MPI_THREAD_SINGLE;
        MPI_Query_thread(&level);
        return level == MPI_THREAD_MULTIPLE;
    }

    /// Receives and sends round the ring, with `type` on `comm`, behind an event or not; the counts until all are posted and, of
    /// those that wait, known to the lane, and from there until all have ended.
    struct cost {
        counts of_posts;
        counts of_ends;
    };
    [[nodiscard]] cost post_all(MPI_Datatype type, MPI_Comm comm, bool waits) {
        event gate;
        options how;
        if (waits) how.on({gate.get()});
        std::vector<commtask_t> tasks;
        static_cast<void>(counted());
        for (int i = 0; i < n_tasks; ++i) {
            tasks.push_back(
                post(commtask_op_recv(&in_.at(static_cast<std::size_t>(i)), 1, type, left(), i, comm), how));
            tasks.push_back(
                post(commtask_op_send(&out_.at(static_cast<std::size_t>(i)), 1, type, right(), i, comm), how));
        }
        run(commtask_op_noop(MPI_COMM_WORLD)); // the lane has taken over what was posted before
        cost found{};
        found.of_posts = counted();
        gate.signal();
        for (commtask_t& each : tasks) EXPECT_EQ(finish(each), COMMTASK_OK);
        found.of_ends = counted();
        return found;
    }

    std::array<std::array<int, 2>, n_tasks> in_{};
    std::array<std::array<int, 2>, n_tasks> out_{};
};

TEST_F(KeptCalls, AreNoneForDatatypesOfMpisOwnOnItsCommunicators) {
    for (MPI_Comm const comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
        if (comm == MPI_COMM_SELF && n_ranks_ > 1) continue; // whose ranks are others
        for (MPI_Datatype const type : {MPI_INT, MPI_BYTE, MPI_2INT}) {
            for (const bool waits : {false, true}) {
                const cost found = post_all(type, comm, waits);
                EXPECT_EQ(found.of_posts, none);
                EXPECT_EQ(found.of_ends, none);
            }
        }
    }
    int sum = 0;
    event gate;
    options later;
    static_cast<void>(counted());
    commtask_t task =
        post(commtask_op_allreduce(&rank_, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), later.on({gate.get()}));
    gate.signal();
    EXPECT_EQ(finish(task), COMMTASK_OK);
    EXPECT_EQ(counted(), none);
}

TEST_F(KeptCalls, AreOneForTheFirstOpenTaskOfADatatypeAndOneAtTheEndOfTheLast) {
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    const cost waiting = post_all(pair, MPI_COMM_WORLD, true);
    EXPECT_EQ(waiting.of_posts, (counts{1, 0, 0, 0, 0}));
    EXPECT_EQ(waiting.of_ends, (counts{0, 1, 0, 0, 0}));
    if (!is_multiple()) EXPECT_EQ(post_all(pair, MPI_COMM_WORLD, false).of_posts, none);
    MPI_Type_free(&pair);
}

TEST_F(KeptCalls, AreOneForTheFirstOpenTaskOfACommunicatorAndOneAtTheEndOfTheLast) {
    run(commtask_op_noop(comm_)); // the library asks about a new communicator once
    const cost waiting = post_all(MPI_INT, comm_, true);
    EXPECT_EQ(waiting.of_posts, (counts{0, 0, 1, 0, 0}));
    EXPECT_EQ(waiting.of_ends, (counts{0, 0, 0, 1, 0}));
    if (!is_multiple()) EXPECT_EQ(post_all(MPI_INT, comm_, false).of_posts, none);
}

} // namespace
} // namespace commtask::test
