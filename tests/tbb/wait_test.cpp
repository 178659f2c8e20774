// SPDX-License-Identifier: Apache-2.0
//
// wait() gives its thread away: on one thread, tasks that wait for each other's messages all end. A wait that blocked
// would run into the test's time limit.
#include "mpi_facts.hpp"
#include "tbb_fixture.hpp"

#include <oneapi/tbb/task_group.h>

#include <array>
#include <thread>

using namespace commtask::test;
using commtask::one;
using commtask::post;

namespace {

TEST_F(TbbFace, TasksThatWaitLetTheTaskRunThatTheyWaitFor) {
    constexpr int n_waiters = 50;
    std::array<int, n_waiters> received{};
    std::atomic<int> n_ended{0};
    in_arena([&] {
        ::tbb::task_group group;
        // The thread's own tasks run last in, first out: the senders' turn comes when all waiters hang.
        group.run([&] {
            for (int i = 0; i < n_waiters; ++i) commtask::post_detached(commtask::send(one(rank_), right(), i, comm_));
        });
        for (int i = 0; i < n_waiters; ++i) {
            group.run([&, i] {
                const auto at = static_cast<std::size_t>(i);
                if (ct::wait(post(commtask::recv(one(received[at]), left(), i, comm_)))) ++n_ended;
            });
        }
        group.wait();
    });
    EXPECT_EQ(n_ended.load(), n_waiters);
    EXPECT_THAT(received, testing::Each(left()));
}

TEST_F(TbbFace, WaitWorksAtDepthInsideParallelForAndIsolation) {
    std::atomic<int> n_right{0};
    in_arena([&] {
        ::tbb::parallel_for(0, 6, [&](int outer) {
            ::tbb::parallel_for(0, 6, [&](int inner) {
                ::tbb::this_task_arena::isolate([&] {
                    ::tbb::task_group group;
                    group.run([&] {
                        const int tag = 10 * outer + inner;
                        int got = -1;
                        commtask::task receive = post(commtask::recv(one(got), left(), tag, comm_));
                        commtask::task sent = post(commtask::send(one(rank_), right(), tag, comm_));
                        const bool both = ct::wait(receive).is_completed() && ct::wait(sent).is_completed();
                        if (both && got == left()) ++n_right;
                    });
                    group.wait();
                });
            });
        });
    });
    EXPECT_EQ(n_right.load(), 36);
}

TEST_F(TbbFace, AResumeMayComeBeforeTheSuspensionIsComplete) {
    std::atomic<int> n_completed{0};
    in_arena([&] {
        ::tbb::parallel_for(0, 2000, [&](int) {
            commtask::task quick = post(commtask::noop());
            if (ct::wait(quick).is_completed()) ++n_completed;
        });
    });
    EXPECT_EQ(n_completed.load(), 2000);
}

TEST_F(TbbFace, ABodyOfAGraphMayWait) {
    int sum = 0;
    in_arena([&] {
        flow::graph graph;
        flow::function_node<int, int> exchange(graph, flow::unlimited, [&](int tag) {
            int got = 0;
            commtask::post_detached(commtask::send(one(rank_), right(), tag, comm_));
            static_cast<void>(ct::wait(post(commtask::recv(one(got), left(), tag, comm_))));
            return got;
        });
        flow::function_node<int, flow::continue_msg> add(graph, flow::serial, [&](int got) { sum += got; });
        flow::make_edge(exchange, add);
        for (int tag = 0; tag < 20; ++tag) exchange.try_put(tag);
        graph.wait_for_all();
    });
    EXPECT_EQ(sum, 20 * left());
}

TEST_F(TbbFace, SeveralTasksAndEventsAreWaitedForInOneGo) {
    bool came_after_signal = false;
    in_arena([&] {
        commtask::event go;
        std::atomic<bool> was_signalled{false};
        ::tbb::task_group group;
        group.run([&] {
            was_signalled = true;
            go.signal();
        });
        group.run([&] {
            ct::wait(go);
            came_after_signal = was_signalled;
            std::array<int, 2> data{-1, -1};
            std::array<commtask::task, 3> tasks{
                post(commtask::recv(one(data[0]), left(), 0, comm_)),
                post(commtask::recv(one(data[1]), left(), 1, comm_)),
                commtask::task{},
            };
            commtask::post_detached(commtask::send(one(rank_), right(), 1, comm_));
            commtask::post_detached(commtask::send(one(rank_), right(), 0, comm_));
            EXPECT_EQ(ct::wait_all(tasks), commtask::ending::completed);
            EXPECT_THAT(data, testing::Each(left()));
        });
        group.wait();
    });
    EXPECT_TRUE(came_after_signal);
}

TEST_F(TbbFace, AThreadWithoutATaskJustWaits) {
    int got = -1;
    std::thread outside([&] {
        commtask::post_detached(commtask::send(one(rank_), right(), 0, comm_));
        EXPECT_TRUE(ct::wait(post(commtask::recv(one(got), left(), 0, comm_))).is_completed());
    });
    outside.join();
    EXPECT_EQ(got, left());
    commtask::task empty;
    EXPECT_TRUE(ct::wait(empty).is_completed());
}

TEST_F(TbbFace, WaitTellsHowATaskEnded) {
    if (!sees_truncation(n_ranks_)) GTEST_SKIP() << "this MPI does not check messages to oneself";
    in_arena([&] {
        ::tbb::task_group group;
        group.run([&] {
            std::array<int, 1> too_short{};
            static constexpr std::array<int, 2> longer{};
            commtask::task receive = post(commtask::recv(too_short, left(), 0, comm_));
            commtask::post_detached(commtask::send(longer, right(), 0, comm_));
            EXPECT_EQ(ct::wait(receive).error_class(), MPI_ERR_TRUNCATE);

            int nothing = 0;
            commtask::task silent = post(commtask::recv(one(nothing), rank_, 1, comm_));
            silent.cancel();
            EXPECT_TRUE(ct::wait(silent).is_canceled());
        });
        group.wait();
    });
}

TEST_F(TbbFace, TheWorkerIsNotSuspended) {
    int code = COMMTASK_OK;
    commtask::event never;
    commtask::task waiting = post(commtask::noop(), commtask::after(never));
    commtask::task asks =
        post(commtask::noop(),
             commtask::then([&]() noexcept { code = code_of([&] { static_cast<void>(ct::wait(waiting)); }); }));
    static_cast<void>(finish(asks));
    EXPECT_EQ(code, COMMTASK_ERR_WORKER_THREAD);
    never.signal();
    EXPECT_TRUE(finish(waiting).is_completed());
}

TEST_F(TbbFace, AnExceptionPassesAWait) {
    in_arena([&] {
        ::tbb::task_group group;
        group.run([&] {
            static_cast<void>(ct::wait(post(commtask::noop(), commtask::then([]() noexcept {}))));
            throw std::domain_error{"after the wait"};
        });
        EXPECT_THROW(group.wait(), std::domain_error);
    });
}

} // namespace
