// SPDX-License-Identifier: Apache-2.0
//
// The guard that names a callback which holds the worker up, and what turns it off. How long a callback runs is its own
// loop over the clock, so no test depends on the machine's speed.
#include "runtime_test.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace commtask::test {
namespace {

class SlowCallback : public Runtime {
protected:
    [[nodiscard]] commtask_config configuration() const override {
        commtask_config config = COMMTASK_CONFIG_INIT;
        config.callback_limit_us = 1000;
        return config;
    }
    /// What is printed while as many tasks end one after the other, each with a callback of 20 ms.
    [[nodiscard]] std::string printed_by_slow_callbacks(int n_tasks) {
        std::atomic<int> n_done{0};
        options how;
        how.call(
            [](const commtask_status* /*status*/, void* count) {
                const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds{20};
                while (std::chrono::steady_clock::now() < end) {}
                ++*static_cast<std::atomic<int>*>(count);
            },
            &n_done);
        testing::internal::CaptureStderr();
        for (int i = 0; i < n_tasks; ++i) {
            commtask_t task = post(commtask_op_noop(comm_), how);
            EXPECT_EQ(finish(task), COMMTASK_OK);
        }
        while (n_done < n_tasks) std::this_thread::yield();
        run(commtask_op_noop(comm_)); // the guard of the last has looked at its clock
        return testing::internal::GetCapturedStderr();
    }
};

TEST_F(SlowCallback, IsNamed) {
    const std::string printed = printed_by_slow_callbacks(1);
    EXPECT_NE(printed.find("callback"), std::string::npos) << printed;
    EXPECT_NE(printed.find("noop"), std::string::npos) << printed;
}

TEST_F(SlowCallback, OfALayerAboveIsNotNamed) {
    std::atomic<bool> has_run{false};
    options how;
    how.flags(COMMTASK_CALLBACK_RELAYS)
        .call(
            [](const commtask_status* /*status*/, void* flag) {
                const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds{20};
                while (std::chrono::steady_clock::now() < end) {}
                static_cast<std::atomic<bool>*>(flag)->store(true);
            },
            &has_run);
    testing::internal::CaptureStderr();
    commtask_t task = post(commtask_op_noop(comm_), how);
    EXPECT_EQ(finish(task), COMMTASK_OK);
    run(commtask_op_noop(comm_));
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_TRUE(has_run);
}

TEST_F(SlowCallback, IsNamedNotMoreThanOnceInASecond) {
    const auto begin = std::chrono::steady_clock::now();
    const std::string printed = printed_by_slow_callbacks(5);
    const auto n_seconds = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
    const auto n_lines = std::count(printed.begin(), printed.end(), '\n');
    EXPECT_GE(n_lines, 1) << printed;
    EXPECT_LE(n_lines, 1 + n_seconds.count()) << printed;
}

class SilentAboutCallbacks : public SlowCallback {
protected:
    [[nodiscard]] commtask_config configuration() const override {
        commtask_config config = COMMTASK_CONFIG_INIT;
        config.callback_limit_us = COMMTASK_ZERO;
        return config;
    }
};

TEST_F(SilentAboutCallbacks, WithALimitOfZero) { EXPECT_EQ(printed_by_slow_callbacks(1), ""); }

} // namespace
} // namespace commtask::test
