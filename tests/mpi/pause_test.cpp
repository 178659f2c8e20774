// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.pause: commtask_pause and commtask_resume on real ranks, by call and by signal. That the worker leaves is
// tested without MPI, in unit.pause; here that communication goes on all the same.
#include "patience.hpp"
#include "runtime_test.hpp"

#include <commtask/commtask.hpp>

#include <atomic>
#include <csignal>
#include <cstdlib>

namespace {

std::atomic<int> n_lent{0};
std::atomic<int> n_reclaimed{0};

} // namespace

// What the library DLB has: this program stands in for it.
extern "C" {
[[gnu::visibility("default")]] int DLB_LendCpu(int cpu);
[[gnu::visibility("default")]] int DLB_ReclaimCpu(int cpu);
}
int DLB_LendCpu(int /*cpu*/) { return n_lent.fetch_add(1) * 0; }
int DLB_ReclaimCpu(int /*cpu*/) { return n_reclaimed.fetch_add(1) * 0; }

namespace commtask::test {
namespace {

using detail::testing::comes_true;

class PauseOnRanks : public Runtime {
protected:
    /// Every rank with its neighbours on a ring.
    void exchange(int n_elements) {
        const std::vector<int> sent = values_of(rank_, n_elements);
        std::vector<int> received(sent.size());
        commtask_t tasks[] = {post(commtask_op_recv(received.data(), n_elements, MPI_INT, left(), 1, comm_)),
                              post(commtask_op_send(sent.data(), n_elements, MPI_INT, right(), 1, comm_))};
        for (commtask_t& each : tasks) EXPECT_EQ(finish(each), COMMTASK_OK);
        EXPECT_EQ(received, values_of(left(), n_elements));
    }
};

TEST_F(PauseOnRanks, IsCountedAndASuperfluousResumeIsRefused) {
    EXPECT_EQ(commtask_resume(), COMMTASK_ERR_ARGUMENT);
    EXPECT_NE(std::string{commtask_last_error()}.find("commtask_pause"), std::string::npos);
    EXPECT_EQ(commtask_pause(), COMMTASK_OK);
    {
        const pause_scope inner;
        EXPECT_EQ(commtask_is_worker_shared(), 1) << "who waits drives";
    }
    EXPECT_EQ(commtask_is_worker_shared(), 1);
    EXPECT_EQ(commtask_resume(), COMMTASK_OK);
    EXPECT_EQ(commtask_resume(), COMMTASK_ERR_ARGUMENT);
}

TEST_F(PauseOnRanks, MessagesOfAllSizesAreCarriedMeanwhile) {
    const pause_scope paused;
    for (const int n_elements : {1, 1000, 1 << 18}) exchange(n_elements);
    int sum = 0;
    const int one = 1;
    run(commtask_op_allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm_));
    EXPECT_EQ(sum, n_ranks_);
}

TEST_F(PauseOnRanks, TasksOfAllLanesAreCarriedMeanwhile) {
    const pause_scope paused;
    const int sent = rank_;
    int received[] = {-1, -1}; // of MPI_COMM_WORLD, which lane 0 serves, then of a communicator of the last lane
    commtask_t tasks[4];
    std::size_t n = 0;
    for (MPI_Comm comm : {MPI_COMM_WORLD, comm_}) {
        tasks[n] = post(commtask_op_recv(&received[n / 2], 1, MPI_INT, left(), 3, comm));
        tasks[n + 1] = post(commtask_op_send(&sent, 1, MPI_INT, right(), 3, comm));
        n += 2;
    }
    for (commtask_t& each : tasks) EXPECT_EQ(finish(each), COMMTASK_OK);
    for (const int each : received) EXPECT_EQ(each, left());
}

TEST_F(PauseOnRanks, SomeRanksMayPauseAndOthersNot) {
    if (rank_ % 2 == 0) EXPECT_EQ(commtask_pause(), COMMTASK_OK);
    exchange(1 << 16);
    if (rank_ % 2 == 0) EXPECT_EQ(commtask_resume(), COMMTASK_OK);
    exchange(1 << 16);
}

TEST_F(PauseOnRanks, WhatNobodyWaitsForInTheLibraryEndsAllTheSame) {
    const pause_scope paused;
    std::atomic<int> n_ended{0};
    const auto count = [](const commtask_status*, void* of) { static_cast<std::atomic<int>*>(of)->fetch_add(1); };
    options counted;
    counted.call(+count, &n_ended);
    const int sent = rank_;
    int received = -1;
    commtask_t tasks[] = {post(commtask_op_recv(&received, 1, MPI_INT, left(), 2, comm_), counted),
                          post(commtask_op_send(&sent, 1, MPI_INT, right(), 2, comm_), counted)};
    EXPECT_TRUE(comes_true([&] { return n_ended == 2; }));
    EXPECT_EQ(received, left());
    for (commtask_t& each : tasks) EXPECT_EQ(finish(each), COMMTASK_OK);
}

TEST_F(PauseOnRanks, APausedRuntimeEndsClean) {
    EXPECT_EQ(commtask_pause(), COMMTASK_OK);
    exchange(100);
    post(commtask_op_noop(comm_)); // and TearDown() finalises
}

TEST_F(PauseOnRanks, TheCoresOfTheWorkersOwnAreLentThroughDlb) {
    commtask_info facts = COMMTASK_INIT_(commtask_info);
    ASSERT_EQ(commtask_get_info(&facts), COMMTASK_OK);
    for (MPI_Comm of_a_lane : {MPI_COMM_WORLD, comm_})
        run(commtask_op_noop(of_a_lane)); // a worker starts with its first task
    const int n_lent_before = n_lent;
    const int n_reclaimed_before = n_reclaimed;
    const int n = facts.worker_is_reserved != 0 ? static_cast<int>(facts.lanes) : 0;
    if (std::getenv("COMMTASK_IDLE") != nullptr && n == 0) GTEST_SKIP() << "no core for a reserved worker here";
    EXPECT_EQ(commtask_pause(), COMMTASK_OK);
    EXPECT_TRUE(comes_true([&] { return n_lent == n_lent_before + n; }));
    EXPECT_EQ(commtask_resume(), COMMTASK_OK);
    EXPECT_TRUE(comes_true([&] { return n_reclaimed == n_reclaimed_before + n; }));
}

// COMMTASK_PAUSE_SIGNAL=SIGUSR2, as this test is started.
TEST_F(PauseOnRanks, ASignalPausesAndTheNextOneResumes) {
    commtask_info facts = COMMTASK_INIT_(commtask_info);
    ASSERT_EQ(commtask_get_info(&facts), COMMTASK_OK);
    ASSERT_EQ(std::raise(SIGUSR2), 0);
    EXPECT_TRUE(comes_true([] { return commtask_is_worker_shared() == 1; }));
    exchange(1000);
    ASSERT_EQ(std::raise(SIGUSR2), 0);
    exchange(1000);
    EXPECT_TRUE(comes_true([&] { return (commtask_is_worker_shared() == 0) == (facts.worker_is_reserved != 0); }));
}

} // namespace
} // namespace commtask::test
