// SPDX-License-Identifier: Apache-2.0
//
// Plans on real ranks: what was recorded happens in every run, with new contents, in order, after its predecessors; members may
// be held, asked, waited for and given other buffers; a run that failed can be followed by one that does not.
#include "mpi_facts.hpp"
#include "plan_fixture.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <thread>
#include <vector>

namespace commtask::test {
namespace {

class Plans : public Runtime {
protected:
    /// Receive from the left, send to the right: members 0 and 1.
    [[nodiscard]] auto ring(int& from_left, const int& mine) {
        return [&] {
            post_detached(commtask_op_recv(&from_left, 1, MPI_INT, left(), 1, comm_));
            post_detached(commtask_op_send(&mine, 1, MPI_INT, right(), 1, comm_));
        };
    }
};

TEST_F(Plans, MoveNewContentsInEveryRun) {
    int mine = 0;
    int theirs = -1;
    plan exchange{ring(theirs, mine)};
    EXPECT_EQ(commtask_plan_size(exchange.get()), 2U);
    for (int i = 0; i < 100; ++i) {
        mine = value_of(rank_, i);
        exchange.run();
        EXPECT_EQ(theirs, value_of(left(), i));
    }
}

TEST_F(Plans, StartNothingWhileTheyAreRecorded) {
    int mine = 7;
    int theirs = -1;
    std::vector<commtask_t> handles;
    plan exchange{[&] {
        handles.push_back(post(commtask_op_recv(&theirs, 1, MPI_INT, left(), 1, comm_)));
        handles.push_back(post(commtask_op_send(&mine, 1, MPI_INT, right(), 1, comm_)));
        std::thread{[&] { run(commtask_op_noop(comm_)); }}.join(); // another thread's posts are posts
    }};
    int ended = 1;
    EXPECT_EQ(commtask_test(&handles[0], &ended, nullptr), COMMTASK_OK);
    EXPECT_EQ(ended, 0);
    EXPECT_EQ(commtask_plan_parrived(exchange.get(), 0, COMMTASK_ALL_PARTITIONS), 0);
    exchange.run();
    EXPECT_EQ(theirs, 7);
    for (commtask_t& each : handles) EXPECT_EQ(finish(each), COMMTASK_OK) << "a recorded handle is of the first run";
    exchange.run();
}

/// Where the worker shares its core, a thread that records and looks at an older task drives, and so runs callbacks.
TEST_F(Plans, DoNotTakeWhatACallbackPostsMeanwhile) {
    struct follow_up {
        commtask_op op;
        commtask_t task = COMMTASK_NULL;
        int code = -1;
        static void post(const commtask_status* /*status*/, void* argument) {
            auto& mine = *static_cast<follow_up*>(argument);
            mine.code = commtask_post_operation(&mine.op, nullptr, &mine.task);
        }
    } next{commtask_op_noop(comm_)};
    commtask_event_t gate = COMMTASK_EVENT_NULL;
    ASSERT_EQ(commtask_event_create(1, &gate), COMMTASK_OK);
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.events = &gate;
    how.n_events = 1;
    how.callback = &follow_up::post;
    how.callback_argument = &next;
    commtask_t older = post(commtask_op_noop(comm_), &how);
    plan empty{[&] {
        EXPECT_EQ(commtask_event_signal(gate), COMMTASK_OK);
        int ended = 0;
        while (ended == 0) ASSERT_EQ(commtask_test(&older, &ended, nullptr), COMMTASK_OK);
    }};
    EXPECT_EQ(commtask_plan_size(empty.get()), 0U);
    ASSERT_EQ(next.code, COMMTASK_OK);
    EXPECT_EQ(finish(next.task), COMMTASK_OK);
    EXPECT_EQ(commtask_event_release(&gate), COMMTASK_OK);
}

TEST_F(Plans, OfAllKindsOfMessagesAndOfCollectives) {
    std::array<int, 8> sent{};
    std::array<int, 8> got{};
    std::array<int, 2> replaced{};
    int sum = 0;
    int n_calls = 0;
    std::vector<int> all(static_cast<std::size_t>(n_ranks_));
    const auto count = [](void* calls) -> int {
        ++*static_cast<int*>(calls);
        return MPI_SUCCESS;
    };
    plan mixture{[&] {
        for (int i = 0; i < 3; ++i) {
            post_detached(commtask_op_recv(&got[static_cast<std::size_t>(i)], 1, MPI_INT, left(), i, comm_));
        }
        post_detached(commtask_op_send(&sent[0], 1, MPI_INT, right(), 0, comm_));
        post_detached(commtask_op_ssend(&sent[1], 1, MPI_INT, right(), 1, comm_));
        post_detached(commtask_op_send(&sent[2], 1, MPI_INT, right(), 2, comm_));
        post_detached(commtask_op_sendrecv(&sent[3], 1, MPI_INT, right(), 3, &got[3], 1, MPI_INT, left(), 3, comm_));
        post_detached(commtask_op_sendrecv_replace(&replaced[0], 1, MPI_INT, right(), 4, left(), 4, comm_));
        post_detached(commtask_op_allreduce(&sent[5], &sum, 1, MPI_INT, MPI_SUM, comm_));
        post_detached(commtask_op_allgather(&sent[6], 1, MPI_INT, all.data(), 1, MPI_INT, comm_));
        post_detached(commtask_op_barrier(comm_));
        post_detached(commtask_op_call(+count, &n_calls, comm_));
        post_detached(commtask_op_send(&sent[7], 1, MPI_INT, MPI_PROC_NULL, 5, comm_));
    }};
    for (int i = 0; i < 20; ++i) {
        for (std::size_t k = 0; k < sent.size(); ++k) sent[k] = value_of(rank_, i) + static_cast<int>(k);
        replaced[0] = value_of(rank_, i);
        mixture.run();
        for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(got[k], value_of(left(), i) + static_cast<int>(k));
        EXPECT_EQ(replaced[0], value_of(left(), i));
        int expected = 0;
        for (int rank = 0; rank < n_ranks_; ++rank) {
            expected += value_of(rank, i) + 5;
            EXPECT_EQ(all[static_cast<std::size_t>(rank)], value_of(rank, i) + 6);
        }
        EXPECT_EQ(sum, expected);
        EXPECT_EQ(n_calls, i + 1);
    }
}

TEST_F(Plans, RunMembersAfterTheirPredecessors) {
    // A token goes round the ring: every rank but 0 passes on what it has received.
    if (n_ranks_ == 1) GTEST_SKIP() << "a ring of one sends to itself from where it receives";
    int token = 0;
    plan round{[&] {
        const commtask_op receive = commtask_op_recv(&token, 1, MPI_INT, left(), 1, comm_);
        const commtask_op send = commtask_op_send(&token, 1, MPI_INT, right(), 1, comm_);
        commtask_t first = post(rank_ == 0 ? send : receive);
        options how;
        post_detached(rank_ == 0 ? receive : send, how.after({first}).get());
        EXPECT_EQ(commtask_release(&first), COMMTASK_OK);
    }};
    for (int i = 1; i <= 50; ++i) {
        if (rank_ == 0) token = i;
        round.run();
        EXPECT_EQ(token, i);
    }
}

TEST_F(Plans, MatchWhatIsPostedSinglyElsewhere) {
    int mine = 0;
    int theirs = -1;
    int sum = 0;
    const auto body = [&] {
        post_detached(commtask_op_recv(&theirs, 1, MPI_INT, left(), 1, comm_));
        post_detached(commtask_op_send(&mine, 1, MPI_INT, right(), 1, comm_));
        post_detached(commtask_op_allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm_));
    };
    plan exchange{body};
    for (int i = 0; i < 20; ++i) {
        mine = i;
        if ((i + rank_) % 2 == 0) {
            exchange.run();
        } else {
            commtask_t receive = post(commtask_op_recv(&theirs, 1, MPI_INT, left(), 1, comm_));
            commtask_t send = post(commtask_op_send(&mine, 1, MPI_INT, right(), 1, comm_));
            run(commtask_op_allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm_));
            EXPECT_EQ(finish(receive), COMMTASK_OK);
            EXPECT_EQ(finish(send), COMMTASK_OK);
        }
        EXPECT_EQ(theirs, i);
        EXPECT_EQ(sum, i * n_ranks_);
    }
}

TEST_F(Plans, HoldMembersUntilAThreadHasFilledTheirBuffers) {
    constexpr std::size_t n_messages = 8;
    std::array<int, n_messages> sent{};
    std::array<int, n_messages> got{};
    plan exchange{[&] {
        for (std::size_t i = 0; i < n_messages; ++i) {
            post_detached(commtask_op_recv(&got[i], 1, MPI_INT, left(), static_cast<int>(i), comm_));
        }
        for (std::size_t i = 0; i < n_messages; ++i) {
            post_detached(commtask_op_send(&sent[i], 1, MPI_INT, right(), static_cast<int>(i), comm_));
        }
    }};
    for (std::size_t i = 0; i < n_messages; ++i) {
        EXPECT_EQ(commtask_plan_defer(exchange.get(), n_messages + i), COMMTASK_OK);
    }
    for (int round = 0; round < 30; ++round) {
        const bool starts_first = round % 2 == 0;
        commtask_t run = starts_first ? exchange.start() : COMMTASK_NULL;
        std::vector<std::thread> threads;
        for (std::size_t t = 0; t < 2; ++t) {
            threads.emplace_back([&, t] {
                for (std::size_t i = t; i < n_messages; i += 2) {
                    sent[i] = value_of(rank_, round) + static_cast<int>(i);
                    EXPECT_EQ(commtask_plan_pready(exchange.get(), n_messages + i), COMMTASK_OK)
                        << commtask_last_error();
                }
            });
        }
        if (!starts_first) run = exchange.start();
        for (std::thread& each : threads) each.join();
        EXPECT_EQ(finish(run), COMMTASK_OK);
        for (std::size_t i = 0; i < n_messages; ++i) {
            EXPECT_EQ(got[i], value_of(left(), round) + static_cast<int>(i));
            EXPECT_EQ(commtask_plan_parrived(exchange.get(), i, COMMTASK_ALL_PARTITIONS), 1);
        }
    }
}

TEST_F(Plans, TellOfEachMemberThatHasArrived) {
    int mine = 5;
    std::array<int, 2> theirs{};
    plan exchange{[&] {
        post_detached(commtask_op_recv(&theirs[0], 1, MPI_INT, left(), 1, comm_));
        post_detached(commtask_op_recv(&theirs[1], 1, MPI_INT, left(), 2, comm_));
        post_detached(commtask_op_send(&mine, 1, MPI_INT, right(), 1, comm_));
        post_detached(commtask_op_send(&mine, 1, MPI_INT, right(), 2, comm_));
    }};
    EXPECT_EQ(commtask_plan_defer(exchange.get(), 3), COMMTASK_OK);
    for (int round = 0; round < 5; ++round) {
        commtask_t run_task = exchange.start();
        while (commtask_plan_parrived(exchange.get(), 0, COMMTASK_ALL_PARTITIONS) == 0) std::this_thread::yield();
        EXPECT_EQ(theirs[0], 5);
        commtask_t first = exchange.member(0);
        options how;
        run(commtask_op_noop(comm_), how.after({first}).get());
        EXPECT_EQ(finish(first), COMMTASK_OK);
        run(commtask_op_barrier(comm_)); // nobody has let member 3 go
        EXPECT_EQ(commtask_plan_parrived(exchange.get(), 1, COMMTASK_ALL_PARTITIONS), 0);
        run(commtask_op_barrier(comm_));
        commtask_t second = exchange.member(1);
        EXPECT_EQ(commtask_plan_pready(exchange.get(), 3), COMMTASK_OK);
        commtask_status status = COMMTASK_STATUS_INIT;
        EXPECT_EQ(finish(second, &status), COMMTASK_OK);
        EXPECT_EQ(status.source, left());
        EXPECT_EQ(status.tag, 2);
        EXPECT_EQ(status.bytes, static_cast<MPI_Count>(sizeof(int)));
        EXPECT_EQ(finish(run_task), COMMTASK_OK);
    }
}

TEST_F(Plans, TakeOtherBuffersBetweenRuns) {
    std::array<int, 2> mine{};
    std::array<int, 2> theirs{};
    int summand = 0;
    std::array<int, 2> sums{};
    plan exchange{[&] {
        post_detached(commtask_op_recv(&theirs[0], 1, MPI_INT, left(), 1, comm_));
        post_detached(commtask_op_send(&mine[0], 1, MPI_INT, right(), 1, comm_));
        post_detached(commtask_op_allreduce(&summand, &sums[0], 1, MPI_INT, MPI_SUM, comm_));
    }};
    for (int i = 0; i < 20; ++i) {
        const std::size_t now = static_cast<std::size_t>(i % 2);
        // The ranks need not swap together.
        const std::size_t sum_at = static_cast<std::size_t>((i / 2 + rank_) % 2);
        EXPECT_EQ(commtask_plan_rebind(exchange.get(), 0, nullptr, &theirs[now]), COMMTASK_OK) << commtask_last_error();
        EXPECT_EQ(commtask_plan_rebind(exchange.get(), 1, &mine[now], nullptr), COMMTASK_OK);
        EXPECT_EQ(commtask_plan_rebind(exchange.get(), 2, nullptr, &sums[sum_at]), COMMTASK_OK);
        mine[now] = value_of(rank_, i);
        mine[1 - now] = theirs[1 - now] = sums[1 - sum_at] = -1;
        summand = i;
        exchange.run();
        EXPECT_EQ(theirs[now], value_of(left(), i));
        EXPECT_EQ(theirs[1 - now], -1);
        EXPECT_EQ(sums[sum_at], i * n_ranks_);
        EXPECT_EQ(sums[1 - sum_at], -1);
    }
}

TEST_F(Plans, CallBackAndReportInEveryRun) {
    int mine = 1;
    int theirs = 0;
    int n_calls = 0;
    commtask_status status = COMMTASK_STATUS_INIT;
    const auto count = [](const commtask_status* /*status*/, void* calls) { ++*static_cast<int*>(calls); };
    options how;
    how.call(count, &n_calls).report_to(status);
    plan exchange{[&] {
        post_detached(commtask_op_recv(&theirs, 1, MPI_INT, left(), 1, comm_), how.get());
        post_detached(commtask_op_send(&mine, 1, MPI_INT, right(), 1, comm_));
    }};
    for (int i = 1; i <= 5; ++i) {
        status.source = -5;
        exchange.run();
        EXPECT_EQ(n_calls, i);
        EXPECT_EQ(status.source, left());
    }
}

TEST_F(Plans, GoOnAfterARunThatFailed) {
    if (!sees_truncation(n_ranks_)) GTEST_SKIP() << "this MPI does not check messages to oneself";
    std::array<int, 2> mine{};
    int theirs = 0;
    commtask_status first = COMMTASK_STATUS_INIT;
    options report;
    plan exchange{[&] {
        commtask_t receive =
            post(commtask_op_recv(&theirs, 1, MPI_INT, left(), 1, comm_), report.report_to(first).get());
        options how;
        post_detached(commtask_op_noop(comm_), how.after({receive}).get());
        EXPECT_EQ(commtask_release(&receive), COMMTASK_OK);
    }};
    for (const int count : {1, 2, 1, 2, 1}) {
        commtask_t run_task = exchange.start();
        commtask_t send = post(commtask_op_send(mine.data(), count, MPI_INT, right(), 1, comm_));
        commtask_status status = COMMTASK_STATUS_INIT;
        const int code = finish(run_task, &status);
        static_cast<void>(finish(send)); // MPICH tells the sender of a message to itself too
        EXPECT_EQ(code, count == 1 ? COMMTASK_OK : COMMTASK_FAILED);
        commtask_t second = exchange.member(1);
        EXPECT_EQ(finish(second), count == 1 ? COMMTASK_OK : COMMTASK_CANCELED);
        if (count == 1) continue;
        EXPECT_EQ(status.error_class, MPI_ERR_TRUNCATE);
        EXPECT_EQ(first.error_class, MPI_ERR_TRUNCATE);
    }
}

TEST_F(Plans, SayWhichOfManyMembersFailed) {
    if (!sees_truncation(n_ranks_)) GTEST_SKIP() << "this MPI does not check messages to oneself";
    constexpr std::size_t too_long = 2;
    std::array<int, 2> mine{};
    std::array<int, 4> theirs{};
    const auto tag_of = [](std::size_t which) { return static_cast<int>(which); };
    plan receives{[&] {
        for (std::size_t i = 0; i < theirs.size(); ++i) {
            post_detached(commtask_op_recv(&theirs.at(i), 1, MPI_INT, left(), tag_of(i), comm_));
        }
    }};
    // They have come before the receives start, so that one look finds several.
    std::array<commtask_t, theirs.size()> sends{};
    for (std::size_t i = 0; i < theirs.size(); ++i) {
        sends.at(i) = post(commtask_op_send(mine.data(), i == too_long ? 2 : 1, MPI_INT, right(), tag_of(i), comm_));
    }
    if (n_ranks_ > 1) run(commtask_op_barrier(comm_));
    commtask_t run_task = receives.start();
    for (std::size_t i = 0; i < theirs.size(); ++i) {
        commtask_t member = receives.member(i);
        EXPECT_EQ(finish(member), i == too_long ? COMMTASK_FAILED : COMMTASK_OK) << "member " << i;
    }
    EXPECT_EQ(finish(run_task), COMMTASK_FAILED);
    for (commtask_t& each : sends) static_cast<void>(finish(each)); // MPICH tells the sender of a message to itself too
}

TEST_F(Plans, AreCanceledAsAWhole) {
    int never = 0;
    plan waiting{[&] {
        for (int i = 0; i < 3; ++i) post_detached(commtask_op_recv(&never, 1, MPI_INT, left(), 77, comm_));
        post_detached(commtask_op_noop(comm_));
    }};
    EXPECT_EQ(commtask_plan_defer(waiting.get(), 3), COMMTASK_OK);
    for (int i = 0; i < 3; ++i) {
        commtask_t run_task = waiting.start();
        EXPECT_EQ(commtask_cancel(run_task), COMMTASK_OK);
        EXPECT_EQ(finish(run_task), COMMTASK_CANCELED);
    }
}

TEST_F(Plans, WaitForPredecessorsAndLetSuccessorsGo) {
    int mine = 0;
    int theirs = 0;
    plan exchange{ring(theirs, mine)};
    commtask_t last = COMMTASK_NULL;
    for (int i = 0; i < 10; ++i) {
        mine = i;
        event gate;
        options how;
        commtask_t run_task = exchange.start(how.on({gate.get()}).get());
        options after_run;
        last = post(commtask_op_noop(comm_), after_run.after({run_task}).get());
        EXPECT_EQ(commtask_plan_parrived(exchange.get(), 0, COMMTASK_ALL_PARTITIONS), 0);
        gate.signal();
        EXPECT_EQ(finish(last), COMMTASK_OK);
        EXPECT_EQ(theirs, i);
        EXPECT_EQ(finish(run_task), COMMTASK_OK);
    }
    commtask_t failing = post(commtask_op_call([](void*) -> int { return MPI_ERR_OTHER; }, nullptr, comm_));
    options how;
    commtask_t run_task = exchange.start(how.after({failing}).get());
    EXPECT_EQ(finish(run_task), COMMTASK_CANCELED);
    EXPECT_EQ(finish(failing), COMMTASK_FAILED);
    run(commtask_op_barrier(comm_));
    exchange.run();
}

} // namespace
} // namespace commtask::test
