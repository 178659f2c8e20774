// SPDX-License-Identifier: Apache-2.0
//
// What a user who asks for several lanes is told about his MPI: whether they go on side by side in it, and what would help. The
// MPIs are named as their own texts name them; none is there.
#include "mpi/lanes_below.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace commtask::detail {
namespace {

using testing::HasSubstr;

[[nodiscard]] mpi_name made(const char* family, const char* name, const char* version) {
    return {family, name, version, mpi_abi::unknown};
}

TEST(LanesBelow, TakeTurnsInAnMpichOfOneLock) {
    const lanes_in_mpi found = lanes_below(made("mpich", "MPICH", "4.0.2"), 2, 0);
    EXPECT_FALSE(found.are_independent);
    EXPECT_EQ(found.sentence, "2 lanes take turns in MPICH 4.0.2: it has one lock for all threads");
    EXPECT_FALSE(lanes_below(made("mpich", "MPICH", "4.0.2"), 2, 2).are_independent);
    EXPECT_FALSE(lanes_below(made("mpich", "MPICH", "3.4"), 2, 2).are_independent);
}

TEST(LanesBelow, AreIndependentInALaterMpichIfItHasAContextForEach) {
    const mpi_name mpich = made("mpich", "MPICH", "4.1");
    const lanes_in_mpi without = lanes_below(mpich, 3, 2);
    EXPECT_FALSE(without.are_independent);
    EXPECT_THAT(without.sentence, HasSubstr("set MPIR_CVAR_CH4_NUM_VCIS=3 before MPI_Init"));
    EXPECT_TRUE(lanes_below(mpich, 3, 3).are_independent);
    EXPECT_TRUE(lanes_below(made("mpich", "MPICH", "5.0.2"), 3, 4).are_independent);
}

TEST(LanesBelow, NameWhatMustBeSetBeforeMpiInitAndNothingWhereThatWouldAbort) {
    const auto setting = setting_for_lanes(made("mpich", "MPICH", "5.0.2"), 3);
    ASSERT_TRUE(setting.has_value());
    EXPECT_EQ(setting->variable, "MPIR_CVAR_CH4_NUM_VCIS");
    EXPECT_EQ(setting->value, "3");
    EXPECT_TRUE(setting_for_lanes(made("mpich", "MPICH", "4.1"), 2).has_value());
    EXPECT_FALSE(setting_for_lanes(made("mpich", "MPICH", "5.0.2"), 1).has_value()) << "one lane needs nothing";
    EXPECT_FALSE(setting_for_lanes(made("mpich", "MPICH", "4.0.2"), 2).has_value());
    EXPECT_FALSE(setting_for_lanes(made("mpich", "MPICH", "3.4"), 2).has_value());
    EXPECT_FALSE(setting_for_lanes(made("openmpi", "Open MPI", "5.0"), 2).has_value());
    EXPECT_FALSE(setting_for_lanes(made("intel", "Intel MPI", "2021.19"), 2).has_value());
    EXPECT_FALSE(setting_for_lanes(mpi_name{}, 2).has_value());
}

TEST(LanesBelow, SaysWhatIsKnownOfTheOthers) {
    EXPECT_THAT(lanes_below(made("openmpi", "Open MPI", "4.1.4"), 2, 0).sentence, HasSubstr("one lock"));
    EXPECT_THAT(lanes_below(made("intel", "Intel MPI", "2021.19"), 2, 0).sentence, HasSubstr("not known"));
    EXPECT_FALSE(lanes_below(mpi_name{}, 2, 0).are_independent);
}

} // namespace
} // namespace commtask::detail
