// SPDX-License-Identifier: Apache-2.0
//
// mpi.progress: an issued operation progresses with no thread inside the library. The compute thread does not call
// commtask or MPI while a message far beyond the eager limit crosses, nor while a chain of dependent tasks runs; it
// learns of the end by an atomic that a callback sets.
#include "runtime_test.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace commtask::test {
namespace {

class Progress : public Runtime {
protected:
    /// Computes until `count` tasks have ended, without a call to anyone.
    static void compute_until(const std::atomic<int>& n_ended, int count) {
        const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds{30};
        std::uint64_t x = 1;
        while (n_ended.load() < count) {
            for (int i = 0; i < 10'000; ++i) x = x * 6364136223846793005U + 1442695040888963407U;
            work_ = x;
            ASSERT_LT(std::chrono::steady_clock::now(), give_up) << "nothing moves without a thread in the library";
        }
    }
    options counted(std::atomic<int>& n_ended) {
        options how;
        how.call([](const commtask_status* /*status*/, void* n) { static_cast<std::atomic<int>*>(n)->fetch_add(1); },
                 &n_ended);
        return how;
    }
    inline static volatile std::uint64_t work_ = 0;
};

TEST_F(Progress, ALargeMessageCrossesWhileTheComputeThreadComputes) {
    const int count = 8'000'000; // 32 MB: by rendezvous in every MPI
    const std::vector<int> sent = values_of(rank_, count);
    std::vector<int> received(static_cast<std::size_t>(count), -1);
    std::atomic<int> n_ended{0};
    options how = counted(n_ended);
    commtask_t receive = post(commtask_op_recv(received.data(), count, MPI_INT, left(), 0, comm_), how);
    commtask_t send = post(commtask_op_send(sent.data(), count, MPI_INT, right(), 0, comm_), how);
    compute_until(n_ended, 2);
    int ended = 0;
    EXPECT_EQ(commtask_test(&receive, &ended, nullptr), COMMTASK_OK);
    EXPECT_EQ(ended, 1);
    EXPECT_EQ(commtask_test(&send, &ended, nullptr), COMMTASK_OK);
    EXPECT_EQ(ended, 1);
    EXPECT_EQ(received, values_of(left(), count));
}

TEST_F(Progress, AChainOfTasksRunsToItsEndOnItsOwn) {
    // A token goes round the ring ten times; each rank forwards it by a task that waits for its receive.
    constexpr int n_rounds = 10;
    int token = rank_ == 0 ? 1000 : -1;
    std::atomic<int> n_ended{0};
    options how = counted(n_ended);
    std::vector<commtask_t> tasks;
    commtask_t before = COMMTASK_NULL;
    for (int round = 0; round < n_rounds; ++round) {
        const commtask_op send = commtask_op_send(&token, 1, MPI_INT, right(), round, comm_);
        const commtask_op receive = commtask_op_recv(&token, 1, MPI_INT, left(), round, comm_);
        const bool sends_first = rank_ == 0 && n_ranks_ > 1;
        if (n_ranks_ == 1) {
            tasks.push_back(
                post(commtask_op_sendrecv_replace(&token, 1, MPI_INT, 0, round, 0, round, comm_), how.after({before})));
            before = tasks.back();
            tasks.push_back(post(commtask_op_noop(comm_), how.after({before})));
        } else {
            tasks.push_back(post(sends_first ? send : receive, how.after({before})));
            before = tasks.back();
            tasks.push_back(post(sends_first ? receive : send, how.after({before})));
        }
        before = tasks.back();
    }
    compute_until(n_ended, 2 * n_rounds);
    EXPECT_EQ(token, 1000);
    EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
}

TEST_F(Progress, ACollectiveEndsWhileEveryRankComputes) {
    const int count = 500'000;
    std::vector<int> buffer = values_of(rank_, count);
    std::atomic<int> n_ended{0};
    options how = counted(n_ended);
    commtask_t task = post(commtask_op_allreduce(MPI_IN_PLACE, buffer.data(), count, MPI_INT, MPI_MAX, comm_), how);
    compute_until(n_ended, 1);
    EXPECT_EQ(finish(task), COMMTASK_OK);
    EXPECT_EQ(buffer, values_of(last(), count));
}

} // namespace
} // namespace commtask::test
