// SPDX-License-Identifier: Apache-2.0
//
// How many of libomp's tasks a communication task is in a team of one thread. An operation that ends while it is started is one
// task; one that ends later has a bell, two more. The team's thread drives, as the worker shares its core: bells that it rings
// itself need no task to wait for them.
#include "counted_tasks.hpp"
#include "omp_fixture.hpp"

#include <array>
#include <cstddef>

namespace {

const auto* const library = testing::AddGlobalTestEnvironment(new omp_test::library);

class SerialCost : public omp_test::ring {
protected:
    static constexpr std::size_t n_messages = 400;
    /// Of operations whose end the worker sees, which may look when it likes.
    static constexpr std::size_t n_seen_elsewhere = n_messages / 2;

    std::array<int, n_messages> sent{};
    std::array<int, n_messages> received{};

    /// How many tasks libomp makes for `create(i)`, each of which is waited for.
    template <class Create>
    static std::size_t tasks_of(Create create) {
        std::size_t n = 0;
#pragma omp parallel num_threads(1)
#pragma omp single
        {
            const std::size_t before = omp_test::tasks_made_here();
            for (std::size_t i = 0; i < n_messages; ++i) {
                create(i);
                EXPECT_EQ(commtask_omp_wait_all(), COMMTASK_OK);
            }
            n = omp_test::tasks_made_here() - before;
        }
        return n;
    }
};

TEST_F(SerialCost, AnOperationThatEndsWhileItIsStartedIsOneTask) {
    const std::size_t n = tasks_of([&](std::size_t i) { COMM_TASK(noop(comm), out(&received[i])); });
    EXPECT_GE(n, n_messages);
    EXPECT_LE(n, n_messages + 3 * n_seen_elsewhere);
}

TEST_F(SerialCost, AMessageToOneselfIsFourTasksAndItsDependent) {
    int n_right = 0;
    const std::size_t n = tasks_of([&](std::size_t i) {
        int* const to = &received[i];
        sent[i] = static_cast<int>(i);
        COMM_TASK(recv(to, 1, MPI_INT, rank, 0, comm), out(to));
        COMM_TASK(send(&sent[i], 1, MPI_INT, rank, 0, comm), in(&sent[i]));
#pragma omp task depend(in : *to) firstprivate(to, i) shared(n_right)
        n_right += *to == static_cast<int>(i);
    });
    EXPECT_EQ(n_right, static_cast<int>(n_messages));
    EXPECT_GE(n, 5 * n_messages);
    EXPECT_LE(n, 5 * n_messages + 3 * n_seen_elsewhere);
}

} // namespace
