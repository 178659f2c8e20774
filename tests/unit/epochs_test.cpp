// SPDX-License-Identifier: Apache-2.0
//
// The book of a window's epochs and tickets: a place that is dropped leaves no trace in what may come next, whatever was
// entered behind it, and one that is used leaves the same as a post.
#include "mpi/epochs.hpp"

#include "base/last_error.hpp"

#include <commtask/commtask.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace commtask::detail {
namespace {

class Book : public ::testing::Test {
protected:
    [[nodiscard]] bool may_come(const commtask_op& op) { return log_.enter(op, name_, {}) == COMMTASK_OK; }
    [[nodiscard]] std::uint64_t ticket_for(const commtask_op& op) {
        std::uint64_t number = 0;
        EXPECT_EQ(log_.enter_for_later(op, name_, {}, [&] { return number = ++n_tickets_; }), COMMTASK_OK);
        return number;
    }
    static commtask_op fence(int assertion = 0) { return commtask_op_win_fence(assertion, MPI_WIN_NULL); }
    static commtask_op lock(int rank) { return commtask_op_win_lock(MPI_LOCK_SHARED, rank, 0, MPI_WIN_NULL); }
    static commtask_op unlock(int rank) { return commtask_op_win_unlock(rank, MPI_WIN_NULL); }
    static commtask_op put(int rank) {
        static const int value = 0;
        return commtask_op_put(&value, 1, MPI_INT, rank, 0, 1, MPI_INT, MPI_WIN_NULL);
    }

    [[nodiscard]] bool may_start(const std::vector<int>& group) {
        const commtask_op start = commtask_op_win_start(MPI_GROUP_NULL, 0, MPI_WIN_NULL);
        return log_.enter(start, name_, group) == COMMTASK_OK;
    }
    static commtask_op complete() { return commtask_op_win_complete(MPI_WIN_NULL); }

    epoch_log log_;
    const std::string name_ = "halos";

private:
    std::uint64_t n_tickets_ = 0;
};

TEST_F(Book, ForgetsAnEpochWhoseBeginIsDropped) {
    const std::uint64_t begin = ticket_for(lock(3));
    EXPECT_STREQ(log_.missing_operation(), "win_unlock");
    log_.was_dropped(begin);
    EXPECT_EQ(log_.missing_operation(), nullptr);
    EXPECT_FALSE(may_come(put(3)));
    EXPECT_TRUE(may_come(lock(3)));
}

TEST_F(Book, HasAnEpochStillOpenWhoseEndIsDropped) {
    EXPECT_TRUE(may_come(lock(1)));
    log_.was_dropped(ticket_for(unlock(1)));
    EXPECT_STREQ(log_.missing_operation(), "win_unlock");
    EXPECT_TRUE(may_come(put(1)));
    EXPECT_TRUE(may_come(unlock(1)));
    EXPECT_EQ(log_.missing_operation(), nullptr);
}

TEST_F(Book, ForgetsTheOnlyOperationBetweenTwoFences) {
    EXPECT_TRUE(may_come(fence()));
    log_.was_dropped(ticket_for(put(0)));
    EXPECT_EQ(log_.missing_operation(), nullptr); // as after a fence that nobody has used
    EXPECT_TRUE(may_come(lock(0)));
}

TEST_F(Book, TellsWhatCameLaterAgainWithoutWhatWasDropped) {
    EXPECT_TRUE(may_come(lock(1)));
    const std::uint64_t end = ticket_for(unlock(1));
    EXPECT_TRUE(may_come(lock(2)));
    EXPECT_TRUE(may_come(put(2)));
    log_.was_dropped(end);
    EXPECT_TRUE(may_come(put(1))); // both are locked now
    EXPECT_TRUE(may_come(unlock(2)));
    EXPECT_STREQ(log_.missing_operation(), "win_unlock");
    EXPECT_TRUE(may_come(unlock(1)));
    EXPECT_EQ(log_.missing_operation(), nullptr);
}

TEST_F(Book, LeavesToMpiWhatWasPostedForWhatIsDropped) {
    const std::uint64_t begin = ticket_for(fence());
    EXPECT_TRUE(may_come(put(0)));
    EXPECT_TRUE(may_come(fence(MPI_MODE_NOSUCCEED)));
    log_.was_dropped(begin);
    EXPECT_EQ(log_.missing_operation(), nullptr);
    EXPECT_FALSE(may_come(put(0)));
}

TEST_F(Book, CountsATicketThatWasUsedAsAPost) {
    const std::uint64_t first = ticket_for(lock(1));
    const std::uint64_t second = ticket_for(lock(2));
    const std::uint64_t third = ticket_for(lock(3));
    log_.was_posted(second);
    log_.was_posted(first);
    log_.was_dropped(third);
    EXPECT_TRUE(may_come(put(1)));
    EXPECT_TRUE(may_come(put(2)));
    EXPECT_FALSE(may_come(put(3)));
}

TEST_F(Book, LetsAnEpochOfAGroupAccessThatGroupAlone) {
    EXPECT_TRUE(may_start({1, 4}));
    EXPECT_TRUE(may_come(put(4)));
    EXPECT_TRUE(may_come(put(MPI_PROC_NULL)));
    EXPECT_FALSE(may_come(put(2)));
    EXPECT_FALSE(may_come(unlock(4))) << "it is not locked";
    EXPECT_TRUE(may_come(complete()));
    EXPECT_TRUE(may_start({}));
    EXPECT_FALSE(may_come(put(1)));
    EXPECT_TRUE(may_come(complete()));
    EXPECT_TRUE(may_come(lock(1)));
    EXPECT_FALSE(may_come(put(4)));
}

TEST_F(Book, RemembersTheGroupOfAStartBehindATicket) {
    const std::uint64_t locked = ticket_for(lock(2));
    log_.was_posted(ticket_for(unlock(2)));
    EXPECT_TRUE(may_start({1}));
    log_.was_dropped(locked);
    EXPECT_TRUE(may_come(put(1)));
    EXPECT_FALSE(may_come(put(2)));
}

TEST_F(Book, TakesNothingDownWhenThePlaceCannotBeHad) {
    const auto without_memory = [] { return std::uint64_t{0}; };
    EXPECT_EQ(log_.enter_for_later(lock(0), "halos", {}, without_memory), COMMTASK_ERR_NO_MEMORY);
    EXPECT_EQ(log_.missing_operation(), nullptr);
}

} // namespace
} // namespace commtask::detail
