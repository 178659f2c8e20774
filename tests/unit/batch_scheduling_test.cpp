// SPDX-License-Identifier: Apache-2.0
//
// While a thread sleeps so that its waker keeps the processor, the system says so of it; afterwards, and for a thread whose user
// chose another policy, all is as before.
#include "base/system.hpp"

#include <gtest/gtest.h>

#include <sched.h>

#include <thread>

namespace commtask::detail {
namespace {

/// Of the calling thread, before, in and after a scope.
struct policies {
    int before = -1;
    int within = -1;
    int after = -1;
};

[[nodiscard]] policies seen_with(int chosen) {
    policies seen;
    std::thread{[&] {
        const sched_param none{};
        if (sched_setscheduler(0, chosen, &none) != 0) return;
        request_short_time_slices();
        seen.before = sched_getscheduler(0);
        {
            const batch_scheduling scope;
            seen.within = sched_getscheduler(0);
        }
        seen.after = sched_getscheduler(0);
    }}.join();
    return seen;
}

TEST(GentleWaking, IsInForceForItsScopeAlone) {
    const policies seen = seen_with(SCHED_OTHER);
    EXPECT_EQ(seen.before, SCHED_OTHER);
    EXPECT_EQ(seen.within, SCHED_BATCH);
    EXPECT_EQ(seen.after, SCHED_OTHER);
}

TEST(GentleWaking, KeepsAPolicyThatTheUserChose) {
    const policies seen = seen_with(SCHED_IDLE);
    if (seen.before < 0) GTEST_SKIP() << "this system lets no thread choose";
    EXPECT_EQ(seen.within, SCHED_IDLE);
    EXPECT_EQ(seen.after, SCHED_IDLE);
}

} // namespace
} // namespace commtask::detail
