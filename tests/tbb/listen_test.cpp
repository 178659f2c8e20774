// SPDX-License-Identifier: Apache-2.0
//
// listen_node where it does not go well: what cannot be listened to leaves no graph waiting, a message that is too long says so, and
// who must not wait is refused. docs/snippets/tbb_listen.cpp is where it does.
#include "mpi_facts.hpp"
#include "tbb_fixture.hpp"

#include <atomic>
#include <future>
#include <optional>
#include <thread>

using namespace commtask::test;

namespace {

constexpr int tag = 9;

class TbbListen : public TbbFace {
protected:
    using message = ct::listen_node::message_type;
};

TEST_F(TbbListen, ThatIsRefusedLeavesTheGraphToItself) {
    in_arena([&] {
        flow::graph graph;
        const auto start = [&](MPI_Comm comm, int with_tag, std::size_t n_slots) {
            ct::listen_node wrong{graph, comm, with_tag, sizeof(int), n_slots};
            const int code = code_of([&] { wrong.start(); });
            ct::wait_for_all(graph); // it does not wait for what never began
            wrong.stop();            // nor is there anything to stop
            return code;
        };
        EXPECT_EQ(start(comm_, tag, 0), COMMTASK_ERR_ARGUMENT);
        EXPECT_EQ(start(comm_, -5, 1), COMMTASK_ERR_TAG);
        EXPECT_EQ(start(MPI_COMM_NULL, tag, 1), COMMTASK_ERR_COMM);
    });
}

TEST_F(TbbListen, HandsOnWhatIsTooLongAsAnError) {
    if (!sees_truncation(n_ranks_)) GTEST_SKIP() << "this MPI does not tell of a message to oneself that is too long";
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 50000000
    if (n_ranks_ > 1) GTEST_SKIP() << "MPICH 5 does not tell of one from any source that came before its receive";
#endif
    const std::array<int, 2> mine{rank_, rank_};
    std::vector<int> classes;
    in_arena([&] {
        flow::graph graph;
        ct::listen_node calls{graph, comm_, tag, sizeof(int), 2};
        flow::function_node<message, flow::continue_msg> take(graph, flow::serial, [&](const message& come) {
            EXPECT_EQ(come->source(), left());
            int error_class = MPI_SUCCESS;
            MPI_Error_class(come->error(), &error_class);
            classes.push_back(error_class);
            EXPECT_EQ(come->is_good(), error_class == MPI_SUCCESS);
            if (classes.size() == 2) calls.stop();
        });
        flow::make_edge(calls.messages(), take);
        calls.start();
        calls.start();                 // it is already
        run(commtask::barrier(comm_)); // nobody sends before: both messages could end it between the two
        for (const std::size_t count : {std::size_t{2}, std::size_t{1}}) {
            // MPICH tells the sender of a message to itself too.
            static_cast<void>(finish(post(commtask::send(std::span{mine}.first(count), right(), tag, comm_))));
        }
        ct::wait_for_all(graph);
    });
    EXPECT_THAT(classes, testing::ElementsAre(MPI_ERR_TRUNCATE, MPI_SUCCESS));
}

TEST_F(TbbListen, IsNotStoppedInACallback) {
    in_arena([&] {
        flow::graph graph;
        ct::listen_node calls{graph, comm_, tag, sizeof(int), 1};
        calls.start();
        int code = COMMTASK_OK;
        run(commtask::noop(comm_), commtask::then([&]() noexcept { code = code_of([&] { calls.stop(); }); }));
        EXPECT_EQ(code, COMMTASK_ERR_WORKER_THREAD);
        calls.stop();
        ct::wait_for_all(graph);
    });
}

TEST_F(TbbListen, LeavesTheGraphToItselfWhereItsEndIsRefused) {
    if (has_leak_check) GTEST_SKIP() << "what a callback cannot end is left for good";
    in_arena([&] {
        flow::graph graph;
        auto calls = std::make_unique<ct::listen_node>(graph, comm_, tag, sizeof(int), 1);
        calls->start();
        run(commtask::noop(comm_), commtask::then([&]() noexcept { calls.reset(); }));
        ct::wait_for_all(graph);
        // To the receive that is left.
        run(commtask::send(std::span{&rank_, 1}, rank_, tag, comm_));
    });
}

TEST_F(TbbListen, DoesNotHoldAGraphThatABodyHasLeftByAnException) {
    int n_seen = 0;
    in_arena([&] {
        flow::graph graph;
        ct::listen_node calls{graph, comm_, tag, sizeof(int), 2};
        flow::function_node<message, flow::continue_msg> take(graph, flow::serial, [&](const message&) {
            if (++n_seen == 1) throw std::domain_error{"not that"};
            calls.stop();
        });
        flow::make_edge(calls.messages(), take);
        calls.start();
        // Synchronous: each is received before the next line.
        const auto send_one = [&] { run(commtask::ssend(std::span{&rank_, 1}, rank_, tag, comm_)); };
        send_one();
        EXPECT_THROW(ct::wait_for_all(graph), std::domain_error);
        send_one(); // it still receives, for nobody
        calls.stop();
        graph.reset();
        calls.start();
        send_one();
        ct::wait_for_all(graph);
    });
    EXPECT_EQ(n_seen, 2);
}

TEST_F(TbbListen, DoesNotHoldAGraphThatIsCanceledBeforeItRuns) {
    in_arena([&] {
        flow::graph graph;
        ct::listen_node calls{graph, comm_, tag, sizeof(int), 2};
        calls.start();
        graph.cancel();
        ct::wait_for_all(graph);
        EXPECT_TRUE(graph.is_cancelled());
    });
}

TEST_F(TbbListen, IsNotDestroyedWhileAThreadStopsIt) {
    std::atomic<bool> is_worker_free{false};
    in_arena([&] {
        flow::graph graph;
        std::optional<ct::listen_node> calls{std::in_place, graph, comm_, tag, sizeof(int), 2};
        calls->start();
        std::atomic<bool> is_let_go{false};
        std::promise<void> is_busy;
        std::promise<void> is_stopping;
        const auto a_while = [] {
            for (int i = 0; i < 1000; ++i) std::this_thread::yield();
        };
        auto busy = post(commtask::call(
            [&] {
                is_busy.set_value();
                while (!is_let_go) std::this_thread::yield();
                a_while();
                is_worker_free = true;
            },
            comm_));
        is_busy.get_future().wait();
        std::thread stopping{[&] {
            is_stopping.set_value();
            calls->stop();
        }};
        std::thread canceling{[&] {
            is_stopping.get_future().wait();
            a_while();
            graph.cancel();
        }};
        graph.wait_for_all();
        is_let_go = true;
        calls.reset();
        EXPECT_TRUE(is_worker_free) << "what stop() waits for";
        stopping.join();
        canceling.join();
        static_cast<void>(finish(std::move(busy)));
    });
}

TEST_F(TbbListen, EndsThoughItsCommunicatorWasFreed) {
    in_arena([&] {
        MPI_Comm mine = MPI_COMM_NULL;
        ASSERT_EQ(MPI_Comm_dup(comm_, &mine), MPI_SUCCESS);
        flow::graph graph;
        {
            ct::listen_node calls{graph, mine, tag, sizeof(int), 2};
            calls.start();
            ASSERT_EQ(MPI_Comm_free(&mine), MPI_SUCCESS);
        }
        ct::wait_for_all(graph);
    });
}

} // namespace
