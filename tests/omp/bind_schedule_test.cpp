// SPDX-License-Identifier: Apache-2.0
//
// What OpenMP decides about tasks, of held ones too: in which order their bodies run, and which of them a cancellation leaves out.
// The library must not change the first, and whoever waits for a cancelled construct must wait for what its tasks have started.
#include "bind_fixture.hpp"

#include <algorithm>
#include <functional>
#include <thread>
#include <vector>

namespace {

// Thread 0 alone runs tasks, and only when all of them are there: the others have no point at which they could.
TEST_F(Hold, BodiesOfHeldTasksRunInTheOrderOfTheirPriorities) {
    constexpr int n = 8;
    if (omp_get_max_task_priority() < n - 1) GTEST_SKIP() << "needs OMP_MAX_TASK_PRIORITY";
    int in[n] = {};
    int out[n] = {};
    std::vector<int> order;
    std::atomic<bool> are_done = false;
    bool is_alone = false;
#pragma omp parallel shared(in, out, order, are_done, is_alone)
    {
        if (omp_get_thread_num() == 0) {
            is_alone = omp_get_num_threads() == 1;
            for (int i = 0; i < n; ++i) {
#pragma omp task priority(i) shared(in, out, order) firstprivate(i)
                {
                    order.push_back(i);
                    out[i] = i;
                    exchange(&in[i], &out[i], i);
                }
            }
#pragma omp taskwait
            are_done = true;
        }
        while (!are_done) std::this_thread::yield();
    }
    for (int i = 0; i < n; ++i) EXPECT_EQ(in[i], i);
    EXPECT_EQ(order.size(), std::size_t{n});
    if (is_alone) return; // there libomp runs a task when it is created
    EXPECT_TRUE(std::ranges::is_sorted(order, std::greater{})) << testing::PrintToString(order);
}

TEST_F(Hold, TheEndOfACancelledGroupWaitsForWhatHadBegun) {
    if (omp_get_cancellation() == 0) GTEST_SKIP() << "needs OMP_CANCELLATION=true";
    int sent = 3;
    int got = 0;
    std::atomic<bool> is_cancelled = false;
    std::atomic<int> n_run = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp task shared(got, is_cancelled)
            {
                commtask_omp_bind(recv_from_myself(&got, 4));
                is_cancelled = true;
#pragma omp cancel taskgroup
            }
            while (!is_cancelled) {
#pragma omp taskyield
            }
#pragma omp task depend(out : sent) shared(n_run)
            n_run.fetch_add(1);
            send_to_myself(&sent, 4);
        }
        EXPECT_EQ(got, 3);
    }
    EXPECT_LE(n_run, 1);
}

/// Who cancels, on thread 0: after a task has begun to receive, and before anybody sends, if there is another thread.
class cancelled_construct {
public:
    /// @param start_receive  void()
    template <typename Start>
    void begin(const Start& start_receive) {
#pragma omp task shared(start_receive)
        {
            start_receive();
            has_begun_ = true;
        }
        while (!has_begun_) {
#pragma omp taskyield
        }
#pragma omp task
        n_run_.fetch_add(1);
        is_cancelled_ = true;
    }
    void wait() const {
        while (!is_cancelled_) std::this_thread::yield();
        omp_test::compute(100'000); // so that thread 0 waits at the end, as a rule
    }
    [[nodiscard]] int n_run() const { return n_run_; }

private:
    std::atomic<bool> has_begun_ = false;
    std::atomic<bool> is_cancelled_ = false;
    std::atomic<int> n_run_ = 0;
};

#ifdef __clang__ // a region with tasks that gcc's code cancels hangs in libomp in larger teams, without this library too
TEST_F(Hold, TheEndOfACancelledRegionWaitsForWhatHadBegun) {
    if (omp_get_cancellation() == 0) GTEST_SKIP() << "needs OMP_CANCELLATION=true";
    int sent = 3;
    int got = 0;
    cancelled_construct cancelled;
#pragma omp parallel shared(sent, got, cancelled)
    {
        if (omp_get_thread_num() == 0) {
            cancelled.begin([&] { commtask_omp_bind(recv_from_myself(&got, 5)); });
            if (omp_get_num_threads() == 1) send_to_myself(&sent, 5);
#pragma omp cancel parallel
        }
        if (omp_get_thread_num() == 1) {
            cancelled.wait();
            send_to_myself(&sent, 5);
        }
#pragma omp barrier
    }
    EXPECT_EQ(got, 3);
    EXPECT_LE(cancelled.n_run(), 1);
}
#endif

TEST_F(Hold, TheEndOfACancelledLoopWaitsForWhatHadBegun) {
    if (omp_get_cancellation() == 0) GTEST_SKIP() << "needs OMP_CANCELLATION=true";
    int sent = 3;
    int got = 0;
    cancelled_construct cancelled;
#pragma omp parallel shared(sent, got, cancelled)
    {
#pragma omp for schedule(static, 1)
        for (int i = 0; i < omp_get_num_threads(); ++i) {
            if (i == 0) {
                cancelled.begin([&] { commtask_omp_bind(recv_from_myself(&got, 6)); });
                if (omp_get_num_threads() == 1) send_to_myself(&sent, 6);
#pragma omp cancel for
            }
            if (i == 1) {
                cancelled.wait();
                send_to_myself(&sent, 6);
            }
        }
        EXPECT_EQ(got, 3);
    }
    EXPECT_EQ(cancelled.n_run(), 1); // the loop's iterations are cancelled, not the tasks that they created
}

} // namespace
