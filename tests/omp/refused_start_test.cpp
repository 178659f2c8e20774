// SPDX-License-Identifier: Apache-2.0
//
// A program that goes on although commtask_init was refused: what OpenMP's tasks say then has the rank, as the refusal has, and why.
// A program of its own, since the rank is known to one that was started before.
#include "omp_fixture.hpp"

#include <string>

namespace {

class RefusedStart : public omp_test::ring {
protected:
    void TearDown() override { commtask_omp_clear_errors(); }
};

TEST_F(RefusedStart, IsTheReasonOfLaterRefusalsInLinesThatNameTheRank) {
    commtask_config config = COMMTASK_CONFIG_INIT;
    config.idle = "reservd";
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN); // nobody looks
    ASSERT_EQ(commtask_init(&config), COMMTASK_ERR_CONFIG);
    testing::internal::CaptureStderr();
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    COMM_TASK(barrier(comm));
    const std::string printed = testing::internal::GetCapturedStderr();
    const std::string sentence =
        "commtask: rank " + std::to_string(rank) + ": barrier, MPI_COMM_WORLD was refused: commtask_init was refused: ";
    EXPECT_EQ(printed.find(sentence), 0U) << printed;
    EXPECT_NE(printed.find("reservd"), std::string::npos) << printed;
}

} // namespace
