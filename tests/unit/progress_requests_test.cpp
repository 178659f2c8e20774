// SPDX-License-Identifier: Apache-2.0
//
// Questions of other threads are answered by one progress call, or by each.
#include "core/progress_requests.hpp"

#include <gtest/gtest.h>

namespace commtask::detail {
namespace {

TEST(ProgressRequests, AListIsWrittenOnceUnderItsHeading) {
    progress_requests asked;
    EXPECT_FALSE(asked.has_new());
    EXPECT_EQ(asked.take_list(), nullptr);
    asked.request_list("now");
    EXPECT_TRUE(asked.has_new() && asked.are_pending() && asked.is_list_due());
    EXPECT_STREQ(asked.take_list(), "now");
    EXPECT_EQ(asked.take_list(), nullptr);
    EXPECT_FALSE(asked.has_new());
}

TEST(ProgressRequests, EachProgressCallAnswersOnceAThreadWantsToKnow) {
    progress_requests asked;
    EXPECT_FALSE(asked.begin_check()) << "no thread has asked";
    asked.watch_drain();
    EXPECT_TRUE(asked.has_new()) << "the worker must not wait";
    EXPECT_TRUE(asked.begin_check());
    EXPECT_FALSE(asked.has_new());
    EXPECT_TRUE(asked.set_drained(true));
    EXPECT_TRUE(asked.was_drained());
    EXPECT_FALSE(asked.set_drained(true)) << "waiting threads know";
    asked.begin_call(); // it may take a task out
    EXPECT_FALSE(asked.was_drained());
    EXPECT_TRUE(asked.is_watched() && asked.begin_check());
    EXPECT_FALSE(asked.set_drained(false));
    EXPECT_TRUE(asked.set_drained(true));
}

} // namespace
} // namespace commtask::detail
