// SPDX-License-Identifier: Apache-2.0
//
// commtask_omp_listen: every message becomes a task of the team, however few slots there are and whatever the task does; the end of
// the taskgroup waits for all of them, and a listener that was refused, or to which nothing came, leaves no task that waits.
#include "omp_fixture.hpp"

#include <commtask/omp_listen.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <thread>
#include <vector>

namespace {

[[maybe_unused]] testing::Environment* const started = testing::AddGlobalTestEnvironment(new omp_test::library);

constexpr std::size_t n_slots = 3;

class Listen : public omp_test::ring {
protected:
    /// Sends as many numbers to the right neighbour, in communication tasks.
    void send(int count, int tag) {
        sent_.resize(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) {
            sent_[static_cast<std::size_t>(i)] = i;
            COMM_TASK(send(&sent_[static_cast<std::size_t>(i)], 1, MPI_INT, right, tag, comm));
        }
    }

    std::vector<int> sent_;
};

/// What tasks of messages found, and how many there will be.
struct found {
    explicit found(int n) : expected(n), times(static_cast<std::size_t>(n)) {}
    commtask_omp_listener listener{};
    int expected;
    std::vector<std::atomic<int>> times; ///< How often each number came.
    std::atomic<int> n_seen{0};
    std::atomic<int> n_wrong{0};
    std::atomic<int> n_answered{0};

    /// @return whether it was the last
    bool count(const commtask_message& message) {
        const int number = message.error == MPI_SUCCESS ? *static_cast<const int*>(message.data) : -1;
        if (number < 0 || number >= expected || times[static_cast<std::size_t>(number)].fetch_add(1) != 0) ++n_wrong;
        return ++n_seen == expected;
    }
};

void count_and_end(commtask_message* message, void* argument) {
    auto& all = *static_cast<found*>(argument);
    if (all.count(*message) && commtask_omp_unlisten(&all.listener) != COMMTASK_OK) ++all.n_wrong;
}

TEST_F(Listen, MakesATaskOfEachMessageWhereThereAreManyMoreThanSlots) {
    constexpr int n_messages = 500;
    found all{n_messages};
    int code = -1;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        code = commtask_omp_listen(comm, 5, sizeof(int), n_slots, count_and_end, &all, &all.listener);
        send(n_messages, 5);
    }
    EXPECT_EQ(code, COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(all.n_seen.load(), n_messages);
    EXPECT_EQ(all.n_wrong.load(), 0);
    EXPECT_EQ(all.listener.messages, nullptr) << "it was given back";
    EXPECT_EQ(all.listener.detached, COMMTASK_PLAN_NULL);
}

TEST_F(Listen, CanBeUsedAgainWhenItsTasksHaveEnded) {
    for (int round = 0; round < 6; ++round) {
        found all{10};
        int code = -1;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        {
            code = commtask_omp_listen(comm, 6 + round, sizeof(int), 1, count_and_end, &all, &all.listener);
            send(10, 6 + round);
        }
        EXPECT_EQ(code, COMMTASK_OK) << commtask_last_error();
        EXPECT_EQ(all.n_seen.load(), 10);
        EXPECT_EQ(all.n_wrong.load(), 0);
    }
}

TEST_F(Listen, LetsItsTasksPostAndCreateTasksOfTheirOwn) {
    constexpr int n_messages = 100;
    found all{n_messages};
    std::vector<int> echoes(n_messages, -1);
    struct echoed {
        found& all;
        int left;
        MPI_Comm comm;
        std::array<int, n_messages> numbers{};
    } mine{all, left, comm, {}};
    const auto answer = [](commtask_message* message, void* argument) {
        auto& what = *static_cast<echoed*>(argument);
        const bool is_last = what.all.count(*message);
        const int number = *static_cast<const int*>(message->data);
        int* const word = &what.numbers[static_cast<std::size_t>(number)];
        *word = number + 1;
        // Within a taskgroup of its own, as for every task whose communication is to end before it.
#pragma omp taskgroup
        {
            COMM_TASK(send(word, 1, MPI_INT, what.left, 1000 + number, what.comm), in(word));
#pragma omp task depend(in : word[0]) firstprivate(argument)
            ++static_cast<echoed*>(argument)->all.n_answered;
        }
        if (is_last && commtask_omp_unlisten(&what.all.listener) != COMMTASK_OK) ++what.all.n_wrong;
    };
    int code = -1;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        for (int i = 0; i < n_messages; ++i) {
            COMM_TASK(recv(&echoes[static_cast<std::size_t>(i)], 1, MPI_INT, right, 1000 + i, comm));
        }
        code = commtask_omp_listen(comm, 7, sizeof(int), n_slots, answer, &mine, &all.listener);
        send(n_messages, 7);
    }
    EXPECT_EQ(code, COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(all.n_seen.load(), n_messages);
    EXPECT_EQ(all.n_answered.load(), n_messages);
    EXPECT_EQ(all.n_wrong.load(), 0);
    for (int i = 0; i < n_messages; ++i) EXPECT_EQ(echoes[static_cast<std::size_t>(i)], i + 1);
}

TEST_F(Listen, IsEndedWhereNothingHasCome) {
    for (int round = 0; round < 20; ++round) {
        found none{1};
        int listened = -1;
        int ended = -1;
        int again = -1;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        {
            listened = commtask_omp_listen(comm, 8, sizeof(int), n_slots, count_and_end, &none, &none.listener);
            ended = commtask_omp_unlisten(&none.listener);
            again = commtask_omp_unlisten(&none.listener);
        }
        EXPECT_EQ(listened, COMMTASK_OK) << commtask_last_error();
        EXPECT_EQ(ended, COMMTASK_OK) << commtask_last_error();
        EXPECT_EQ(again, COMMTASK_OK);
        EXPECT_EQ(none.n_seen.load(), 0);
        EXPECT_EQ(none.listener.messages, nullptr);
    }
}

TEST_F(Listen, OfATaskThatIsNotDeferred) {
    found all{50};
    int code = -1;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task if (0) shared(all, code)
        code = commtask_omp_listen(comm, 40, sizeof(int), n_slots, count_and_end, &all, &all.listener);
        send(50, 40);
    }
    EXPECT_EQ(code, COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(all.n_seen.load(), 50);
    EXPECT_EQ(all.n_wrong.load(), 0);
}

TEST_F(Listen, OutsideOfEveryParallelRegion) {
    if (omp_test::tasks_need_a_region()) GTEST_SKIP() << "Archer";
    found all{50};
    int code = -1;
#pragma omp taskgroup
    {
        code = commtask_omp_listen(comm, 41, sizeof(int), n_slots, count_and_end, &all, &all.listener);
        send(50, 41);
    }
    EXPECT_EQ(code, COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(all.n_seen.load(), 50);
    EXPECT_EQ(all.n_wrong.load(), 0);
    EXPECT_EQ(all.listener.messages, nullptr);
}

/// The taskgroup ends, and a listener that the library's next life knows nothing of can be ended, and used again.
TEST_F(Listen, IsEndedByFinalize) {
    found all{10};
    int listened = -1;
    int finalized = -1;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        listened = commtask_omp_listen(comm, 42, sizeof(int), n_slots, count_and_end, &all, &all.listener);
        finalized = commtask_finalize();
    }
    EXPECT_EQ(listened, COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(finalized, COMMTASK_OK) << "nobody waits for a standing receive";
    EXPECT_EQ(all.listener.messages, nullptr);
    ASSERT_EQ(commtask_init(nullptr), COMMTASK_OK);
    EXPECT_EQ(commtask_omp_unlisten(&all.listener), COMMTASK_OK);
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        listened = commtask_omp_listen(comm, 43, sizeof(int), n_slots, count_and_end, &all, &all.listener);
        send(10, 43);
    }
    EXPECT_EQ(listened, COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(all.n_seen.load(), 10);
    EXPECT_EQ(all.n_wrong.load(), 0);
}

/// Whatever the tasks that serve are doing: each message comes once, to a task or to who receives later, and the taskgroup ends.
TEST_F(Listen, IsEndedByFinalizeAmongTheMessagesThatCome) {
    if (n_ranks == 1) GTEST_SKIP() << "a rank's MPI_Send to itself waits for the receive";
    constexpr int n_rounds = 20;
    constexpr int n_messages = 300;
    const auto count = [](commtask_message* message, void* times) {
        if (message->error != MPI_SUCCESS) return;
        ++(*static_cast<std::vector<std::atomic<int>>*>(times))[*static_cast<std::size_t*>(message->data)];
    };
    for (int round = 0; round < n_rounds; ++round) {
        const int tag = 100 + round;
        std::vector<std::atomic<int>> times(n_messages);
        std::atomic<std::size_t> n_sent{0};
        commtask_omp_listener listener{};
        MPI_Barrier(comm);
        std::thread sender{[&] {
            for (std::size_t number = 0; number < n_messages; ++number) {
                MPI_Send(&number, sizeof number, MPI_BYTE, right, tag, comm);
                ++n_sent;
            }
        }};
        int listened = -1;
        int finalized = -1;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        {
            listened = commtask_omp_listen(comm, tag, sizeof(std::size_t), n_slots, count, &times, &listener);
            while (n_sent.load() < static_cast<std::size_t>(round * 10)) std::this_thread::yield();
            finalized = commtask_finalize();
        }
        EXPECT_EQ(listened, COMMTASK_OK) << commtask_last_error();
        EXPECT_EQ(finalized, COMMTASK_OK);
        EXPECT_EQ(listener.messages, nullptr);
        int n_seen = std::accumulate(times.begin(), times.end(), 0);
        for (; n_seen < n_messages; ++n_seen) {
            std::size_t number = 0;
            MPI_Recv(&number, sizeof number, MPI_BYTE, left, tag, comm, MPI_STATUS_IGNORE);
            ++times[number];
        }
        sender.join();
        EXPECT_TRUE(std::ranges::all_of(times, [](const std::atomic<int>& each) { return each.load() == 1; }));
        ASSERT_EQ(commtask_init(nullptr), COMMTASK_OK);
    }
}

TEST_F(Listen, LeavesNothingWhereItWasRefused) {
    found none{1};
    std::array<int, 6> codes{};
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        commtask_omp_listener* const it = &none.listener;
        codes[0] = commtask_omp_listen(comm, -7, sizeof(int), n_slots, count_and_end, &none, it);
        codes[1] = commtask_omp_listen(comm, 9, sizeof(int), 0, count_and_end, &none, it);
        codes[2] = commtask_omp_listen(comm, 9, sizeof(int), n_slots, nullptr, &none, it);
        codes[3] = commtask_omp_listen(MPI_COMM_NULL, 9, sizeof(int), n_slots, count_and_end, &none, it);
        codes[4] = commtask_omp_listen(comm, 9, sizeof(int), n_slots, count_and_end, &none, nullptr);
        codes[5] = commtask_omp_unlisten(it);
    }
    EXPECT_EQ(codes[0], COMMTASK_ERR_TAG);
    EXPECT_EQ(codes[1], COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(codes[2], COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(codes[3], COMMTASK_ERR_COMM);
    EXPECT_EQ(codes[4], COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(codes[5], COMMTASK_OK);
    EXPECT_EQ(none.listener.messages, nullptr);
    EXPECT_EQ(none.listener.detached, COMMTASK_PLAN_NULL);
    EXPECT_EQ(commtask_omp_wait_all(), COMMTASK_OK);
}

} // namespace
