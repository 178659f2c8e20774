// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.freed: a reduction operation that the program frees when the post has returned, of a task that need not wait. MPI has
// nothing that keeps one for later, so the post itself starts the reduction, and what was posted before it. MPI gives the handle to
// another operation, whose results would be wrong.
#include "runtime_test.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace commtask::test {
namespace {

constexpr int n_rounds = 20;

void keep_larger(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
    for (int i = 0; i < *count; ++i)
        static_cast<int*>(inout)[i] = std::max(static_cast<int*>(inout)[i], static_cast<int*>(in)[i]);
}
void keep_nothing(void* /*in*/, void* inout, int* count, MPI_Datatype* /*type*/) {
    std::fill_n(static_cast<int*>(inout), *count, -99);
}

class FreedOperations : public Runtime {
protected:
    /// The largest rank plus `round`, by an operation that is freed at once and whose handle another one gets.
    [[nodiscard]] int reduce(int round, MPI_Comm comm) const {
        const int in = rank_ + round;
        int out = -1;
        MPI_Op larger = MPI_OP_NULL;
        MPI_Op other = MPI_OP_NULL;
        EXPECT_EQ(MPI_Op_create(&keep_larger, 1, &larger), MPI_SUCCESS);
        commtask_t task = post(commtask_op_allreduce(&in, &out, 1, MPI_INT, larger, comm));
        EXPECT_EQ(MPI_Op_free(&larger), MPI_SUCCESS);
        EXPECT_EQ(MPI_Op_create(&keep_nothing, 1, &other), MPI_SUCCESS);
        EXPECT_EQ(finish(task), COMMTASK_OK);
        EXPECT_EQ(MPI_Op_free(&other), MPI_SUCCESS);
        return out;
    }
};

TEST_F(FreedOperations, AReductionOperationOfATaskThatNeedNotWait) {
    for (int round = 0; round < 10 * n_rounds; ++round) ASSERT_EQ(reduce(round, comm_), last() + round);
}

TEST_F(FreedOperations, AReductionOperationBehindManyTasksThatNeedNotWait) {
    constexpr std::size_t n_messages = 1000;
    std::vector<int> words(n_messages);
    std::vector<int> came(n_messages);
    std::vector<commtask_t> tasks(2 * n_messages);
    for (int round = 0; round < n_rounds; ++round) {
        event gate;
        options after_gate;
        after_gate.on({gate.get()});
        for (std::size_t i = 0; i < n_messages; ++i) {
            const int tag = static_cast<int>(i);
            tasks[2 * i] = post(commtask_op_recv(&came[i], 1, MPI_INT, left(), tag, comm_), after_gate);
            tasks[2 * i + 1] = post(commtask_op_send(&words[i], 1, MPI_INT, right(), tag, comm_), after_gate);
        }
        gate.signal(); // all can start
        ASSERT_EQ(reduce(round, comm_), last() + round);
        for (commtask_t& each : tasks) EXPECT_EQ(finish(each), COMMTASK_OK);
    }
}

TEST_F(FreedOperations, AReductionOperationBehindAFunctionOfTheProgram) {
    for (int round = 0; round < n_rounds; ++round) {
        std::atomic<int> n_called{0};
        const auto count = [](void* counter) -> int { return ++*static_cast<std::atomic<int>*>(counter), MPI_SUCCESS; };
        std::array<commtask_t, 5> calls{};
        for (commtask_t& each : calls) each = post(commtask_op_call(count, &n_called, comm_));
        ASSERT_EQ(reduce(round, comm_), last() + round);
        for (commtask_t& each : calls) EXPECT_EQ(finish(each), COMMTASK_OK);
        ASSERT_EQ(n_called, 5);
    }
}

TEST_F(FreedOperations, AReductionOperationOfEachOfSeveralThreads) {
    std::array<MPI_Comm, 3> comms{};
    for (MPI_Comm& each : comms) ASSERT_EQ(MPI_Comm_dup(comm_, &each), MPI_SUCCESS);
    std::atomic<int> n_wrong{0};
    {
        std::vector<std::jthread> threads;
        for (MPI_Comm const comm : comms) {
            threads.emplace_back([&, comm] {
                for (int round = 0; round < 5 * n_rounds; ++round)
                    n_wrong += reduce(round, comm) != last() + round ? 1 : 0;
            });
        }
    }
    EXPECT_EQ(n_wrong, 0);
    for (MPI_Comm& each : comms) EXPECT_EQ(MPI_Comm_free(&each), MPI_SUCCESS);
}

} // namespace
} // namespace commtask::test
