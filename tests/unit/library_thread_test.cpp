// SPDX-License-Identifier: Apache-2.0
//
// A thread of the library has the stack of the program's own thread, and takes no signal but those that it asks for: a function of the
// program that MPI calls there must not find less than where the program calls MPI itself.
#include "base/library_thread.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace commtask::detail {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20U;

template <typename Function>
void run_on(const library_thread::plan& as, Function&& function) {
    library_thread thread;
    thread.start(as, [&] { function(); });
    EXPECT_TRUE(thread.joinable());
    EXPECT_FALSE(thread.is_me());
    thread.join();
    EXPECT_FALSE(thread.joinable());
}

[[nodiscard]] std::size_t stack_of_this_thread() {
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    std::size_t bytes = 0;
    pthread_attr_getstacksize(&attributes, &bytes);
    pthread_attr_destroy(&attributes);
    return bytes;
}

TEST(LibraryThread, HasTheStackAndTheNameThatItWasGiven) {
    for (const std::size_t wanted : {16 * mib, 40 * mib}) {
        run_on({.name = "commtask-test", .stack_bytes = wanted}, [wanted] {
            EXPECT_GE(stack_of_this_thread(), wanted);
            std::string name(16, ' ');
            pthread_getname_np(pthread_self(), name.data(), name.size());
            EXPECT_STREQ(name.c_str(), "commtask-test");
            EXPECT_TRUE(library_thread::am_i());
        });
    }
    EXPECT_FALSE(library_thread::am_i());
}

TEST(LibraryThread, AStackThatTheSystemDoesNotGiveBecomesSmaller) {
    bool has_run = false;
    run_on({.name = "commtask-test", .stack_bytes = std::size_t{1} << 50U}, [&has_run] { has_run = true; });
    EXPECT_TRUE(has_run);
}

TEST(LibraryThread, TheStackIsTheLargestOfTheLimitTheSettingAndSixteenMebibytes) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_STACK, &before), 0);
    const auto with_limit = [&](rlim_t bytes, std::size_t asked) {
        rlimit changed{std::min(bytes, before.rlim_max), before.rlim_max};
        EXPECT_EQ(setrlimit(RLIMIT_STACK, &changed), 0);
        const std::size_t found = stack_for_functions_bytes(asked);
        EXPECT_EQ(setrlimit(RLIMIT_STACK, &before), 0);
        return found;
    };
    EXPECT_EQ(with_limit(8 * mib, 0), 16 * mib);
    EXPECT_EQ(with_limit(8 * mib, 100 * mib), 100 * mib);
    if (before.rlim_max != RLIM_INFINITY) return;
    EXPECT_EQ(with_limit(RLIM_INFINITY, 0), 16 * mib);
    EXPECT_EQ(with_limit(RLIM_INFINITY, 20 * mib), 20 * mib);
    EXPECT_EQ(with_limit(64 * mib, 20 * mib), 64 * mib);
}

TEST(LibraryThread, TakesNoSignalButThoseOfItsPlanAndOfFaults) {
    library_thread::plan plan{.name = "commtask-test"};
    sigaddset(&plan.signals, SIGUSR2);
    sigset_t mine_before;
    sigset_t only_usr1;
    sigemptyset(&only_usr1);
    sigaddset(&only_usr1, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &only_usr1, &mine_before); // the creator's own blocking is not inherited
    run_on(plan, [] {
        sigset_t blocked;
        pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
        for (const int number : {SIGUSR1, SIGTERM, SIGINT, SIGALRM, SIGCHLD, SIGPROF, SIGIO, SIGRTMIN, SIGRTMAX}) {
            EXPECT_EQ(sigismember(&blocked, number), 1) << number;
        }
        for (const int number : {SIGUSR2, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) {
            EXPECT_EQ(sigismember(&blocked, number), 0) << number;
        }
    });
    sigset_t mine_after;
    pthread_sigmask(SIG_SETMASK, &mine_before, &mine_after);
    EXPECT_EQ(sigismember(&mine_after, SIGUSR2), 1);
    EXPECT_EQ(sigismember(&mine_after, SIGUSR1), sigismember(&mine_before, SIGUSR1));
}

} // namespace
} // namespace commtask::detail
