// SPDX-License-Identifier: Apache-2.0
//
// A window's thread, with a function of the test's in MPI's place: drivers know of it as long as it waits for other processes, so
// that they leave it MPI's lock, and no longer; nor when it never comes back.
#include "mpi/blocking_lane.hpp"

#include "fake_transport.hpp"
#include "mpi/errors.hpp"
#include "mpi/one_sided.hpp"

#include <commtask/commtask.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace commtask::detail {

namespace {
std::atomic<bool> is_inside{false};
std::atomic<bool> may_leave{false};
} // namespace

/// In the place of MPI's functions.
int call_one_sided(const commtask_op& /*op*/) noexcept {
    is_inside = true;
    is_inside.notify_all();
    may_leave.wait(false);
    is_inside = false;
    is_inside.notify_all();
    return MPI_SUCCESS;
}

errors_return::errors_return() noexcept : outer_(MPI_SUCCESS) {}
errors_return::~errors_return() = default;
int errors_return::code_of(int code) const noexcept { return code == MPI_SUCCESS ? outer_ : code; }

namespace testing {
namespace {

class BlockingLane : public ::testing::Test {
protected:
    void SetUp() override { may_leave = is_inside = false; }

    /// Starts it, and waits until it is in MPI.
    task& start(const commtask_op& op) {
        task& which = bench_.make();
        which.op = op;
        thread_->start(which);
        is_inside.wait(false);
        return which;
    }
    void let_it_leave() {
        may_leave = true;
        may_leave.notify_all();
    }
    [[nodiscard]] task* wait_for_end() {
        for (;;) {
            if (task* const ended = thread_->take_ended()) return ended;
            std::this_thread::yield();
        }
    }

    lanes_bench<2> lanes_;
    lane_bench bench_;
    std::unique_ptr<blocking_lane> thread_ = std::make_unique<blocking_lane>(lanes_.lanes(), [] {});
};

TEST_F(BlockingLane, IsKnownToAllDriversWhileItWaitsForOthers) {
    task& fence = start(commtask_op_win_fence(0, MPI_WIN_NULL));
    for (const lane& each : lanes_.lanes()) EXPECT_TRUE(each.engine.lock.has_blocked_outside());
    let_it_leave();
    EXPECT_EQ(wait_for_end(), &fence);
    for (const lane& each : lanes_.lanes()) EXPECT_FALSE(each.engine.lock.has_blocked_outside());
}

TEST_F(BlockingLane, IsKnownWhileSomethingThatBlocksWaitsForItsTurn) {
    static const int value = 0;
    const auto is_known = [this] {
        for (const lane& each : lanes_.lanes())
            EXPECT_EQ(each.engine.lock.has_blocked_outside(), lanes_.lanes()[0].engine.lock.has_blocked_outside());
        return lanes_.lanes()[0].engine.lock.has_blocked_outside();
    };
    start(commtask_op_put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_WIN_NULL));
    task& forgotten = bench_.make();
    forgotten.op = commtask_op_win_fence(0, MPI_WIN_NULL);
    thread_->start(forgotten);
    EXPECT_TRUE(is_known()) << "before MPI has it";
    EXPECT_TRUE(thread_->forget(forgotten));
    EXPECT_FALSE(is_known());
    task& lost = bench_.make();
    lost.op = forgotten.op;
    thread_->start(lost);
    EXPECT_TRUE(is_known());
    thread_->window_was_freed();
    EXPECT_FALSE(is_known());
    let_it_leave();
}

TEST_F(BlockingLane, HoldsNoDriverUpForWhatWaitsForNobody) {
    static const int value = 0;
    task& put = start(commtask_op_put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_WIN_NULL));
    for (const lane& each : lanes_.lanes()) EXPECT_FALSE(each.engine.lock.has_blocked_outside());
    let_it_leave();
    EXPECT_EQ(wait_for_end(), &put);
}

TEST_F(BlockingLane, IsForgottenByTheDriversWhenItIsLeftAlone) {
    task& fence = start(commtask_op_win_fence(0, MPI_WIN_NULL));
    EXPECT_TRUE(thread_->forget(fence));
    thread_.reset();
    for (const lane& each : lanes_.lanes()) EXPECT_FALSE(each.engine.lock.has_blocked_outside());
    let_it_leave(); // it touches nothing of the lanes any more
    is_inside.wait(true);
}

TEST_F(BlockingLane, EndsAllThatItHasWhenItsWindowIsGone) {
    task& fence = start(commtask_op_win_fence(0, MPI_WIN_NULL));
    task& waiting = bench_.make();
    waiting.op = fence.op;
    thread_->start(waiting);
    thread_->window_was_freed();
    task& late = bench_.make();
    late.op = fence.op;
    thread_->start(late);
    for (task* const each : {&fence, &waiting, &late}) {
        EXPECT_EQ(thread_->take_ended(), each);
        EXPECT_EQ(each->result.error, MPI_ERR_WIN);
    }
    EXPECT_EQ(thread_->take_ended(), nullptr);
    let_it_leave(); // MPI gives the fence back, which was reported
    is_inside.wait(true);
    thread_.reset();
}

} // namespace
} // namespace testing
} // namespace commtask::detail
