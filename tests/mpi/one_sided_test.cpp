// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.operations: one-sided operations as tasks, on a window that is registered; each does what MPI's does, waits for
// its predecessors, and is ordered where it is asked to be.
#include "one_sided_test.hpp"

#include <array>
#include <numeric>
#include <thread>

namespace commtask::test {
namespace {

TEST_F(OneSided, APutIsThereAfterItsFlush) {
    const std::vector<int> written = values_of(rank_, 10);
    commtask_t putting = post(commtask_op_put(written.data(), 10, MPI_INT, right(), 3, 10, MPI_INT, window_));
    options how;
    commtask_t flushing = post(commtask_op_flush(right(), window_), how.after({putting}));
    EXPECT_EQ(finish(flushing), COMMTASK_OK);
    EXPECT_EQ(finish(putting), COMMTASK_OK);
    run(commtask_op_barrier(comm_));
    run(commtask_op_win_sync(window_));
    EXPECT_EQ(exposed_[2], -1);
    EXPECT_EQ(std::vector<int>(exposed_ + 3, exposed_ + 13), values_of(left(), 10));
    EXPECT_EQ(exposed_[13], -1);
}

TEST_F(OneSided, AGetReadsWhatIsThere) {
    const std::vector<int> mine = values_of(rank_, n_elements);
    std::copy(mine.begin(), mine.end(), exposed_);
    run(commtask_op_win_sync(window_));
    run(commtask_op_barrier(comm_));
    for (int target = 0; target < n_ranks_; ++target) {
        std::vector<int> read(7, -1);
        run(commtask_op_get(read.data(), 7, MPI_INT, target, 5, 7, MPI_INT, window_));
        for (int i = 0; i < 7; ++i) EXPECT_EQ(read[static_cast<std::size_t>(i)], value_of(target, 5 + i));
    }
    run(commtask_op_barrier(comm_));
}

TEST_F(OneSided, AStridedTargetIsWrittenInItsPlaces) {
    MPI_Datatype every_third = MPI_DATATYPE_NULL;
    const auto make = [](void* made) -> int {
        MPI_Type_vector(4, 1, 3, MPI_INT, static_cast<MPI_Datatype*>(made));
        return MPI_Type_commit(static_cast<MPI_Datatype*>(made));
    };
    run(commtask_op_call(+make, &every_third, comm_)); // the worker is in MPI as long as there is a window
    const std::vector<int> written = values_of(rank_, 4);
    run(commtask_op_put(written.data(), 4, MPI_INT, right(), 1, 1, every_third, window_));
    everybody_has_written();
    for (int i = 0; i < 12; ++i) EXPECT_EQ(exposed_[i], i % 3 == 1 ? value_of(left(), i / 3) : -1) << i;
    const auto free = [](void* made) -> int { return MPI_Type_free(static_cast<MPI_Datatype*>(made)); };
    run(commtask_op_call(+free, &every_third, comm_));
}

TEST_F(OneSided, EveryContributionIsAccumulatedOnce) {
    constexpr int n_rounds = 20;
    exposed_[0] = exposed_[1] = 0;
    run(commtask_op_win_sync(window_));
    run(commtask_op_barrier(comm_));
    const std::array<int, 2> mine{1, rank_};
    std::vector<commtask_t> tasks;
    for (int i = 0; i < n_rounds; ++i) {
        tasks.push_back(post(commtask_op_accumulate(mine.data(), 2, MPI_INT, 0, 0, 2, MPI_INT, MPI_SUM, window_)));
    }
    EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
    everybody_has_written();
    if (rank_ == 0) {
        EXPECT_EQ(exposed_[0], n_rounds * n_ranks_);
        EXPECT_EQ(exposed_[1], n_rounds * n_ranks_ * (n_ranks_ - 1) / 2);
    }
}

TEST_F(OneSided, GetAccumulateReadsWhatWasThereBefore) {
    std::copy_n(values_of(rank_, 4).begin(), 4, exposed_);
    run(commtask_op_win_sync(window_));
    run(commtask_op_barrier(comm_));
    const std::vector<int> added{1, 2, 3, 4};
    std::vector<int> before(4, -1);
    run(commtask_op_get_accumulate(added.data(), before.data(), 4, MPI_INT, right(), 0, 4, MPI_INT, MPI_SUM, window_));
    EXPECT_EQ(before, values_of(right(), 4));
    everybody_has_written();
    for (int i = 0; i < 4; ++i) EXPECT_EQ(exposed_[i], value_of(rank_, i) + i + 1);
}

TEST_F(OneSided, FetchAndOpGivesEveryTicketOnce) {
    constexpr int n_rounds = 10;
    exposed_[0] = 0;
    run(commtask_op_win_sync(window_));
    run(commtask_op_barrier(comm_));
    const int one = 1;
    std::vector<int> tickets(n_rounds, -1);
    for (int& each : tickets) {
        run(commtask_op_fetch_and_op(&one, &each, MPI_INT, last(), 0, MPI_SUM, window_));
    }
    std::vector<int> all(static_cast<std::size_t>(n_rounds * n_ranks_));
    run(commtask_op_allgather(tickets.data(), n_rounds, MPI_INT, all.data(), n_rounds, MPI_INT, comm_));
    std::ranges::sort(all);
    std::vector<int> expected(all.size());
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(all, expected);
}

TEST_F(OneSided, CompareAndSwapHasOneWinner) {
    const int nobody = -1;
    int before = -2;
    run(commtask_op_compare_and_swap(&rank_, &nobody, &before, MPI_INT, 0, 4, window_));
    int has_won = before == nobody ? 1 : 0;
    int n_winners = 0;
    run(commtask_op_allreduce(&has_won, &n_winners, 1, MPI_INT, MPI_SUM, comm_));
    EXPECT_EQ(n_winners, 1);
    int winner = -1;
    run(commtask_op_get(&winner, 1, MPI_INT, 0, 4, 1, MPI_INT, window_));
    if (has_won == 1) EXPECT_EQ(winner, rank_);
    if (has_won == 0) EXPECT_EQ(winner, before);
    run(commtask_op_barrier(comm_));
}

TEST_F(OneSided, NobodyIsAGoodTarget) {
    const int value = 1;
    run(commtask_op_put(&value, 1, MPI_INT, MPI_PROC_NULL, 1'000'000, 1, MPI_INT, window_));
    run(commtask_op_flush(MPI_PROC_NULL, window_));
    run(commtask_op_put_notify(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, 0, window_));
}

TEST_F(OneSided, WhatANotificationAnnouncesIsThere) {
    constexpr int notification = 5;
    for (int round = 0; round < 20; ++round) {
        const std::vector<int> written = values_of(rank_, 100 + round);
        const int count = 100 + round;
        commtask_t putting = post(
            commtask_op_put_notify(written.data(), count, MPI_INT, right(), 0, count, MPI_INT, notification, window_));
        run(commtask_op_await_notify(notification, 1, left(), window_));
        EXPECT_EQ(std::vector<int>(exposed_, exposed_ + count), values_of(left(), count));
        EXPECT_EQ(finish(putting), COMMTASK_OK);
        run(commtask_op_barrier(comm_)); // nobody writes the next one before
    }
}

TEST_F(OneSided, NotificationsAreCountedAndToldApart) {
    const int value = rank_;
    std::vector<commtask_t> tasks;
    for (int target = 0; target < n_ranks_; ++target) {
        for (int i = 0; i < 3; ++i) {
            tasks.push_back(
                post(commtask_op_put_notify(&value, 1, MPI_INT, target, 10 + 3 * rank_ + i, 1, MPI_INT, 1, window_)));
        }
        tasks.push_back(post(commtask_op_put_notify(&value, 1, MPI_INT, target, 50 + rank_, 1, MPI_INT, 2, window_)));
    }
    run(commtask_op_await_notify(2, n_ranks_, MPI_ANY_SOURCE, window_));
    for (int from = 0; from < n_ranks_; ++from) EXPECT_EQ(exposed_[50 + from], from);
    run(commtask_op_await_notify(1, 3 * n_ranks_, MPI_ANY_SOURCE, window_));
    for (int from = 0; from < n_ranks_; ++from) EXPECT_EQ(exposed_[12 + 3 * from], from);
    commtask_t none_left = post(commtask_op_await_notify(1, 2, MPI_ANY_SOURCE, window_));
    EXPECT_EQ(commtask_wait_for(&none_left, second_ns / 100, nullptr), COMMTASK_TIMEOUT);
    EXPECT_EQ(commtask_cancel(none_left), COMMTASK_OK);
    EXPECT_EQ(finish(none_left), COMMTASK_CANCELED);
    EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
}

TEST_F(OneSided, NotificationsThatNobodyAwaitsAreCountedLater) {
    if (n_ranks_ == 1) GTEST_SKIP() << "MPICH ends a message to oneself when it is received";
    constexpr int n_notifications = 10'000;
    constexpr int n_at_once = 500;
    constexpr int notification = 4;
    int value = 0;
    if (rank_ == 0) {
        std::vector<commtask_t> tasks;
        for (int i = 0; i < n_notifications; ++i) { // a get needs no answer of its notification
            tasks.push_back(
                post(commtask_op_get_notify(&value, 0, MPI_INT, last(), 0, 0, MPI_INT, notification, window_)));
            if (tasks.size() < n_at_once) continue;
            EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
            tasks.clear();
        }
    }
    run(commtask_op_barrier(comm_));
    if (rank_ != last()) return;
    run(commtask_op_await_notify(notification, n_notifications, 0, window_));
    commtask_t none_left = post(commtask_op_await_notify(notification, 1, MPI_ANY_SOURCE, window_));
    run(commtask_op_win_sync(window_));
    int has_ended = 0;
    EXPECT_EQ(commtask_test(&none_left, &has_ended, nullptr), COMMTASK_OK);
    EXPECT_EQ(has_ended, 0);
    EXPECT_EQ(commtask_cancel(none_left), COMMTASK_OK);
    EXPECT_EQ(finish(none_left), COMMTASK_CANCELED);
}

TEST_F(OneSided, GetNotifyLetsTheTargetWriteAgain) {
    for (int round = 0; round < 10; ++round) {
        std::copy_n(values_of(rank_, 50 + round).begin(), 50, exposed_);
        exposed_[50] = round;
        run(commtask_op_win_sync(window_));
        run(commtask_op_barrier(comm_));
        std::vector<int> read(51, -1);
        commtask_t reading =
            post(commtask_op_get_notify(read.data(), 51, MPI_INT, right(), 0, 51, MPI_INT, 3, window_));
        run(commtask_op_await_notify(3, 1, left(), window_));
        std::fill_n(exposed_, 51, -7); // left has read: this is not seen there
        EXPECT_EQ(finish(reading), COMMTASK_OK);
        EXPECT_EQ(read[50], round);
        run(commtask_op_barrier(comm_));
    }
}

TEST_F(OneSided, ASuccessorAtTheTargetStartsWhenTheDataAreThere) {
    // A value goes round the ring through the windows; no rank waits for it on the way.
    const int first = 41;
    int sum = -1;
    options how;
    commtask_t came = post(commtask_op_await_notify(9, 1, left(), window_));
    commtask_t forwarded = COMMTASK_NULL;
    if (rank_ == 0) {
        run(commtask_op_put_notify(&first, 1, MPI_INT, right(), 0, 1, MPI_INT, 9, window_));
    } else {
        forwarded =
            post(commtask_op_put_notify(exposed_, 1, MPI_INT, right(), 0, 1, MPI_INT, 9, window_), how.after({came}));
    }
    EXPECT_EQ(finish(came), COMMTASK_OK);
    EXPECT_EQ(exposed_[0], first);
    if (forwarded != COMMTASK_NULL) EXPECT_EQ(finish(forwarded), COMMTASK_OK);
    run(commtask_op_allreduce(exposed_, &sum, 1, MPI_INT, MPI_SUM, comm_));
    EXPECT_EQ(sum, n_ranks_ * first);
}

TEST_F(OneSided, OrderedTasksKeepTheirPlace) {
    // The second put may only start after the first, which waits for an event.
    const int first = 1;
    const int second = 2;
    event go;
    options waits;
    options follows;
    commtask_t one = post(commtask_op_put(&first, 1, MPI_INT, right(), 0, 1, MPI_INT, window_),
                          waits.on({go.get()}).flags(COMMTASK_ORDERED));
    commtask_t flushing = post(commtask_op_flush(right(), window_), follows.flags(COMMTASK_ORDERED));
    commtask_t two =
        post(commtask_op_put(&second, 1, MPI_INT, right(), 0, 1, MPI_INT, window_), follows.flags(COMMTASK_ORDERED));
    EXPECT_EQ(commtask_wait_for(&two, second_ns / 100, nullptr), COMMTASK_TIMEOUT);
    go.signal();
    EXPECT_EQ(finish(two), COMMTASK_OK);
    EXPECT_EQ(finish(flushing), COMMTASK_OK);
    EXPECT_EQ(finish(one), COMMTASK_OK);
    everybody_has_written();
    EXPECT_EQ(exposed_[0], second);
}

TEST_F(OneSided, PartsOfAnySizeAreWrittenToTheirEnds) {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "MPI is asked beside the worker, which attends another window";
    constexpr int n_own = 5; // 20 bytes
    int* part = nullptr;
    MPI_Win odd = MPI_WIN_NULL;
    ASSERT_EQ(MPI_Win_allocate(n_own * sizeof(int), sizeof(int), MPI_INFO_NULL, comm_, static_cast<void*>(&part), &odd),
              MPI_SUCCESS);
    std::fill_n(part, n_own, -1);
    MPI_Win_fence(0, odd);
    MPI_Put(&rank_, 1, MPI_INT, right(), n_own - 1, 1, MPI_INT, odd);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, odd);
    int is_right = part[n_own - 1] == left() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &is_right, 1, MPI_INT, MPI_MIN, comm_);
    if (is_right != 0) {
        ASSERT_EQ(commtask_win_register(odd, comm_), COMMTASK_OK) << commtask_last_error();
        const int value = value_of(rank_, 1);
        run(commtask_op_put(&value, 1, MPI_INT, right(), n_own - 1, 1, MPI_INT, odd));
        EXPECT_EQ(commtask_win_unregister(odd), COMMTASK_OK) << commtask_last_error();
        EXPECT_EQ(part[n_own - 1], value_of(left(), 1));
    }
    EXPECT_EQ(MPI_Win_free(&odd), MPI_SUCCESS);
    if (is_right == 0)
        GTEST_SKIP() << "this MPI puts beside parts of an allocated window that are no multiple of 16 bytes";
}

TEST_F(OneSided, ATicketIsGoodForAWindowAndCanBeDropped) {
    const int value = 7;
    const commtask_op put = commtask_op_put(&value, 1, MPI_INT, right(), 0, 1, MPI_INT, window_);
    commtask_ticket unused{};
    commtask_ticket used{};
    ASSERT_EQ(commtask_ticket_take(&put, &unused), COMMTASK_OK) << commtask_last_error();
    ASSERT_EQ(commtask_ticket_take(&put, &used), COMMTASK_OK) << commtask_last_error();
    options how;
    commtask_t putting = post(put, how.at(used));
    EXPECT_EQ(commtask_wait_for(&putting, second_ns / 100, nullptr), COMMTASK_TIMEOUT);
    EXPECT_EQ(commtask_ticket_drop(put.comm, unused), COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(finish(putting), COMMTASK_OK);
    everybody_has_written();
    EXPECT_EQ(exposed_[0], value);
}

TEST_F(OneSided, APlanRepeatsThem) {
    int value = 0;
    commtask_plan_t plan = COMMTASK_PLAN_NULL;
    ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
    EXPECT_EQ(
        commtask_post(commtask_op_put_notify(&value, 1, MPI_INT, right(), 0, 1, MPI_INT, 4, window_), nullptr, nullptr),
        COMMTASK_OK)
        << commtask_last_error();
    EXPECT_EQ(commtask_post(commtask_op_await_notify(4, 1, left(), window_), nullptr, nullptr), COMMTASK_OK);
    ASSERT_EQ(commtask_record_end(&plan), COMMTASK_OK) << commtask_last_error();
    for (int round = 0; round < 5; ++round) {
        value = value_of(rank_, round);
        run(commtask_op_plan(plan));
        run(commtask_op_win_sync(window_));
        EXPECT_EQ(exposed_[0], value_of(left(), round));
        run(commtask_op_barrier(comm_));
    }
    EXPECT_EQ(commtask_plan_release(&plan), COMMTASK_OK);
}

TEST_F(OneSided, ADynamicWindowIsWrittenByAddress) {
    ASSERT_EQ(commtask_win_unregister(window_), COMMTASK_OK); // while it is there only tasks may call MPI
    is_registered_ = false;
    MPI_Win dynamic = MPI_WIN_NULL;
    MPI_Errhandler before = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(comm_, &before);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    const int code = MPI_Win_create_dynamic(MPI_INFO_NULL, comm_, &dynamic);
    MPI_Comm_set_errhandler(comm_, before);
    if (before != MPI_ERRORS_ARE_FATAL && before != MPI_ERRORS_RETURN) MPI_Errhandler_free(&before);
    if (code != MPI_SUCCESS) GTEST_SKIP() << "this MPI refuses dynamic windows here";
    std::vector<int> memory(n_elements, -1);
    MPI_Aint mine = 0;
    MPI_Win_attach(dynamic, memory.data(), n_elements * sizeof(int));
    MPI_Get_address(&memory[3], &mine);
    std::vector<MPI_Aint> all(static_cast<std::size_t>(n_ranks_));
    run(commtask_op_allgather(&mine, 1, MPI_AINT, all.data(), 1, MPI_AINT, comm_));
    ASSERT_EQ(commtask_win_register(dynamic, comm_), COMMTASK_OK) << commtask_last_error();
    run(commtask_op_put(&rank_, 1, MPI_INT, right(), all[static_cast<std::size_t>(right())], 1, MPI_INT, dynamic));
    run(commtask_op_flush(right(), dynamic));
    run(commtask_op_barrier(comm_));
    run(commtask_op_win_sync(dynamic));
    EXPECT_EQ(memory[3], left());
    EXPECT_EQ(commtask_win_unregister(dynamic), COMMTASK_OK) << commtask_last_error();
    MPI_Win_detach(dynamic, memory.data());
    MPI_Win_free(&dynamic);
}

TEST_F(OneSided, ASharedWindowIsWrittenLikeAnyOther) {
    ASSERT_EQ(commtask_win_unregister(window_), COMMTASK_OK); // while it is there only tasks may call MPI
    is_registered_ = false;
    MPI_Win shared = MPI_WIN_NULL;
    int* memory = nullptr;
    ASSERT_EQ(MPI_Win_allocate_shared(n_elements * sizeof(int), sizeof(int), MPI_INFO_NULL, comm_,
                                      static_cast<void*>(&memory), &shared),
              MPI_SUCCESS); // all ranks of a test are on one node
    ASSERT_EQ(commtask_win_register(shared, comm_), COMMTASK_OK) << commtask_last_error();
    run(commtask_op_put(&rank_, 1, MPI_INT, right(), 3, 1, MPI_INT, shared));
    run(commtask_op_flush(right(), shared));
    run(commtask_op_barrier(comm_));
    run(commtask_op_win_sync(shared));
    EXPECT_EQ(memory[3], left());
    EXPECT_EQ(commtask_win_unregister(shared), COMMTASK_OK) << commtask_last_error();
    MPI_Win_free(&shared);
}

TEST_F(OneSided, AWindowIsRegisteredAgainAndAgain) {
    for (int round = 0; round < 5; ++round) {
        ASSERT_EQ(commtask_win_unregister(window_), COMMTASK_OK) << commtask_last_error();
        ASSERT_EQ(commtask_win_register(window_, comm_), COMMTASK_OK) << commtask_last_error();
        run(commtask_op_put(&round, 1, MPI_INT, right(), 0, 1, MPI_INT, window_));
        everybody_has_written();
        EXPECT_EQ(exposed_[0], round);
        run(commtask_op_barrier(comm_));
    }
}

} // namespace
} // namespace commtask::test
