// SPDX-License-Identifier: Apache-2.0
//
// While a thread sleeps so that its waker keeps the processor, the system says so of it; afterwards, and for a thread whose user
// chose another policy, all is as before. Short turns are asked for, and given up.
#include "base/system.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
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
        prefer_short_turns(true);
        seen.before = sched_getscheduler(0);
        {
            const gentle_waking scope;
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

/// The length of the calling thread's turns; 0 from a kernel that does not say (before Linux 6.12).
[[nodiscard]] std::uint64_t turn_ns() {
    struct {
        std::uint32_t size, policy;
        std::uint64_t flags;
        std::int32_t nice;
        std::uint32_t priority;
        std::uint64_t runtime_ns, deadline_ns, period_ns;
    } mine{};
    return syscall(SYS_sched_getattr, 0, &mine, sizeof mine, 0) == 0 ? mine.runtime_ns : 0;
}

TEST(ShortTurns, AreGivenUpAgain) {
    std::uint64_t before = 0;
    std::uint64_t within = 0;
    std::uint64_t after = 0;
    std::thread{[&] {
        before = turn_ns();
        prefer_short_turns(true);
        within = turn_ns();
        prefer_short_turns(false);
        after = turn_ns();
    }}.join();
    if (before == 0) GTEST_SKIP() << "this kernel knows no turns of a thread's own";
    EXPECT_LT(within, before);
    EXPECT_EQ(after, before);
}

} // namespace
} // namespace commtask::detail
