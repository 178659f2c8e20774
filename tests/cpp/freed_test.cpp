// SPDX-License-Identifier: Apache-2.0
//
// Each way in which the C++ interface posts: the program frees the datatypes and the communicator of the operation at once, while
// the task waits for an event or for its turn.
#include "cpp_front_end.hpp"
#include "freed_handles.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace commtask::test {
namespace {

constexpr int n_rounds = 20;

class CppFreed : public CppFace {
protected:
    void SetUp() override {
        CppFace::SetUp();
        mine_ = numbers_of(rank_);
    }
    [[nodiscard]] operation receive(MPI_Datatype type, MPI_Comm comm) {
        theirs_.fill(-1);
        return recv(elements(theirs_.data(), 1, type), left(), 1, comm);
    }
    [[nodiscard]] operation send_on(MPI_Datatype type, MPI_Comm comm) const {
        return send(elements(mine_.data(), 1, type), right(), 1, comm);
    }

    numbers mine_{};
    numbers theirs_{};
};

TEST_F(CppFreed, AfterPost) {
    for (int round = 0; round < n_rounds; ++round) {
        MPI_Comm comm = duplicate(comm_);
        MPI_Datatype third = every(3);
        event gate;
        task received = post(receive(third, comm), after(gate));
        task sent = post(send_on(third, comm), after(gate));
        int sum = -1;
        task added = post(allreduce(one(rank_), one(sum), MPI_SUM, comm), after(sent));
        free_type(third);
        free_comm(comm);
        gate.signal();
        EXPECT_TRUE(finish(received));
        EXPECT_TRUE(finish(sent));
        EXPECT_TRUE(finish(added));
        ASSERT_TRUE(came(theirs_, 3, left()));
        ASSERT_EQ(sum, n_ranks_ * (n_ranks_ - 1) / 2);
    }
}

TEST_F(CppFreed, AfterTryPostAndPostDetachedWithClosures) {
    for (int round = 0; round < n_rounds; ++round) {
        MPI_Comm comm = duplicate(comm_);
        MPI_Datatype fourth = every(4);
        event gate;
        std::array<int, 40> large{}; // a closure that the task owns
        large.back() = 7;
        int seen = 0;
        {
            scope all;
            std::optional<task> received;
            while (!received) received = try_post(receive(fourth, comm), after(gate));
            post_detached(send_on(fourth, comm), after(gate),
                          then([large, &seen](const outcome& ended) noexcept { seen = ended ? large.back() : -1; }));
            free_type(fourth);
            free_comm(comm);
            gate.signal();
            EXPECT_TRUE(finish(*received));
            EXPECT_EQ(all.wait(), ending::completed);
        }
        ASSERT_TRUE(came(theirs_, 4, left()));
        ASSERT_EQ(seen, 7);
    }
}

TEST_F(CppFreed, AfterPerformHasSuspended) {
    for (int round = 0; round < n_rounds; ++round) {
        MPI_Comm comm = duplicate(comm_);
        MPI_Datatype fifth = every(5);
        event gate;
        const auto perform_one = [&](const operation what) -> routine<> {
            const outcome ended = co_await perform(what, after(gate));
            EXPECT_TRUE(ended);
        };
        run_loop loop;
        loop.start(perform_one(receive(fifth, comm)));
        loop.start(perform_one(send_on(fifth, comm)));
        loop.run_ready();
        EXPECT_EQ(loop.unfinished(), 2U);
        free_type(fifth);
        free_comm(comm);
        gate.signal();
        loop.run();
        ASSERT_TRUE(came(theirs_, 5, left()));
    }
}

TEST_F(CppFreed, WhileTheyWaitForTheirTurn) {
    for (int round = 0; round < n_rounds; ++round) {
        MPI_Comm comm = duplicate(comm_);
        MPI_Datatype sixth = every(6);
        MPI_Datatype whole = every(1);
        event gate;
        numbers earlier{};
        const numbers first = numbers_of(rank_, 1);
        std::array tasks{post(recv(elements(earlier.data(), 1, whole), left(), 1, comm), after(gate)),
                         post(send(elements(first.data(), 1, whole), right(), 1, comm), after(gate)),
                         post(receive(sixth, comm)), post(send_on(sixth, comm))};
        free_type(sixth);
        free_type(whole);
        free_comm(comm);
        gate.signal();
        for (task& each : tasks) EXPECT_TRUE(finish(each));
        ASSERT_TRUE(came(earlier, 1, left(), 1));
        ASSERT_TRUE(came(theirs_, 6, left()));
    }
}

void keep_larger(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
    for (int i = 0; i < *count; ++i)
        static_cast<int*>(inout)[i] = std::max(static_cast<int*>(inout)[i], static_cast<int*>(in)[i]);
}
void keep_nothing(void* /*in*/, void* inout, int* count, MPI_Datatype* /*type*/) {
    std::fill_n(static_cast<int*>(inout), *count, -99);
}

TEST_F(CppFreed, AReductionOperationOfATaskThatWaitsForNothing) {
    for (int round = 0; round < 5 * n_rounds; ++round) {
        MPI_Op larger = MPI_OP_NULL;
        MPI_Op other = MPI_OP_NULL;
        ASSERT_EQ(MPI_Op_create(&keep_larger, 1, &larger), MPI_SUCCESS);
        int largest = -1;
        task reduced = post(allreduce(one(rank_), one(largest), larger, comm_));
        ASSERT_EQ(MPI_Op_free(&larger), MPI_SUCCESS);
        ASSERT_EQ(MPI_Op_create(&keep_nothing, 1, &other), MPI_SUCCESS);
        EXPECT_TRUE(finish(reduced));
        ASSERT_EQ(MPI_Op_free(&other), MPI_SUCCESS);
        ASSERT_EQ(largest, n_ranks_ - 1);
    }
}

} // namespace
} // namespace commtask::test
