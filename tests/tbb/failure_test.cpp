// SPDX-License-Identifier: Apache-2.0
//
// Every way in which a graph with communication nodes ends badly: MPI errors at a port or as an exception, refused
// arguments, exceptions of other nodes, each way of cancellation, nodes that are destroyed too early. No test
// may leave a receive behind that takes a later message.
#include "mpi_facts.hpp"
#include "tbb_fixture.hpp"

#include <oneapi/tbb/task_group.h>

#include <array>

using namespace commtask::test;
using commtask::one;

namespace {

/// A receive of two ints, so that three are an error.
struct pair_of_ints {
    int tag = 0;
    std::array<int, 2> data{};
};

class TbbFailure : public TbbFace {
protected:
    [[nodiscard]] auto into_pair() const {
        return [this](pair_of_ints& into) { return commtask::recv(into.data, left(), into.tag, comm_); };
    }
    void send_to_the_right(int tag, int n_ints) {
        static constexpr std::array<int, 3> values{1, 2, 3};
        commtask::post_detached(
            commtask::send(std::span{values}.first(static_cast<std::size_t>(n_ints)), right(), tag, comm_));
    }
    /// Nobody sends to this.
    static constexpr int silent_tag = 900;

    /// A receive left behind would take this message.
    void expect_no_receive_left(int tag) {
        run(commtask::barrier(comm_)); // no neighbour may still have one pending
        std::array<int, 2> data{};
        send_to_the_right(tag, 2);
        const commtask::outcome ended = finish(commtask::post(commtask::recv(data, left(), tag, comm_)));
        EXPECT_TRUE(ended.is_completed());
        EXPECT_EQ(data[1], 2);
    }
};

TEST_F(TbbFailure, AnMpiErrorGoesToPortOneAndTheOthersGoOn) {
    if (!sees_truncation(n_ranks_)) GTEST_SKIP() << "this MPI does not check messages to oneself";
    std::vector<int> completed;
    std::vector<int> failed;
    int error_class = MPI_SUCCESS;
    in_arena([&] {
        flow::graph graph;
        ct::recv_node<pair_of_ints> receive(graph, flow::unlimited, into_pair());
        flow::function_node<pair_of_ints, flow::continue_msg> good(
            graph, flow::serial, [&](const pair_of_ints& got) { completed.push_back(got.tag); });
        flow::function_node<ct::failure<pair_of_ints>, flow::continue_msg> bad(
            graph, flow::serial, [&](const ct::failure<pair_of_ints>& what) {
                failed.push_back(what.message.tag);
                error_class = what.result.error_class();
            });
        flow::make_edge(flow::output_port<0>(receive), good);
        flow::make_edge(flow::output_port<1>(receive), bad);
        for (int tag = 0; tag < 10; ++tag) {
            receive.try_put({.tag = tag});
            send_to_the_right(tag, tag == 4 ? 3 : 2);
        }
        ct::wait_for_all(graph);
        EXPECT_FALSE(graph.is_cancelled());
    });
    EXPECT_THAT(sorted(completed), testing::ElementsAre(0, 1, 2, 3, 5, 6, 7, 8, 9));
    EXPECT_THAT(failed, testing::ElementsAre(4));
    EXPECT_EQ(error_class, MPI_ERR_TRUNCATE);
}

TEST_F(TbbFailure, WithoutAnyoneAtPortOneItLeavesWaitForAll) {
    if (!sees_truncation(n_ranks_)) GTEST_SKIP() << "this MPI does not check messages to oneself";
    in_arena([&] {
        flow::graph graph;
        ct::recv_node<pair_of_ints> receive(graph, flow::serial, into_pair());
        receive.try_put({.tag = 1});
        send_to_the_right(1, 3);
        try {
            ct::wait_for_all(graph);
            ADD_FAILURE() << "nothing was thrown";
        } catch (const ct::operation_failed& caught) {
            EXPECT_TRUE(caught.result().is_failed());
            EXPECT_EQ(caught.result().error_class(), MPI_ERR_TRUNCATE);
            EXPECT_THAT(caught.what(),
                        testing::HasSubstr("recv_node: rank " + std::to_string(rank_) + ": recv of 2 MPI_INT from"));
            EXPECT_THAT(caught.what(), testing::HasSubstr("failed: it has room for 8 bytes and got "));
        }
        EXPECT_TRUE(graph.exception_thrown());

        graph.reset();
        receive.try_put({.tag = 2});
        send_to_the_right(2, 2);
        ct::wait_for_all(graph);
    });
}

TEST_F(TbbFailure, ARefusedOperationLeavesWaitForAll) {
    in_arena([&] {
        flow::graph graph;
        ct::send_node<int> send(graph, flow::serial,
                                [&](int& dest) { return commtask::send(one(rank_), dest, 0, comm_); });
        send.try_put(n_ranks_);
        EXPECT_EQ(code_of([&] { ct::wait_for_all(graph); }), COMMTASK_ERR_RANK);
    });
}

TEST_F(TbbFailure, AnOperationOfAnotherKindIsRefused) {
    in_arena([&] {
        flow::graph graph;
        EXPECT_EQ(code_of([&] { const ct::recv_node<int> wrong(graph, flow::serial, commtask::barrier(comm_)); }),
                  COMMTASK_ERR_ARGUMENT);
        ct::send_node<int> send(graph, flow::serial, [&](int& tag) { return commtask::recv(one(tag), 0, 0, comm_); });
        send.try_put(0);
        EXPECT_EQ(code_of([&] { ct::wait_for_all(graph); }), COMMTASK_ERR_ARGUMENT);
    });
}

TEST_F(TbbFailure, AnExceptionOfItsFunctionLeavesWaitForAll) {
    in_arena([&] {
        flow::graph graph;
        ct::send_node<int> send(graph, flow::serial, [&](int& number) {
            if (number == 3) throw std::out_of_range{"no buffer 3"};
            return commtask::send(one(rank_), rank_, number, comm_);
        });
        ct::recv_node<pair_of_ints> receive(graph, flow::serial, into_pair());
        receive.try_put({.tag = silent_tag});
        send.try_put(3);
        EXPECT_THROW(ct::wait_for_all(graph), std::out_of_range);
    });
    expect_no_receive_left(silent_tag);
}

TEST_F(TbbFailure, AnExceptionOfAnotherNodeWithdrawsWhatIsPending) {
    std::atomic<bool> was_sent_on{false};
    in_arena([&] {
        flow::graph graph;
        ct::recv_node<pair_of_ints> receive(graph, flow::unlimited, into_pair());
        flow::function_node<pair_of_ints, flow::continue_msg> use(graph, flow::serial,
                                                                  [&](const pair_of_ints&) { was_sent_on = true; });
        flow::make_edge(receive, use);
        flow::function_node<int, flow::continue_msg> compute(graph, flow::serial,
                                                             [](int) { throw std::domain_error{"no convergence"}; });
        for (int i = 0; i < 20; ++i) receive.try_put({.tag = silent_tag + i});
        compute.try_put(0);
        EXPECT_THROW(ct::wait_for_all(graph), std::domain_error);
    });
    EXPECT_FALSE(was_sent_on);
    for (int i = 0; i < 20; ++i) expect_no_receive_left(silent_tag + i);
}

TEST_F(TbbFailure, CancelingTheGraphWithdrawsWhatIsPending) {
    in_arena([&] {
        flow::graph graph;
        ct::recv_node<pair_of_ints> receive(graph, flow::unlimited, into_pair());
        ct::request_node<int> meet(graph, flow::serial, [&](int&) {
            return commtask::call([&graph] { graph.cancel(); }, comm_); // once the receives have started
        });
        for (int i = 0; i < 5; ++i) receive.try_put({.tag = silent_tag + i});
        meet.try_put(0);
        ct::wait_for_all(graph);
        EXPECT_TRUE(graph.is_cancelled());

        graph.reset();
        receive.try_put({.tag = 7});
        send_to_the_right(7, 2);
        ct::wait_for_all(graph);
        EXPECT_FALSE(graph.is_cancelled());
    });
    for (int i = 0; i < 5; ++i) expect_no_receive_left(silent_tag + i);
}

TEST_F(TbbFailure, CancelingAnOuterGroupWithdrawsWhatIsPending) {
    in_arena([&] {
        ::tbb::task_group_context outer;
        flow::graph graph(outer);
        ct::recv_node<pair_of_ints> receive(graph, flow::unlimited, into_pair());
        flow::function_node<int, flow::continue_msg> give_up(graph, flow::serial,
                                                             [&](int) { outer.cancel_group_execution(); });
        receive.try_put({.tag = silent_tag});
        give_up.try_put(0);
        ct::wait_for_all(graph);
        EXPECT_TRUE(graph.is_cancelled());
    });
    expect_no_receive_left(silent_tag);
}

TEST_F(TbbFailure, AnOperationThatWaitsForItsPlaceIsCanceledToo) {
    commtask::ticket never_used{commtask::barrier(comm_)};
    in_arena([&] {
        flow::graph graph;
        ct::collective_node<int> meet(graph, flow::serial, [&](int&) { return commtask::barrier(comm_); });
        ct::request_node<int> give_up(graph, flow::serial,
                                      [&](int&) { return commtask::call([&graph] { graph.cancel(); }, comm_); });
        flow::function_node<int, int> both(graph, flow::serial, [&](int i) {
            meet.try_put(i);
            return i;
        });
        flow::make_edge(both, give_up);
        both.try_put(0);
        ct::wait_for_all(graph);
        EXPECT_TRUE(graph.is_cancelled());
    });
}

TEST_F(TbbFailure, ANodeThatIsDestroyedWithOperationsPendingCancelsAndWaits) {
    in_arena([&] {
        flow::graph graph;
        std::atomic<int> n_started{0};
        commtask::event has_started{5};
        try {
            ct::recv_node<pair_of_ints> receive(graph, flow::unlimited, [&](pair_of_ints& into) {
                ++n_started;
                has_started.signal();
                return commtask::recv(into.data, left(), into.tag, comm_);
            });
            for (int i = 0; i < 5; ++i) receive.try_put({.tag = silent_tag + i});
            // The waiting thread runs the node's function; no node of oneTBB may be destroyed before that.
            ::tbb::task_group group;
            group.run([&] { ct::wait(has_started); });
            group.wait();
            throw std::domain_error{"leaves before wait_for_all"};
        } catch (const std::domain_error&) {}
        EXPECT_EQ(n_started, 5);
    });
    for (int i = 0; i < 5; ++i) expect_no_receive_left(silent_tag + i);
}

TEST_F(TbbFailure, ADoorThatFailsGoesToPortOne) {
    bool has_failed = false;
    in_arena([&] {
        flow::graph graph;
        ct::request_node<int> after(graph, flow::serial,
                                    [&](int&) { return commtask::call([] { return MPI_ERR_INTERN; }, comm_); });
        flow::function_node<ct::failure<int>, flow::continue_msg> bad(
            graph, flow::serial, [&](const ct::failure<int>& what) { has_failed = what.result.is_failed(); });
        flow::make_edge(flow::output_port<1>(after), bad);
        after.try_put(0);
        ct::wait_for_all(graph);
    });
    EXPECT_TRUE(has_failed);
}

} // namespace
