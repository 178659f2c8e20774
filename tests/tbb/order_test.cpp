// SPDX-License-Identifier: Apache-2.0
//
// The order of operations when messages overtake each other: every rank gives its graph the same messages in another
// order, and collectives, or messages with equal tags, must meet their like all the same.
#include "tbb_fixture.hpp"

#include <array>

using namespace commtask::test;
using commtask::in_place;
using commtask::one;

namespace {

constexpr std::size_t n_messages = 60;

/// 0 .. n-1 in an order of this rank's own.
std::vector<std::size_t> shuffled(int rank) {
    std::vector<std::size_t> order(n_messages);
    std::iota(order.begin(), order.end(), 0U);
    unsigned state = 12345U + static_cast<unsigned>(rank);
    for (std::size_t i = n_messages; i > 1; --i) {
        state = state * 1664525U + 1013904223U;
        std::swap(order[i - 1], order[(state >> 8U) % i]);
    }
    return order;
}

struct step {
    std::size_t number = 0;
    std::array<std::int64_t, 1> sum{};
    std::array<std::int64_t, 1> told{};
};

[[nodiscard]] std::size_t number_of(const step& message) { return message.number; }

TEST_F(TbbFace, CollectivesOfSeveralNodesFollowTheMessages) {
    std::atomic<std::size_t> n_right{0};
    in_arena([&] {
        flow::graph graph;
        ct::sequence order(comm_);
        ct::collective_node<step> add(
            graph, flow::unlimited,
            [&](step& mine) {
                mine.sum[0] = static_cast<std::int64_t>(mine.number) * (rank_ + 1);
                return commtask::allreduce(in_place, mine.sum, MPI_SUM, comm_);
            },
            ct::in_order(order, number_of));
        ct::collective_node<step> tell(
            graph, flow::unlimited,
            [&](step& mine) {
                if (rank_ == 0) mine.told[0] = static_cast<std::int64_t>(mine.number) + 1000;
                return commtask::bcast(mine.told, 0, comm_);
            },
            ct::in_order(order, number_of));
        flow::function_node<step, flow::continue_msg> check(graph, flow::unlimited, [&](const step& ended) {
            const auto number = static_cast<std::int64_t>(ended.number);
            if (ended.sum[0] == number * n_ranks_ * (n_ranks_ + 1) / 2 && ended.told[0] == number + 1000) ++n_right;
        });
        flow::make_edge(add, tell);
        flow::make_edge(tell, check);
        for (const std::size_t number : shuffled(rank_)) add.try_put({.number = number});
        ct::wait_for_all(graph);
    });
    EXPECT_EQ(n_right.load(), n_messages);
}

TEST_F(TbbFace, MessagesWithEqualTagsFollowTheirNumbers) {
    std::vector<int> sent(n_messages);
    std::iota(sent.begin(), sent.end(), 0);
    std::vector<int> received(n_messages, -1);
    in_arena([&] {
        flow::graph graph;
        ct::sequence order(comm_);
        const auto itself = [](std::size_t number) { return number; };
        // Both nodes share an order, so a receive's place comes before the send's of the same number.
        ct::recv_node<std::size_t> receive(
            graph, flow::unlimited, [&](std::size_t& i) { return commtask::recv(one(received[i]), left(), 0, comm_); },
            ct::in_order(order, itself));
        ct::send_node<std::size_t> send(
            graph, flow::unlimited, [&](std::size_t& i) { return commtask::send(one(sent[i]), right(), 0, comm_); },
            ct::in_order(order, itself));
        for (const std::size_t number : shuffled(rank_)) send.try_put(number);
        for (const std::size_t number : shuffled(rank_ + 100)) receive.try_put(number);
        ct::wait_for_all(graph);
    });
    EXPECT_EQ(received, sent);
}

TEST_F(TbbFace, ASkippedMessageHoldsNobodyUp) {
    std::atomic<int> n_ended{0};
    in_arena([&] {
        flow::graph graph;
        ct::sequence order(comm_);
        ct::collective_node<step> meet(
            graph, flow::unlimited, [&](step&) { return commtask::barrier(comm_); }, ct::in_order(order, number_of));
        flow::function_node<step, flow::continue_msg> count(graph, flow::unlimited, [&](const step&) { ++n_ended; });
        flow::make_edge(meet, count);
        for (const std::size_t number : shuffled(rank_)) {
            if (number % 3 == 0) {
                order.skip(number);
            } else {
                meet.try_put({.number = number});
            }
        }
        ct::wait_for_all(graph);
    });
    EXPECT_EQ(n_ended.load(), 40);
    // What a sequence leaves unused holds nobody up either.
    {
        ct::sequence unused(comm_);
        static_cast<void>(unused.join(true));
        const commtask::ticket second = unused.take(1, 0);
    }
    run(commtask::barrier(comm_));
}

TEST_F(TbbFace, AResetSequenceCountsFromZeroAndHoldsNobodyUp) {
    std::atomic<int> n_ended{0};
    in_arena([&] {
        flow::graph graph;
        ct::sequence order(comm_);
        ct::collective_node<step> meet(
            graph, flow::unlimited,
            [&](step& s) {
                if (s.number == 3) graph.cancel();
                return commtask::barrier(comm_);
            },
            ct::in_order(order, number_of));
        flow::function_node<step, flow::continue_msg> count(graph, flow::unlimited, [&](const step&) { ++n_ended; });
        flow::make_edge(meet, count);
        // The places of 0 to 2 are taken and never used: number 3 cannot be issued, and must be canceled.
        meet.try_put({.number = 3});
        ct::wait_for_all(graph);
        EXPECT_TRUE(graph.is_cancelled());
        graph.reset();
        order.reset();
        for (const std::size_t number : {1U, 0U}) meet.try_put({.number = number});
        ct::wait_for_all(graph);
        EXPECT_EQ(n_ended.load(), 2);
        run(commtask::barrier(comm_));
    });
}

TEST_F(TbbFace, ANumberThatComesTwiceIsRefused) {
    in_arena([&] {
        flow::graph graph;
        ct::sequence order(comm_);
        ct::collective_node<step> meet(
            graph, flow::unlimited, [&](step&) { return commtask::barrier(comm_); }, ct::in_order(order, number_of));
        meet.try_put({.number = 0});
        ct::wait_for_all(graph);
        meet.try_put({.number = 0});
        EXPECT_EQ(code_of([&] { ct::wait_for_all(graph); }), COMMTASK_ERR_ARGUMENT);
        EXPECT_EQ(code_of([&] {
                      const ct::collective_node<step> late(
                          graph, flow::unlimited, [&](step&) { return commtask::barrier(comm_); },
                          ct::in_order(order, number_of));
                  }),
                  COMMTASK_ERR_ARGUMENT);
    });
}

} // namespace
