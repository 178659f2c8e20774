// SPDX-License-Identifier: Apache-2.0
//
// A program may free its datatypes and communicators, and use its short lists again, when COMM_TASK, commtask_omp_prepare or
// commtask_omp_bind has returned, though the operation starts when the task's dependences are met. MPI gives the handles to
// others at once.
#include "omp_fixture.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <numeric>

#include <sched.h>

namespace {

constexpr int n_rounds = 20;
constexpr std::size_t n = 120;
using numbers = std::array<int, n>;

const auto* const library = testing::AddGlobalTestEnvironment(new omp_test::library);

class Freed : public omp_test::ring {
protected:
    void SetUp() override {
        ring::SetUp();
        std::iota(mine.begin(), mine.end(), 1000 * rank);
        theirs.fill(-1);
    }
    [[nodiscard]] static MPI_Datatype every_third() {
        MPI_Datatype made = MPI_DATATYPE_NULL;
        MPI_Type_vector(n / 3, 1, 3, MPI_INT, &made);
        EXPECT_EQ(MPI_Type_commit(&made), MPI_SUCCESS);
        return made;
    }
    [[nodiscard]] static MPI_Datatype two_rows() {
        MPI_Datatype made = MPI_DATATYPE_NULL;
        const std::array whole{12, 10};
        const std::array part{2, 10};
        const std::array first{4, 0};
        MPI_Type_create_subarray(2, whole.data(), part.data(), first.data(), MPI_ORDER_C, MPI_INT, &made);
        EXPECT_EQ(MPI_Type_commit(&made), MPI_SUCCESS);
        return made;
    }
    static void free(MPI_Datatype type) {
        EXPECT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
        MPI_Type_contiguous(5, MPI_CHAR, &type);
        EXPECT_EQ(MPI_Type_commit(&type), MPI_SUCCESS);
        EXPECT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
    }
    void expect(const std::function<bool(int)>& is_taken) {
        for (int i = 0; i < static_cast<int>(n); ++i) {
            ASSERT_EQ(theirs[static_cast<std::size_t>(i)], is_taken(i) ? 1000 * left + i : -1) << i;
        }
        theirs.fill(-1);
    }

    numbers mine{};
    numbers theirs{};
};

/// The computing task waits until the program has freed what the communication tasks behind it use.
TEST_F(Freed, DatatypesAfterCommTask) {
    for (int round = 0; round < n_rounds; ++round) {
        std::atomic<bool> is_freed{false};
#pragma omp parallel num_threads(2)
#pragma omp single
        {
            int* const out = mine.data();
            int* const in = theirs.data();
#pragma omp task depend(out : out[0], in[0]) shared(is_freed)
            while (!is_freed.load()) {
                sched_yield();
            }
            MPI_Datatype type = round % 2 == 0 ? every_third() : two_rows();
            COMM_TASK(recv(in, 1, type, left, 1, comm), out(&in[0]));
            COMM_TASK(send(out, 1, type, right, 1, comm), in(&out[0]));
            free(type);
            is_freed = true;
        }
        round % 2 == 0 ? expect([](int i) { return i % 3 == 0; })
                       : expect([](int i) { return i / 10 == 4 || i / 10 == 5; });
    }
}

TEST_F(Freed, CommunicatorsAfterCommTask) {
    for (int round = 0; round < n_rounds; ++round) {
        std::atomic<bool> is_freed{false};
        int came = -1;
        int sum = -1;
#pragma omp parallel num_threads(2)
#pragma omp single
        {
#pragma omp task depend(out : came, sum) shared(is_freed)
            while (!is_freed.load()) {
                sched_yield();
            }
            MPI_Comm other = MPI_COMM_NULL;
            MPI_Comm_dup(comm, &other);
            COMM_TASK(recv(&came, 1, MPI_INT, left, 2, other), out(&came));
            COMM_TASK(send(&rank, 1, MPI_INT, right, 2, other), in(&sum));
            COMM_TASK(allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, other), out(&sum));
            EXPECT_EQ(MPI_Comm_free(&other), MPI_SUCCESS);
            is_freed = true;
        }
        ASSERT_EQ(came, left);
        ASSERT_EQ(sum, n_ranks * (n_ranks - 1) / 2);
    }
}

TEST_F(Freed, ListsAfterCommTask) {
    for (int round = 0; round < n_rounds; ++round) {
        std::atomic<bool> is_reused{false};
        std::array<int, 3> came{-1, -1, -1};
        int value = 100 * rank + round;
#pragma omp parallel num_threads(2)
#pragma omp single
        {
#pragma omp task depend(out : value) shared(is_reused)
            while (!is_reused.load()) {
                sched_yield();
            }
            std::array dests{right, right, right};
            COMM_TASK(multicast(&value, 1, MPI_INT, dests.data(), 3, 3, comm), in(&value));
            for (int& each : came) {
                COMM_TASK(recv(&each, 1, MPI_INT, left, 3, comm), out(&each));
            }
            dests.fill(-5);
            is_reused = true;
        }
        for (const int each : came) {
            ASSERT_EQ(each, 100 * left + round);
        }
    }
}

TEST_F(Freed, ThoseOfAPreparedTask) {
    for (int round = 0; round < n_rounds; ++round) {
        MPI_Comm other = MPI_COMM_NULL;
        MPI_Comm_dup(comm, &other);
        MPI_Datatype const type = every_third();
        const commtask_omp_task dropped =
            commtask_omp_prepare(commtask_op_recv(theirs.data(), 1, type, left, 4, other), COMMTASK_NONE, nullptr);
        const commtask_omp_task recv =
            commtask_omp_prepare(commtask_op_recv(theirs.data(), 1, type, left, 5, other), COMMTASK_NONE, nullptr);
        const commtask_omp_task send =
            commtask_omp_prepare(commtask_op_send(mine.data(), 1, type, right, 5, other), COMMTASK_NONE, nullptr);
        free(type);
        EXPECT_EQ(MPI_Comm_free(&other), MPI_SUCCESS);
        EXPECT_EQ(commtask_omp_drop(&dropped), COMMTASK_OK);
#pragma omp parallel num_threads(2)
#pragma omp single
        {
            omp_event_handle_t received{};
            omp_event_handle_t sent{};
#pragma omp task untied detach(received) firstprivate(recv)
            EXPECT_EQ(commtask_omp_start_prepared(&recv, received), COMMTASK_OK);
#pragma omp task untied detach(sent) firstprivate(send)
            EXPECT_EQ(commtask_omp_start_prepared(&send, sent), COMMTASK_OK);
        }
        expect([](int i) { return i % 3 == 0; });
    }
}

} // namespace
