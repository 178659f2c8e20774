// SPDX-License-Identifier: Apache-2.0
//
// mpi.order: the promise of order. Tasks become ready in an order that differs from rank to rank (their events are
// signalled in shuffled order, with the rank in the seed), and yet ordered ones are issued in program order: same-tag
// messages arrive in sequence, and collectives of different kinds meet their like on every rank.
#include "runtime_test.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <random>
#include <thread>

namespace commtask::test {
namespace {

class Order : public Runtime {
protected:
    [[nodiscard]] std::vector<std::size_t> shuffled(std::size_t count, unsigned seed) const {
        std::vector<std::size_t> order(count);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::shuffle(order.begin(), order.end(), std::mt19937{1000 * seed + static_cast<unsigned>(rank_)});
        return order;
    }
};

constexpr std::size_t n_tasks = 200;

TEST_F(Order, OrderedMessagesArriveInProgramOrderWhateverBecomesReadyFirst) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::vector<event> send_gates(n_tasks);
        std::vector<event> recv_gates(n_tasks);
        std::vector<int> sent(n_tasks);
        std::vector<int> received(n_tasks, -1);
        std::vector<commtask_t> tasks;
        for (std::size_t i = 0; i < n_tasks; ++i) {
            sent[i] = value_of(rank_, static_cast<int>(i));
            options send;
            tasks.push_back(post(commtask_op_send(&sent[i], 1, MPI_INT, right(), 0, comm_),
                                 send.on({send_gates[i].get()}).flags(COMMTASK_ORDERED)));
            options receive;
            tasks.push_back(post(commtask_op_recv(&received[i], 1, MPI_INT, left(), 0, comm_),
                                 receive.on({recv_gates[i].get()}).flags(COMMTASK_ORDERED)));
        }
        for (const std::size_t i : shuffled(n_tasks, seed)) send_gates[i].signal();
        for (const std::size_t i : shuffled(n_tasks, seed + 100)) recv_gates[i].signal();
        EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
        for (std::size_t i = 0; i < n_tasks; ++i) ASSERT_EQ(received[i], value_of(left(), static_cast<int>(i)));
    }
}

TEST_F(Order, CollectivesOfDifferentKindsMeetTheirLikeWithoutAnyFlag) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::vector<event> gates(n_tasks);
        std::vector<int> mine(n_tasks);
        std::vector<int> result(n_tasks, -1);
        std::vector<commtask_t> tasks;
        for (std::size_t i = 0; i < n_tasks; ++i) {
            options how;
            how.on({gates[i].get()});
            const int root = static_cast<int>(i) % n_ranks_;
            mine[i] = value_of(rank_, static_cast<int>(i));
            if (i % 4 == 0) {
                tasks.push_back(post(commtask_op_allreduce(&mine[i], &result[i], 1, MPI_INT, MPI_MAX, comm_), how));
            } else if (i % 4 == 1) {
                tasks.push_back(post(commtask_op_bcast(&mine[i], 1, MPI_INT, root, comm_), how));
            } else if (i % 4 == 2) {
                tasks.push_back(post(commtask_op_barrier(comm_), how));
            } else {
                tasks.push_back(post(commtask_op_exscan(&mine[i], &result[i], 1, MPI_INT, MPI_MAX, comm_), how));
            }
        }
        for (const std::size_t i : shuffled(n_tasks, seed)) gates[i].signal();
        EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
        for (std::size_t i = 0; i < n_tasks; ++i) {
            const int index = static_cast<int>(i);
            if (i % 4 == 0) {
                ASSERT_EQ(result[i], value_of(last(), index));
            }
            if (i % 4 == 1) {
                ASSERT_EQ(mine[i], value_of(index % n_ranks_, index));
            }
            if (i % 4 == 3 && rank_ > 0) {
                ASSERT_EQ(result[i], value_of(rank_ - 1, index));
            }
        }
    }
}

TEST_F(Order, UnorderedCollectivesGoAsTheyBecomeReady) {
    // The second is ready first; the caller sees to it that this is so on every rank.
    event gate;
    const int mine = rank_;
    int early = -1;
    int late = -1;
    options held;
    commtask_t second = post(commtask_op_allreduce(&mine, &late, 1, MPI_INT, MPI_MAX, comm_),
                             held.on({gate.get()}).flags(COMMTASK_UNORDERED));
    options free;
    commtask_t first =
        post(commtask_op_allreduce(&mine, &early, 1, MPI_INT, MPI_MIN, comm_), free.flags(COMMTASK_UNORDERED));
    EXPECT_EQ(finish(first), COMMTASK_OK);
    EXPECT_EQ(early, 0);
    gate.signal();
    EXPECT_EQ(finish(second), COMMTASK_OK);
    EXPECT_EQ(late, last());
}

TEST_F(Order, ATicketHoldsThePlaceFromWhenItWasTaken) {
    std::vector<commtask_ticket> tickets(n_tasks);
    std::vector<int> sent(n_tasks);
    std::vector<int> received(n_tasks, -1);
    std::vector<commtask_op> sends;
    for (std::size_t i = 0; i < n_tasks; ++i) {
        sent[i] = value_of(rank_, static_cast<int>(i));
        sends.push_back(commtask_op_send(&sent[i], 1, MPI_INT, right(), 0, comm_));
        ASSERT_EQ(commtask_ticket_take(&sends[i], &tickets[i]), COMMTASK_OK) << commtask_last_error();
        EXPECT_NE(tickets[i].number, 0U);
    }
    std::vector<commtask_t> receives;
    for (std::size_t i = 0; i < n_tasks; i += 2) {
        receives.push_back(post(commtask_op_recv(&received[i], 1, MPI_INT, left(), 0, comm_)));
    }
    // Every other ticket is dropped; the rest are used in shuffled order.
    std::vector<commtask_t> posted;
    for (const std::size_t i : shuffled(n_tasks, 7)) {
        if (i % 2 == 1) {
            EXPECT_EQ(commtask_ticket_drop(comm_, tickets[i]), COMMTASK_OK);
            continue;
        }
        options how;
        posted.push_back(post(sends[i], how.at(tickets[i])));
    }
    EXPECT_EQ(commtask_wait_all_for(posted.size(), posted.data(), limit_ns, nullptr), COMMTASK_OK);
    EXPECT_EQ(commtask_wait_all_for(receives.size(), receives.data(), limit_ns, nullptr), COMMTASK_OK);
    for (std::size_t i = 0; i < n_tasks; i += 2) ASSERT_EQ(received[i], value_of(left(), static_cast<int>(i)));
}

TEST_F(Order, TicketsOfCollectivesMayBeUsedInAnotherOrderOnEachRank) {
    constexpr std::size_t n = 64;
    std::vector<commtask_ticket> tickets(n);
    std::vector<int> mine(n);
    std::vector<int> result(n, -1);
    std::vector<commtask_op> operations;
    for (std::size_t i = 0; i < n; ++i) {
        mine[i] = value_of(rank_, static_cast<int>(i));
        operations.push_back(i % 2 == 0 ? commtask_op_allreduce(&mine[i], &result[i], 1, MPI_INT, MPI_MAX, comm_)
                                        : commtask_op_bcast(&mine[i], 1, MPI_INT, 0, comm_));
        ASSERT_EQ(commtask_ticket_take(&operations[i], &tickets[i]), COMMTASK_OK);
    }
    std::vector<commtask_t> tasks;
    for (const std::size_t i : shuffled(n, 11)) {
        options how;
        tasks.push_back(post(operations[i], how.at(tickets[i])));
    }
    EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
    for (std::size_t i = 0; i < n; ++i) {
        const int index = static_cast<int>(i);
        if (i % 2 == 0) {
            ASSERT_EQ(result[i], value_of(last(), index));
        }
        if (i % 2 == 1) {
            ASSERT_EQ(mine[i], value_of(0, index));
        }
    }
}

TEST_F(Order, ALateCollectiveHoldsNeitherMessagesNorUnorderedTasksUp) {
    event gate;
    options held;
    commtask_t barrier = post(commtask_op_barrier(comm_), held.on({gate.get()}));
    commtask_t next_barrier = post(commtask_op_barrier(comm_));
    int received = -1;
    const int sent = rank_;
    options ordered;
    commtask_t receive =
        post(commtask_op_recv(&received, 1, MPI_INT, left(), 0, comm_), ordered.flags(COMMTASK_ORDERED));
    run(commtask_op_send(&sent, 1, MPI_INT, right(), 0, comm_));
    EXPECT_EQ(finish(receive), COMMTASK_OK);
    EXPECT_EQ(received, left());
    EXPECT_EQ(commtask_wait_for(&next_barrier, 0, nullptr), COMMTASK_TIMEOUT) << "it comes after the one that is held";
    gate.signal();
    EXPECT_EQ(finish(barrier), COMMTASK_OK);
    EXPECT_EQ(finish(next_barrier), COMMTASK_OK);
}

TEST_F(Order, OneCommunicatorsOrderHoldsNoOtherCommunicatorUp) {
    MPI_Comm other = MPI_COMM_NULL;
    ASSERT_EQ(MPI_Comm_dup(comm_, &other), MPI_SUCCESS);
    event gate;
    options held;
    commtask_t late = post(commtask_op_barrier(comm_), held.on({gate.get()}));
    run(commtask_op_barrier(other));
    gate.signal();
    EXPECT_EQ(finish(late), COMMTASK_OK);
    EXPECT_EQ(MPI_Comm_free(&other), MPI_SUCCESS);
}

TEST_F(Order, ThreadsThatHandTheTurnOnPostInThatOrder) {
    constexpr std::size_t n_threads = 4;
    constexpr std::size_t n_rounds = 250;
    constexpr std::size_t n = n_threads * n_rounds;
    std::vector<int> sent(n);
    std::vector<int> received(n, -1);
    std::vector<commtask_t> sends(n, COMMTASK_NULL);
    std::vector<commtask_t> receives;
    for (std::size_t i = 0; i < n; ++i) {
        receives.push_back(post(commtask_op_recv(&received[i], 1, MPI_INT, left(), 0, comm_)));
    }
    std::atomic<std::size_t> turn{0};
    std::vector<std::thread> threads;
    for (std::size_t which = 0; which < n_threads; ++which) {
        threads.emplace_back([&, which] {
            for (std::size_t i = which; i < n; i += n_threads) {
                while (turn.load() != i) std::this_thread::yield();
                sent[i] = value_of(rank_, static_cast<int>(i));
                const commtask_op op = commtask_op_send(&sent[i], 1, MPI_INT, right(), 0, comm_);
                EXPECT_EQ(commtask_post_operation(&op, nullptr, &sends[i]), COMMTASK_OK);
                turn.store(i + 1);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(commtask_wait_all_for(n, sends.data(), limit_ns, nullptr), COMMTASK_OK);
    EXPECT_EQ(commtask_wait_all_for(n, receives.data(), limit_ns, nullptr), COMMTASK_OK);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(received[i], value_of(left(), static_cast<int>(i)));
}

TEST_F(Order, ThreadsWithoutOrderLoseNothing) {
    // Each thread keeps its own messages in order: its tag is its own.
    constexpr std::size_t n_threads = 4;
    constexpr std::size_t n_rounds = 500;
    std::vector<std::vector<int>> received(n_threads, std::vector<int>(n_rounds, -1));
    std::vector<std::thread> threads;
    std::atomic<int> n_good{0};
    for (std::size_t which = 0; which < n_threads; ++which) {
        threads.emplace_back([&, which] {
            const int tag = static_cast<int>(which);
            std::vector<int> sent(n_rounds);
            std::vector<commtask_t> tasks(2 * n_rounds, COMMTASK_NULL);
            for (std::size_t i = 0; i < n_rounds; ++i) {
                sent[i] = value_of(rank_, static_cast<int>(i));
                const commtask_op in = commtask_op_recv(&received[which][i], 1, MPI_INT, left(), tag, comm_);
                const commtask_op out = commtask_op_send(&sent[i], 1, MPI_INT, right(), tag, comm_);
                if (commtask_post_operation(&in, nullptr, &tasks[2 * i]) == COMMTASK_OK) ++n_good;
                if (commtask_post_operation(&out, nullptr, &tasks[2 * i + 1]) == COMMTASK_OK) ++n_good;
            }
            EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(n_good, static_cast<int>(2 * n_threads * n_rounds));
    for (const std::vector<int>& of_thread : received) {
        for (std::size_t i = 0; i < n_rounds; ++i) ASSERT_EQ(of_thread[i], value_of(left(), static_cast<int>(i)));
    }
}

TEST_F(Order, OrderedTasksAreIssuedInOrderAcrossKinds) {
    // Calls note when they were issued; half of them wait for an event, in reverse order of signalling.
    constexpr std::size_t n = 50;
    std::vector<event> gates(n);
    std::vector<std::size_t> issued;
    struct note {
        std::vector<std::size_t>* issued;
        std::size_t index;
    };
    std::vector<note> notes;
    for (std::size_t i = 0; i < n; ++i) notes.push_back({&issued, i});
    std::vector<commtask_t> tasks;
    for (std::size_t i = 0; i < n; ++i) {
        options how;
        how.flags(COMMTASK_ORDERED);
        if (i % 2 == 0) how.on({gates[i].get()});
        const auto write_down = [](void* argument) {
            const auto* const mine = static_cast<note*>(argument);
            mine->issued->push_back(mine->index); // only the thread that drives MPI comes here
            return MPI_SUCCESS;
        };
        tasks.push_back(post(commtask_op_call(write_down, &notes[i], comm_), how));
    }
    for (std::size_t i = n; i-- > 0;) gates[i].signal();
    EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
    ASSERT_EQ(issued.size(), n);
    EXPECT_TRUE(std::is_sorted(issued.begin(), issued.end()));
}

} // namespace
} // namespace commtask::test
