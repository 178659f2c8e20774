// SPDX-License-Identifier: Apache-2.0
//
// Program order, beside a reference that looks at every pair of turns: an operation starts when all earlier ones that could
// match the same partner have started, and never later. All orders of readiness of four operations are played, and random
// ones of many. Tickets are good once, however many threads try.
#include "core/program_order.hpp"

#include "fake_transport.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace commtask::detail::testing {
namespace {

/// What an operation matches by, for the reference: the library's own words are not used.
struct message {
    enum class side { send, receive, both, barrier } which = side::send;
    int peer = 0;
    int tag = 0;
    bool is_ordered = false;
};

[[nodiscard]] bool meet(int one, int other, int any) { return one == other || one == any || other == any; }

/// Whether the later one must not start before the earlier one.
[[nodiscard]] bool conflict(const message& one, const message& other) {
    using side = message::side;
    if (one.is_ordered && other.is_ordered) return true;
    if (one.which == side::barrier || other.which == side::barrier) return one.which == other.which;
    const auto sends = [](const message& m) { return m.which != side::receive && m.peer != MPI_PROC_NULL; };
    const auto receives = [](const message& m) { return m.which != side::send && m.peer != MPI_PROC_NULL; };
    // An exchange sends to a rank and receives from the same one.
    if (sends(one) && sends(other) && one.peer == other.peer && one.tag == other.tag) return true;
    return receives(one) && receives(other) && meet(one.peer, other.peer, MPI_ANY_SOURCE) &&
           meet(one.tag, other.tag, MPI_ANY_TAG);
}

[[nodiscard]] commtask_op operation_of_message(const message& m) {
    char* const nothing = nullptr;
    const MPI_Datatype type{};
    const MPI_Comm comm{};
    switch (m.which) {
    case message::side::send: return commtask_op_send(nothing, 0, type, m.peer, m.tag, comm);
    case message::side::receive: return commtask_op_recv(nothing, 0, type, m.peer, m.tag, comm);
    case message::side::both:
        return commtask_op_sendrecv(nothing, 0, type, m.peer, m.tag, nothing, 0, type, m.peer, m.tag, comm);
    case message::side::barrier: break;
    }
    return commtask_op_barrier(comm);
}

/// Plays one set of messages: all are created, and become ready in the given order.
class play {
public:
    explicit play(const std::vector<message>& created) : created_(created), tasks_(created.size()) {
        for (const message& each : created_) {
            const std::uint32_t flags = each.is_ordered ? COMMTASK_ORDERED : COMMTASK_NONE;
            turn* const made = order_.make(operation_of_message(each), flags, {"play.c", 1});
            if (made->has_channels()) {
                order_.take(*made);
                turns_.push_back(made);
            } else {
                order_.unmake(*made);
                turns_.push_back(nullptr);
            }
        }
        has_arrived_.resize(created.size());
        has_left_.resize(created.size());
        has_started_.resize(created.size());
    }
    void arrive(std::size_t which) {
        has_arrived_[which] = true;
        task_list started;
        if (turns_[which] == nullptr) {
            started.push(tasks_[which]);
        } else {
            tasks_[which].extras.its_turn = turns_[which];
            order_.arrive(*turns_[which], tasks_[which], started);
        }
        compare(started);
    }
    void leave(std::size_t which) {
        has_left_[which] = true;
        task_list started;
        if (turns_[which] != nullptr) order_.leave(*turns_[which], started);
        compare(started);
    }
    [[nodiscard]] bool has_started(std::size_t which) const { return has_started_[which]; }
    [[nodiscard]] program_order& order() { return order_; }
    [[nodiscard]] const turn& turn_of(std::size_t which) const { return *turns_[which]; }

private:
    /// What has just started is what the reference says, and in an order in which no message overtakes one that it conflicts with.
    void compare(task_list started) {
        std::vector<std::size_t> now;
        while (const task* const each = started.pop()) {
            now.push_back(static_cast<std::size_t>(each - tasks_.data()));
        }
        for (const std::size_t each : now) {
            for (std::size_t before = 0; before < each; ++before) {
                if (is_waited_for(before))
                    EXPECT_FALSE(conflict(created_[before], created_[each])) << before << " before " << each;
            }
            has_started_[each] = true;
        }
        for (std::size_t i = 0; i < created_.size(); ++i) {
            if (!has_arrived_[i] || has_started_[i] || has_left_[i]) continue;
            bool must_wait = false;
            for (std::size_t before = 0; before < i; ++before) {
                must_wait = must_wait || (is_waited_for(before) && conflict(created_[before], created_[i]));
            }
            EXPECT_TRUE(must_wait) << i << " waits for nothing";
        }
    }
    [[nodiscard]] bool is_waited_for(std::size_t which) const { return !has_started_[which] && !has_left_[which]; }

    std::vector<message> created_;
    std::vector<task> tasks_;
    program_order order_;
    std::vector<turn*> turns_;
    std::vector<bool> has_arrived_;
    std::vector<bool> has_left_;
    std::vector<bool> has_started_;
};

using side = message::side;

TEST(ProgramOrder, HoldsInEveryOrderOfReadinessOfFourMessages) {
    const std::vector<message> kinds{{side::send, 0, 0},
                                     {side::send, 0, 1},
                                     {side::receive, 0, 0},
                                     {side::receive, 1, 0},
                                     {side::receive, MPI_ANY_SOURCE, 0},
                                     {side::receive, 0, MPI_ANY_TAG},
                                     {side::receive, MPI_ANY_SOURCE, MPI_ANY_TAG},
                                     {side::both, 0, 0},
                                     {side::send, MPI_PROC_NULL, 0}};
    std::array<std::size_t, 4> chosen{};
    for (std::size_t number = 0; number < 9 * 9 * 9 * 9; ++number) {
        std::vector<message> created;
        for (std::size_t rest = number, i = 0; i < chosen.size(); ++i, rest /= 9) created.push_back(kinds[rest % 9]);
        std::array<std::size_t, 4> ready{0, 1, 2, 3};
        do {
            play now{created};
            for (const std::size_t which : ready) now.arrive(which);
            for (std::size_t i = 0; i < created.size(); ++i) ASSERT_TRUE(now.has_started(i)) << "set " << number;
            ASSERT_FALSE(now.order().has_open());
        } while (std::ranges::next_permutation(ready).found);
        if (HasFailure()) FAIL() << "set " << number;
    }
}

TEST(ProgramOrder, HoldsForManyMessagesOfWhichSomeGiveTheirTurnUp) {
    for (unsigned seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 random{seed};
        const std::size_t count = 1 + random() % 100;
        std::vector<message> created;
        for (std::size_t i = 0; i < count; ++i) {
            message each;
            each.which = static_cast<side>(random() % 4);
            each.peer = random() % 16 == 0 ? MPI_PROC_NULL : static_cast<int>(random() % 3);
            each.tag = static_cast<int>(random() % 3);
            each.is_ordered = each.which != side::barrier && random() % 8 == 0;
            if (each.which == side::receive && random() % 6 == 0) each.peer = MPI_ANY_SOURCE;
            if (each.which == side::receive && random() % 6 == 0) each.tag = MPI_ANY_TAG;
            created.push_back(each);
        }
        play now{created};
        std::vector<std::size_t> ready(count);
        std::iota(ready.begin(), ready.end(), std::size_t{0});
        std::ranges::shuffle(ready, random);
        std::vector<bool> leaves(count);
        for (const std::size_t which : ready) {
            leaves[which] = random() % 5 == 0;
            if (!leaves[which]) {
                now.arrive(which);
                continue;
            }
            if (random() % 2 == 0) now.arrive(which); // and gives up while it waits, if it does
            if (now.has_started(which)) {
                leaves[which] = false;
            } else {
                now.leave(which);
            }
        }
        for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(now.has_started(i) || leaves[i]) << i;
        EXPECT_FALSE(now.order().has_open());
        if (HasFailure()) return;
    }
}

TEST(ProgramOrder, NamesTheEarlierOperationThatOneWaitsFor) {
    play now{{{side::send, 3, 0},
              {side::send, 3, 1},
              {side::send, 3, 0},
              {side::receive, MPI_ANY_SOURCE, 7},
              {side::receive, 2, 7}}};
    now.arrive(2);
    const auto send = now.order().blocker_of(now.turn_of(2));
    ASSERT_TRUE(send.has_value());
    EXPECT_EQ(send->kind, COMMTASK_OP_SEND);
    EXPECT_EQ(send->at, (channel{channel_kind::send, 3, 0}));
    EXPECT_STREQ(send->where.file, "play.c");
    now.arrive(4);
    const auto receive = now.order().blocker_of(now.turn_of(4));
    ASSERT_TRUE(receive.has_value());
    EXPECT_EQ(receive->at.peer, MPI_ANY_SOURCE);
    EXPECT_FALSE(now.order().blocker_of(now.turn_of(1)).has_value());
    for (const std::size_t which : {0U, 1U, 3U}) now.arrive(which);
}

TEST(ProgramOrder, ARankThatAListNamesTwiceIsOneChannel) {
    program_order order;
    const std::array<int, 3> dests{1, 2, 1};
    const commtask_op op = commtask_op_multicast(nullptr, 0, MPI_Datatype{}, dests.data(), 3, 0, MPI_Comm{});
    std::array<task, 2> tasks{};
    std::array<turn*, 2> turns{};
    for (std::size_t i = 0; i < 2; ++i) {
        turns[i] = order.make(op, COMMTASK_NONE, {});
        order.take(*turns[i]);
        tasks[i].extras.its_turn = turns[i];
    }
    task_list started;
    order.arrive(*turns[1], tasks[1], started);
    EXPECT_TRUE(started.is_empty());
    order.arrive(*turns[0], tasks[0], started);
    EXPECT_EQ(started.pop(), &tasks[0]);
    EXPECT_EQ(started.pop(), &tasks[1]);
    EXPECT_FALSE(order.has_open());
}

TEST(ProgramOrder, ATicketIsGoodOnceHoweverManyThreadsTry) {
    constexpr std::size_t n_tickets = 3000;
    program_order order;
    const commtask_op op = commtask_op_barrier(MPI_Comm{});
    EXPECT_EQ(order.use(0), nullptr);
    EXPECT_EQ(order.use(1), nullptr) << "never taken";
    EXPECT_EQ(order.use(~std::uint64_t{0}), nullptr);
    std::vector<std::uint64_t> tickets;
    for (std::size_t i = 0; i < n_tickets; ++i) tickets.push_back(order.make_and_keep(op, COMMTASK_NONE, {}).number);
    std::atomic<std::size_t> n_used{0};
    {
        std::vector<std::jthread> threads;
        for (int which = 0; which < 3; ++which) {
            threads.emplace_back([&] {
                for (const std::uint64_t ticket : tickets) {
                    if (order.use(ticket) != nullptr) n_used.fetch_add(1);
                }
            });
        }
    }
    EXPECT_EQ(n_used, n_tickets);
    // The memory of a turn that is over serves another one; the old ticket is not good for that.
    program_order again;
    const std::uint64_t old = again.make_and_keep(op, COMMTASK_NONE, {}).number;
    turn* const first = again.use(old);
    ASSERT_NE(first, nullptr);
    task_list started;
    again.leave(*first, started);
    const std::uint64_t fresh = again.make_and_keep(op, COMMTASK_NONE, {}).number;
    EXPECT_EQ(again.use(old), nullptr);
    EXPECT_EQ(again.use(fresh), first);
    again.take_back_use(*first);
    EXPECT_EQ(again.use(fresh), first);
}

TEST(ProgramOrder, ChannelsThatAreUsedAgainAskForNoMemory) {
    program_order order;
    std::vector<turn*> seen;
    for (int i = 0; i < 100; ++i) {
        turn* const made =
            order.make(commtask_op_send(nullptr, 0, MPI_Datatype{}, i % 7, i % 3, MPI_Comm{}), COMMTASK_NONE, {});
        if (std::ranges::find(seen, made) == seen.end()) seen.push_back(made);
        order.take(*made);
        task_list started;
        order.leave(*made, started);
    }
    EXPECT_EQ(seen.size(), 1U);
}

} // namespace
} // namespace commtask::detail::testing
