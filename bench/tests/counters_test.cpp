// SPDX-License-Identifier: Apache-2.0
//
// The counters behind "no system call, no allocation". They are tested for counting, since a counter that never
// counts would prove anything.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include "harness/allocation_count.h"
#include "harness/syscall_count.h"

namespace commtask::bench {
namespace {

/// The compiler may leave out a new and its delete; not one whose pointer it has lost sight of.
void allocate_and_free() {
    const std::unique_ptr<int[]> memory(new int[100]);
    int* escaped = memory.get();
    __asm__ volatile("" : "+r"(escaped) : : "memory");
}

TEST(AllocationCount, SeesNewAndDeleteOfThisThreadOnly) {
    const std::uint64_t before = allocation_calls_of_this_thread();
    allocate_and_free();
    const std::uint64_t after = allocation_calls_of_this_thread();
    EXPECT_EQ(after - before, 2U);

    std::uint64_t of_the_other = 0;
    std::thread other([&] {
        const std::uint64_t start = allocation_calls_of_this_thread();
        for (int i = 0; i < 1000; ++i) {
            allocate_and_free();
        }
        of_the_other = allocation_calls_of_this_thread() - start;
    });
    const std::uint64_t start = allocation_calls_of_this_thread();
    other.join();
    const std::uint64_t end = allocation_calls_of_this_thread();
    EXPECT_EQ(of_the_other, 2000U);
    EXPECT_LE(end - start, 10U) << "join() may free what belongs to the thread, and no more";
}

TEST(SystemCallCount, CountsEachCallAndStillMakesIt) {
    std::string why_not;
    std::uint64_t n_of_nothing = 0;
    std::uint64_t n_of_three = 0;
    pid_t seen = 0;
    int last = 0;
    std::thread watched([&] {
        why_not = watch_system_calls_of_this_thread();
        const std::uint64_t start = system_calls_seen();
        n_of_nothing = system_calls_seen() - start;
        for (int i = 0; i < 3; ++i) {
            seen = static_cast<pid_t>(syscall(SYS_getppid));
        }
        n_of_three = system_calls_seen() - start;
        last = last_system_call_seen();
    });
    watched.join();
    if (!why_not.empty()) {
        GTEST_SKIP() << why_not;
    }
    EXPECT_EQ(n_of_nothing, 0U);
    EXPECT_EQ(n_of_three, 3U);
    EXPECT_EQ(seen, getppid());
    EXPECT_EQ(last, SYS_getppid);
}

} // namespace
} // namespace commtask::bench
