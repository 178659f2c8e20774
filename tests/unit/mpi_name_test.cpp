// SPDX-License-Identifier: Apache-2.0
//
// What is read from the text of MPI_Get_library_version, with the texts that real MPIs give: each writes its version in a
// way of its own, and those that build on MPICH mention it.
#include "mpi/name.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace commtask::detail {
namespace {

using testing::ElementsAre;

struct spoken {
    const char* text;
    const char* family;
    const char* name;
    const char* version;
    mpi_abi abi;
};

class MpiName : public testing::TestWithParam<spoken> {};

TEST_P(MpiName, IsReadFromWhatTheMpiSaysOfItself) {
    const mpi_name found = parse_mpi_name(GetParam().text);
    EXPECT_EQ(found.family, GetParam().family);
    EXPECT_EQ(found.name, GetParam().name);
    EXPECT_EQ(found.version, GetParam().version);
    EXPECT_EQ(found.abi, GetParam().abi);
}

INSTANTIATE_TEST_SUITE_P(
    Mpis, MpiName,
    testing::Values(
        spoken{"MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7 12:34:45 CDT 2022\n", "mpich", "MPICH", "4.0.2",
               mpi_abi::mpich},
        spoken{"MPICH Version:      5.0.2\nMPICH ABI:          18:2:6\n", "mpich", "MPICH", "5.0.2", mpi_abi::mpich},
        spoken{"Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022", "openmpi",
               "Open MPI", "4.1.4", mpi_abi::openmpi},
        spoken{"Intel(R) MPI Library 2021.19.0 for Linux* OS\n", "intel", "Intel MPI", "2021.19.0", mpi_abi::mpich},
        spoken{"MPI VERSION    : CRAY MPICH version 8.1.29.26 (ANL base 3.4a2)\nMPI BUILD INFO : x\n", "cray",
               "Cray MPICH", "8.1.29.26", mpi_abi::mpich},
        spoken{"MVAPICH2 Version      :\t2.3.7\nMVAPICH2 Release date :\tWed", "mvapich", "MVAPICH", "2.3.7",
               mpi_abi::mpich},
        spoken{"An MPI of 2040", "unknown", "an unknown MPI", "", mpi_abi::unknown},
        spoken{"", "unknown", "an unknown MPI", "", mpi_abi::unknown}));

TEST(MpiNames, HaveNumbersAsFarAsTheVersionHas) {
    EXPECT_THAT(parse_mpi_name("MPICH Version: 4.3.0rc2\n").numbers(), ElementsAre(4, 3, 0));
    EXPECT_THAT(parse_mpi_name("MPICH Version: 4.3\n").numbers(), ElementsAre(4, 3, 0));
    EXPECT_THAT(parse_mpi_name("no version").numbers(), ElementsAre(0, 0, 0));
}

TEST(MpiNames, AreTestedIfAnotherPatchReleaseIs) {
    const char* const tested = "mpich 4.0.2;mpich 5.0.2;intel 2021.19.0";
    EXPECT_TRUE(is_among_tested(parse_mpi_name("MPICH Version: 4.0.3\n"), tested));
    EXPECT_TRUE(is_among_tested(parse_mpi_name("MPICH Version: 5.0.2\n"), tested));
    EXPECT_FALSE(is_among_tested(parse_mpi_name("MPICH Version: 4.3.2\n"), tested));
    EXPECT_FALSE(is_among_tested(parse_mpi_name("MPICH Version: 14.0.2\n"), tested));
    EXPECT_FALSE(is_among_tested(parse_mpi_name("Intel(R) MPI Library 2021.1.0 for Linux\n"), tested));
    EXPECT_FALSE(is_among_tested(parse_mpi_name(""), tested));
}

} // namespace
} // namespace commtask::detail
