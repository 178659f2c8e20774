// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.order: a ticket is good for one task, on the communicator that it was taken for. Whatever else somebody tries
// is refused, and holds nobody up.
#include "runtime_test.hpp"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

namespace commtask::test {
namespace {

class Tickets : public Runtime {
protected:
    [[nodiscard]] commtask_ticket take(MPI_Comm comm) const {
        commtask_ticket ticket{};
        const commtask_op barrier = commtask_op_barrier(comm);
        EXPECT_EQ(commtask_ticket_take(&barrier, &ticket), COMMTASK_OK) << commtask_last_error();
        return ticket;
    }
    [[nodiscard]] static int post_at(commtask_ticket ticket, MPI_Comm comm, std::uint32_t flags = COMMTASK_NONE) {
        options how;
        const commtask_op barrier = commtask_op_barrier(comm);
        return commtask_post_operation(&barrier, how.at(ticket).flags(flags).get(), nullptr);
    }
    /// What is refused must not stand in the way of what comes later.
    void expect_that_the_order_goes_on() {
        run(commtask_op_barrier(comm_));
        options ordered;
        run(commtask_op_noop(comm_), ordered.flags(COMMTASK_ORDERED).get());
    }
};

TEST_F(Tickets, AreRefusedTheSecondTime) {
    const commtask_ticket posted = take(comm_);
    EXPECT_EQ(post_at(posted, comm_), COMMTASK_OK);
    const commtask_ticket dropped = take(comm_);
    EXPECT_EQ(commtask_ticket_drop(comm_, dropped), COMMTASK_OK);
    for (const commtask_ticket used : {posted, dropped}) {
        EXPECT_EQ(post_at(used, comm_), COMMTASK_ERR_ARGUMENT);
        EXPECT_EQ(post_at(used, comm_, COMMTASK_TRY), COMMTASK_ERR_ARGUMENT);
        EXPECT_EQ(commtask_ticket_drop(comm_, used), COMMTASK_ERR_ARGUMENT);
        EXPECT_NE(std::strstr(commtask_last_error(), "ticket"), nullptr) << commtask_last_error();
    }
    expect_that_the_order_goes_on();
}

TEST_F(Tickets, AreRefusedOnAnotherCommunicator) {
    MPI_Comm other = MPI_COMM_NULL;
    ASSERT_EQ(MPI_Comm_dup(comm_, &other), MPI_SUCCESS);
    const commtask_ticket ours = take(comm_);
    const commtask_ticket theirs = take(other);
    EXPECT_EQ(post_at(ours, other), COMMTASK_ERR_ARGUMENT);
    EXPECT_NE(std::strstr(commtask_last_error(), "communicator"), nullptr) << commtask_last_error();
    EXPECT_EQ(commtask_ticket_drop(comm_, theirs), COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(post_at(ours, comm_), COMMTASK_OK) << "it is still good where it was taken";
    EXPECT_EQ(post_at(theirs, other), COMMTASK_OK);
    run(commtask_op_barrier(other));
    EXPECT_EQ(MPI_Comm_free(&other), MPI_SUCCESS);
    expect_that_the_order_goes_on();
}

TEST_F(Tickets, OfAFreedCommunicatorAreRefusedOnTheNextOne) {
    std::vector<commtask_ticket> old;
    for (int i = 0; i < 20; ++i) {
        MPI_Comm passing = MPI_COMM_NULL;
        ASSERT_EQ(MPI_Comm_dup(comm_, &passing), MPI_SUCCESS); // often with the handle of the last one
        for (const commtask_ticket ticket : old) {
            EXPECT_EQ(post_at(ticket, passing), COMMTASK_ERR_ARGUMENT);
            EXPECT_EQ(commtask_ticket_drop(passing, ticket), COMMTASK_ERR_ARGUMENT);
        }
        run(commtask_op_barrier(passing));
        old.push_back(take(passing));
        if (i % 2 == 0) {
            EXPECT_EQ(post_at(old.back(), passing), COMMTASK_OK);
            run(commtask_op_barrier(passing));
        }
        EXPECT_EQ(MPI_Comm_free(&passing), MPI_SUCCESS);
    }
    expect_that_the_order_goes_on();
}

TEST_F(Tickets, ThatNobodyTookAreRefused) {
    const commtask_ticket real = take(comm_);
    for (const std::uint64_t number : {real.number + 1, std::uint64_t{1} << 40U, ~std::uint64_t{0}}) {
        commtask_ticket forged = real;
        forged.number = number;
        EXPECT_EQ(post_at(forged, comm_), COMMTASK_ERR_ARGUMENT);
        EXPECT_EQ(commtask_ticket_drop(comm_, forged), COMMTASK_ERR_ARGUMENT);
    }
    commtask_ticket of_no_class = real;
    of_no_class.class_ = 77;
    EXPECT_EQ(post_at(of_no_class, comm_), COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(commtask_ticket_drop(comm_, of_no_class), COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(post_at(real, comm_), COMMTASK_OK);
    expect_that_the_order_goes_on();
}

TEST_F(Tickets, BeyondTheSizeOfTheOptionsAreNotRead) {
    commtask_options older = COMMTASK_OPTIONS_INIT;
    older.struct_size = offsetof(commtask_options, ticket);
    older.ticket = {77, 0, 77};
    run(commtask_op_noop(comm_), &older);
}

TEST_F(Tickets, AreGoodForOneOfTheThreadsThatUseThemAtOnce) {
    // Counted by what becomes of the posts: each barrier that is posted is met by one on every rank.
    constexpr int n_tickets = 200;
    std::vector<commtask_ticket> tickets;
    for (int i = 0; i < n_tickets; ++i) tickets.push_back(take(comm_));
    std::atomic<int> n_posted{0};
    {
        std::vector<std::jthread> threads;
        for (int which = 0; which < 3; ++which) {
            threads.emplace_back([&, which] {
                for (const commtask_ticket ticket : tickets) {
                    if (post_at(ticket, comm_, which == 0 ? COMMTASK_TRY : COMMTASK_NONE) == COMMTASK_OK) ++n_posted;
                }
            });
        }
    }
    EXPECT_EQ(n_posted, n_tickets);
    expect_that_the_order_goes_on();
}

} // namespace
} // namespace commtask::test
