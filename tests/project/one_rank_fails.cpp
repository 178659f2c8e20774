// SPDX-License-Identifier: Apache-2.0
// A test that fails on rank 1 and passes on rank 0, with no communication of its own. The run must fail, by mpiexec:
// if it passed, a failure on a rank other than 0 could go unseen in every other MPI test.
#include <mpi.h>

#include <gtest/gtest.h>

TEST(MpiMain, FailsTheRunWhenOneRankFails) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    EXPECT_EQ(rank, 0) << "this failure is meant";
}
