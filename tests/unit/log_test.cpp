// SPDX-License-Identifier: Apache-2.0
//
// Names that other programs chose, in lines of the library's: no name may move the cursor, hide the text before it, or begin
// a line. What terminals obey is listed here by hand; no terminal is in the test.
#include "base/log.hpp"

#include "base/printable.hpp"

#include <gtest/gtest.h>

#include <string>

namespace commtask::detail {
namespace {

struct named {
    const char* given;
    const char* shown;
};

class Printable : public testing::TestWithParam<named> {};

TEST_P(Printable, HasNoControlCharacter) { EXPECT_EQ(printable(GetParam().given), GetParam().shown); }

INSTANTIATE_TEST_SUITE_P(Names, Printable,
                         testing::Values(named{"", ""}, named{"MPI_COMM_WORLD", "MPI_COMM_WORLD"},
                                         named{"na\xc3\xafv \xe2\x82\xac \xf0\x9f\x98\x80",
                                               "na\xc3\xafv \xe2\x82\xac \xf0\x9f\x98\x80"},
                                         named{"\x1b[2Jhalo\n\x7f", "\\x1b[2Jhalo\\x0a\\x7f"},
                                         named{"of Latin-1 \xc2\x9b[31m", "of Latin-1 \\xc2\\x9b[31m"},
                                         named{"to the left \xe2\x80\xae", "to the left \\xe2\\x80\\xae"},
                                         named{"as MPI cuts it \xe2\x82", "as MPI cuts it \\xe2\\x82"},
                                         named{"\xc0\x8a \xed\xa0\x80 \xf5\x80\x80\x80",
                                               "\\xc0\\x8a \\xed\\xa0\\x80 \\xf5\\x80\\x80\\x80"}));

TEST(Say, EscapesWhatItIsGivenAndStaysOneLine) {
    testing::internal::CaptureStderr();
    say("warning: %s is unknown", "one\n\x1b[1mtwo");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "commtask: warning: one\\x0a\\x1b[1mtwo is unknown\n");
}

TEST(Say, CutsALineThatIsTooLongBetweenCharacters) {
    testing::internal::CaptureStderr();
    say("%s", std::string(3000, '\x01').c_str());
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find_first_not_of("\\x01\n", std::string("commtask: ").size()), std::string::npos);
    EXPECT_TRUE(said.ends_with("\\x01\n")) << said;
}

} // namespace
} // namespace commtask::detail
