// SPDX-License-Identifier: Apache-2.0
//
// A thread of oneTBB that drives the lane, and runs a callback of a task there, must not be suspended: the lane would stand
// still with it. And a forked child, which has none of the library's threads, must come to its end.
#include "tbb_fixture.hpp"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/task_group.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <vector>

using namespace commtask::test;
using commtask::one;
using commtask::post;

namespace {

/// Runs `body` in a callback, on a thread that runs a task of oneTBB.
void in_callback_of_a_task(const std::function<void()>& body) {
    bool has_run = false;
    while (!has_run) { // another thread may drive at this moment
        ::tbb::task_group group;
        group.run_and_wait([&] {
            const auto on_end = [&]() noexcept {
                if (has_run || ::tbb::task::current_context() == nullptr) return;
                has_run = true;
                body();
            };
            commtask::task ended = post(commtask::noop(), commtask::progress_follows, commtask::then(on_end));
            static_cast<void>(ended.wait());
        });
    }
}

TEST_F(TbbFace, WaitIsRefusedInACallbackThatAThreadOfTheArenaRuns) {
    int received = -1;
    commtask::task receive = post(commtask::recv(one(received), rank_, 3, comm_));
    commtask::event never;
    int n_refused = 0;
    const auto expect_refusal = [&](const std::function<void()>& wait) {
        try {
            wait();
        } catch (const commtask::error& refusal) {
            n_refused += refusal.code() == COMMTASK_ERR_WORKER_THREAD ? 1 : 0;
        }
    };
    in_arena([&] {
        in_callback_of_a_task([&] {
            EXPECT_EQ(commtask_is_driving(), 1);
            expect_refusal([&] { static_cast<void>(ct::wait(receive)); });
            expect_refusal([&] { static_cast<void>(ct::wait_all({&receive, 1})); });
            expect_refusal([&] { ct::wait(never); });
        });
    });
    EXPECT_EQ(n_refused, 3);
    EXPECT_EQ(commtask_is_driving(), 0);
    never.signal();
    commtask::task send = post(commtask::send(one(rank_), rank_, 3, comm_));
    EXPECT_TRUE(send.wait().is_completed());
    EXPECT_TRUE(receive.wait().is_completed());
}

#if defined(__SANITIZE_ADDRESS__)
constexpr bool has_leak_check = true;
#elif defined(__has_feature)
constexpr bool has_leak_check = __has_feature(address_sanitizer);
#else
constexpr bool has_leak_check = false;
#endif

TEST_F(TbbFace, AForkedChildCanExit) {
    if (has_leak_check) GTEST_SKIP() << "to it, what the parent's threads have is lost in the child";
    flow::graph graph;
    const ct::send_node<std::vector<int>> node{graph, rank_, 0, comm_};
    const pid_t child = fork();
    if (child == 0) {
        // NOLINTNEXTLINE(concurrency-mt-unsafe): with what runs at exit
        std::exit(5);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 5);
}

} // namespace
