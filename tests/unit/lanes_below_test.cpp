// SPDX-License-Identifier: Apache-2.0
//
// What a user who asks for several lanes is told about his MPI: whether they go on side by side in it, and what would help. The
// MPIs are known by their own texts; none is there.
#include "mpi/lanes_below.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace commtask::detail {
namespace {

using testing::HasSubstr;

[[nodiscard]] mpi_name mpich(const std::string& version, const std::string& device = "ch4:ofi",
                             const std::string& configure = "") {
    return parse_mpi_name("MPICH Version:\t" + version + "\nMPICH Device:\t" + device + "\nMPICH configure:\t" +
                          configure + "\nMPICH CC:\tcc\n");
}

[[nodiscard]] mpi_name openmpi() { return parse_mpi_name("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"); }
[[nodiscard]] mpi_name intel() { return parse_mpi_name("Intel(R) MPI Library 2021.19.0 for Linux* OS\n"); }

TEST(LanesBelow, TakeTurnsInAnMpichOfOneContext) {
    const lanes_in_mpi found = lanes_below(mpich("4.0.2"), 2, 0);
    EXPECT_FALSE(found.are_independent);
    EXPECT_EQ(found.message,
              "2 lanes take turns in MPICH 4.0.2: it is made for one network context, with one lock for all threads");
    EXPECT_FALSE(lanes_below(mpich("4.0.2"), 2, 2).are_independent);
    EXPECT_FALSE(lanes_below(mpich("3.4"), 2, 2).are_independent);
}

TEST(LanesBelow, AreIndependentInALaterMpichIfItHasAContextForEach) {
    const lanes_in_mpi without = lanes_below(mpich("4.1"), 3, 2);
    EXPECT_FALSE(without.are_independent);
    EXPECT_THAT(without.message, HasSubstr("set MPIR_CVAR_CH4_NUM_VCIS=3 before MPI_Init"));
    const lanes_in_mpi of_four = lanes_below(mpich("4.1", "ch4:ofi", "--with-ch4-max-vcis=4"), 4, 2, 1);
    EXPECT_NE(of_four.message.find("4 network contexts, of which 1 are reserved"), std::string::npos)
        << of_four.message << ": to be told to ask for all four would make MPI_Init abort";
    EXPECT_TRUE(lanes_below(mpich("4.1"), 3, 3).are_independent);
    EXPECT_TRUE(lanes_below(mpich("5.0.2", "ch4:ucx ofi", "--with-device=ch4:ucx,ofi"), 3, 4).are_independent);
}

TEST(LanesBelow, NameWhatMustBeSetBeforeMpiInitAndNothingWhereThatWouldAbort) {
    const auto setting = setting_for_lanes(mpich("5.0.2"), 3, 0);
    ASSERT_TRUE(setting.has_value());
    EXPECT_EQ(setting->variable, "MPIR_CVAR_CH4_NUM_VCIS");
    EXPECT_EQ(setting->value, "3");
    EXPECT_TRUE(setting_for_lanes(mpich("4.1"), 2, 0).has_value());
    EXPECT_FALSE(setting_for_lanes(mpich("5.0.2"), 1, 0).has_value()) << "one lane needs nothing";
    EXPECT_TRUE(setting_for_lanes(mpich("5.0.2"), 16, 0).has_value());
    for (const int never : {17, 64, std::numeric_limits<int>::max()})
        EXPECT_FALSE(setting_for_lanes(mpich("5.0.2"), never, 0).has_value()) << "so many lanes are refused";
    EXPECT_FALSE(setting_for_lanes(mpich("4.0.2"), 2, 0).has_value());
    EXPECT_FALSE(setting_for_lanes(mpich("3.4"), 2, 0).has_value());
    EXPECT_FALSE(setting_for_lanes(openmpi(), 2, 0).has_value());
    EXPECT_FALSE(setting_for_lanes(intel(), 2, 0).has_value());
    EXPECT_FALSE(setting_for_lanes(mpi_name{}, 2, 0).has_value());
}

TEST(LanesBelow, AskForNothingWhereAnMpichWasConfiguredForOneContext) {
    EXPECT_FALSE(setting_for_lanes(mpich("4.2.3", "ch3:nemesis"), 2, 0).has_value());
    EXPECT_FALSE(lanes_below(mpich("4.2.3", "ch3:nemesis"), 2, 2).are_independent);
    for (const char* words : {"--enable-thread-cs=global", "'--prefix=/usr' '--enable-thread-cs=global' 'CC=cc'",
                              "--with-ch4-max-vcis=1", "'--with-ch4-max-vcis=1' 'CC=cc'", "--enable-threads=single"}) {
        EXPECT_FALSE(setting_for_lanes(mpich("4.2.3", "ch4:ofi", words), 2, 0).has_value()) << words;
        EXPECT_FALSE(lanes_below(mpich("4.2.3", "ch4:ofi", words), 2, 2).are_independent) << words;
    }
    for (const char* words : {"--with-ch4-max-vcis=16", "'--enable-thread-cs=per-vci' 'CC=cc'"})
        EXPECT_TRUE(setting_for_lanes(mpich("4.2.3", "ch4:ofi", words), 2, 0).has_value()) << words;
}

TEST(LanesBelow, AskForNoMoreContextsThanAnMpichIsMadeForAndCountWhatIsReserved) {
    const mpi_name of_two = mpich("4.2.3", "ch4:ofi", "'--with-ch4-max-vcis=2' 'CC=cc'");
    EXPECT_EQ(setting_for_lanes(of_two, 4, 0).value().value, "2");
    EXPECT_FALSE(setting_for_lanes(of_two, 4, 1).has_value()) << "one is left, which it has by itself";
    EXPECT_FALSE(setting_for_lanes(of_two, 4, 2).has_value());
    EXPECT_TRUE(lanes_below(of_two, 2, 2).are_independent);
    const lanes_in_mpi four = lanes_below(of_two, 4, 2);
    EXPECT_FALSE(four.are_independent);
    EXPECT_EQ(four.message, "4 lanes take turns in MPICH 4.2.3: it is made for 2 network contexts");

    EXPECT_EQ(setting_for_lanes(mpich("5.0.2"), 16, 60).value().value, "4") << "it is made for 64 if nobody says less";
    EXPECT_EQ(setting_for_lanes(mpich("5.0.2"), 2, -1).value().value, "2");
    const mpi_name twice = mpich("4.2.3", "ch4:ofi", "--with-ch4-max-vcis=1 --with-ch4-max-vcis=16");
    EXPECT_EQ(setting_for_lanes(twice, 16, 0).value().value, "16") << "the last of two words counts";
    const mpi_name of_none = mpich("4.2.3", "ch4:ofi", "--with-ch4-max-vcis=");
    EXPECT_EQ(setting_for_lanes(of_none, 16, 0).value().value, "16");
}

TEST(LanesBelow, AreRefusedWhereIntelsThreadSplitModelWouldAbort) {
    for (const char* on : {"1", "yes", "enable"})
        EXPECT_THAT(why_not_lanes(intel(), 2, on), HasSubstr(std::string{"I_MPI_THREAD_SPLIT="} + on + " has Intel"));
    for (const char* off : {"", "0", "no", "off", "disable"}) EXPECT_EQ(why_not_lanes(intel(), 2, off), "") << off;
    EXPECT_EQ(why_not_lanes(intel(), 2, nullptr), "");
    EXPECT_EQ(why_not_lanes(intel(), 1, "1"), "") << "one worker has the first context";
    EXPECT_EQ(why_not_lanes(mpich("5.0.2"), 2, "1"), "") << "it does not know the variable";
}

TEST(LanesBelow, SaysWhatIsKnownOfTheOthers) {
    EXPECT_THAT(lanes_below(openmpi(), 2, 0).message, HasSubstr("one lock"));
    EXPECT_THAT(lanes_below(intel(), 2, 0).message, HasSubstr("I_MPI_THREAD_SPLIT"));
    EXPECT_FALSE(lanes_below(intel(), 2, 2).are_independent);
    EXPECT_FALSE(lanes_below(mpi_name{}, 2, 0).are_independent);
}

} // namespace
} // namespace commtask::detail
