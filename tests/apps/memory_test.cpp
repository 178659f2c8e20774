// SPDX-License-Identifier: Apache-2.0
// The ranks of these tests are on one node, so that their needs are summed up. What is available is given, not asked for:
// the machine that runs this may have any memory.
#include "common/memory.hpp"

#include <gmock/gmock.h>

#include <mpi.h>

namespace {

using namespace miniapp;
using testing::HasSubstr;

int size() {
    int n_ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    return n_ranks;
}

int own_rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

TEST(Memory, OfANodeIsSharedByItsRanks) {
    const memory_need each{3e9, "lattice 8.8.8.8", "use less"};
    EXPECT_EQ(refuse_memory(each, 3e9 * size(), MPI_COMM_WORLD), "");
    const std::string no = refuse_memory(each, 3e9 * size() - 1e9, MPI_COMM_WORLD);
    EXPECT_THAT(no, HasSubstr("lattice 8.8.8.8 needs " + bytes_text(3e9 * size()) + " on node "));
    EXPECT_THAT(no, HasSubstr("(" + std::to_string(size()) + " rank"));
    EXPECT_THAT(no, HasSubstr("but " + bytes_text(3e9 * size() - 1e9) + " are available there; use less."));
}

TEST(Memory, ThatOneRankNeedsAloneIsCounted) {
    const memory_need need{own_rank() == size() - 1 ? 5e9 : 1e9, "the check", "use less"};
    const double all = 5e9 + 1e9 * (size() - 1);
    EXPECT_EQ(refuse_memory(need, all, MPI_COMM_WORLD), "");
    EXPECT_THAT(refuse_memory(need, all * 0.9, MPI_COMM_WORLD), HasSubstr(bytes_text(all)));
}

TEST(Memory, IsWhatTheRankWithTheLeastSees) {
    const memory_need need{1e9, "the check", "use less"};
    const double seen = own_rank() == 0 ? 0.5e9 : 1e12;
    EXPECT_THAT(refuse_memory(need, seen, MPI_COMM_WORLD), HasSubstr("0.5 GB are available"));
}

TEST(Memory, OfThisMachineIsKnown) {
    EXPECT_GT(available_memory_bytes(), 1e6);
    EXPECT_LT(available_memory_bytes(), 1e15);
    EXPECT_GT(address_space_left_bytes(), 0);
}

} // namespace
