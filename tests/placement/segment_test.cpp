// SPDX-License-Identifier: Apache-2.0
//
// The memory that ranks share is opened by numbers that another one has told: what they no longer name, or name for somebody else, is
// not opened. That ranks find it is seen in mpi.node.*.
#include "doorbell/node_segment.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace commtask::detail {
namespace {

constexpr std::uint64_t key = 0x1234;
constexpr std::size_t n_bytes = 4096;

class Segment : public testing::Test {
protected:
    Segment() : file_(make_offered_file(key, n_bytes)) {}
    ~Segment() override { close(file_); }

    static void expect_refusal(const segment_offer& offered) {
        errno = 0;
        EXPECT_EQ(open_offered_file(offered), -1);
        EXPECT_EQ(errno, ENOENT) << "for the sentence that says why";
    }

    const int file_;
    const segment_offer right_{getpid(), file_, key};
};

TEST_F(Segment, IsTheSameForWhoOpensWhatWasOffered) {
    ASSERT_GE(file_, 0);
    const int theirs = open_offered_file(right_);
    ASSERT_GE(theirs, 0);
    ASSERT_EQ(pwrite(file_, "bell", 4, 100), 4);
    char found[4] = {};
    ASSERT_EQ(pread(theirs, found, 4, 100), 4);
    EXPECT_EQ(std::string(found, 4), "bell");
    close(theirs);
}

TEST_F(Segment, OfAnotherJobIsNotOpened) {
    segment_offer other = right_;
    other.key = key + 1;
    expect_refusal(other);
}

TEST_F(Segment, IsNotOpenedOnceItsNumberNamesAnotherFile) {
    const int another = open("/dev/null", O_RDWR | O_CLOEXEC);
    segment_offer other = right_;
    other.descriptor = another;
    expect_refusal(other);
    close(another);
    expect_refusal(other); // nor when it names none
}

TEST_F(Segment, OfAProcessThatHasEndedIsNotOpened) {
    const pid_t child = fork(); // it has the file, too
    if (child == 0) _exit(0);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    segment_offer other = right_;
    other.process = child;
    expect_refusal(other);
}

} // namespace
} // namespace commtask::detail
