// SPDX-License-Identifier: Apache-2.0
//
// A task that is refused is never silent. Its peers wait for what was never posted, so the program may hang before it
// can look at a status or count errors: a sentence stands on stderr, with the line of the program where it is known.
#include "mpi_facts.hpp"
#include "omp_fixture.hpp"

#include <array>
#include <cstring>
#include <string>

namespace {

const auto* const library = testing::AddGlobalTestEnvironment(new omp_test::library_of_failures);

class Refusals : public omp_test::ring {
protected:
    void TearDown() override { commtask_omp_clear_errors(); }

    /// What is printed while `create` runs as the one task of a region, and what it makes.
    template <typename Create>
    std::string printed_by(Create create) {
        testing::internal::CaptureStderr();
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        create();
        return testing::internal::GetCapturedStderr();
    }
    static std::size_t count(const std::string& text, const std::string& word) {
        std::size_t n = 0;
        for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
        return n;
    }

    std::array<int, 4> cell{};
    commtask_status status = COMMTASK_STATUS_INIT;
};

TEST_F(Refusals, ArePrintedAlsoWhereAStatusIsWithTheLineOfTheMacro) {
    int line = 0;
    const std::string printed = printed_by([&] {
        for (int i = 0; i < 2; ++i) {
            line = __LINE__ + 1;
            COMM_TASK(send(cell.data(), 1, MPI_INT, n_ranks, 0, comm), in(&cell), status(&status));
        }
    });
    EXPECT_EQ(count(printed,
                    "send of 1 MPI_INT to rank " + std::to_string(n_ranks) + ", tag 0, MPI_COMM_WORLD was refused: "),
              2U)
        << printed;
    EXPECT_EQ(count(printed, "refusals_test.cpp:" + std::to_string(line) + ")"), 2U) << printed;
    EXPECT_EQ(status.state, COMMTASK_STATE_FAILED);
    EXPECT_EQ(commtask_omp_error_count(), 2U);
}

TEST_F(Refusals, OfAPlanThatRunsHaveTheLineToo) {
    commtask_plan_t plan = COMMTASK_PLAN_NULL;
    ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
    const commtask_op nothing = commtask_op_noop(comm);
    ASSERT_EQ(commtask_post_operation(&nothing, nullptr, nullptr), COMMTASK_OK);
    ASSERT_EQ(commtask_record_end(&plan), COMMTASK_OK) << commtask_last_error();
    ASSERT_EQ(commtask_plan_defer(plan, 0), COMMTASK_OK);
    commtask_t run = COMMTASK_NULL;
    ASSERT_EQ(commtask_plan_start(plan, nullptr, &run), COMMTASK_OK);
    int line = 0;
    const std::string printed = printed_by([&] {
        line = __LINE__ + 1;
        COMM_PLAN(plan, status(&status));
    });
    EXPECT_EQ(count(printed, "plan was refused: the plan's last run has not ended"), 1U) << printed;
    EXPECT_EQ(count(printed, "refusals_test.cpp:" + std::to_string(line) + ")"), 1U) << printed;
    EXPECT_EQ(status.state, COMMTASK_STATE_FAILED);
    EXPECT_EQ(commtask_omp_error_count(), 1U);
    EXPECT_EQ(commtask_plan_pready(plan, 0), COMMTASK_OK);
    EXPECT_EQ(commtask_wait(&run, nullptr), COMMTASK_OK);
    EXPECT_EQ(commtask_plan_release(&plan), COMMTASK_OK) << commtask_last_error();
}

TEST_F(Refusals, OfAPlaceInTheOrderHaveTheLineToo) {
    const MPI_Comm none = MPI_COMM_NULL;
    const std::string printed = printed_by([&] { EXPECT_EQ(COMM_TASK(barrier(none)), COMMTASK_ERR_COMM); });
    EXPECT_EQ(count(printed, "refusals_test.cpp:"), 1U) << printed;
}

TEST_F(Refusals, OfWhatWasPostedAreTheStatussToTell) {
    if (!commtask::test::sees_truncation(n_ranks)) GTEST_SKIP() << "this MPI does not check messages to oneself";
    const std::array<int, 4> much{1, 2, 3, 4};
    const std::string printed = printed_by([&] {
        COMM_TASK(recv(cell.data(), 1, MPI_INT, left, 0, comm), out(&cell), status(&status));
        COMM_TASK(send(much.data(), 4, MPI_INT, right, 0, comm), in(&much));
    });
    EXPECT_EQ(status.error_class, MPI_ERR_TRUNCATE);
    EXPECT_EQ(count(printed, "recv of"), 0U) << printed;
}

TEST_F(Refusals, AStatusOfTheMacroNeedsNoInitialiser) {
    commtask_status left_alone;
    std::memset(&left_alone, 0, sizeof left_alone);
    commtask_status garbage;
    std::memset(&garbage, 1, sizeof garbage);
    garbage.struct_size = 1;
    const std::string printed = printed_by([&] {
        COMM_TASK(recv(cell.data(), 1, MPI_INT, left, 0, comm), out(&cell), status(&left_alone));
        COMM_TASK(send(&rank, 1, MPI_INT, right, 0, comm), status(&garbage));
    });
    EXPECT_EQ(printed, "");
    EXPECT_EQ(cell[0], left);
    EXPECT_EQ(left_alone.state, COMMTASK_STATE_COMPLETED);
    EXPECT_EQ(left_alone.source, left);
    EXPECT_EQ(garbage.state, COMMTASK_STATE_COMPLETED);
}

TEST_F(Refusals, OfAStatusWithoutItsSizeComeWhenTheTaskIsCreated) {
    commtask_status unsized;
    std::memset(&unsized, 0, sizeof unsized);
    commtask_omp_options options = COMMTASK_OMP_OPTIONS_INIT;
    options.status = &unsized;
    const commtask_op barrier = commtask_op_barrier(comm);
    const std::string printed = printed_by([&] {
        EXPECT_EQ(commtask_omp_spawn(&barrier, &options, 0, nullptr, 0, nullptr, 0, nullptr), COMMTASK_ERR_ARGUMENT);
    });
    EXPECT_EQ(count(printed, "COMMTASK_STATUS_INIT"), 1U) << printed;
    EXPECT_EQ(unsized.state, COMMTASK_STATE_FAILED);
}

TEST_F(Refusals, OfOptionsNameWhatWouldBeRight) {
    const commtask_op barrier = commtask_op_barrier(comm);
    const auto refuse = [&](const commtask_omp_options& options) {
        return printed_by([&] {
            EXPECT_EQ(commtask_omp_spawn(&barrier, &options, 0, nullptr, 0, nullptr, 0, nullptr),
                      COMMTASK_ERR_ARGUMENT);
        });
    };
    commtask_omp_options options{};
    EXPECT_EQ(count(refuse(options), "COMMTASK_OMP_OPTIONS_INIT"), 1U);
    commtask_omp_clear_errors();
    options = COMMTASK_OMP_OPTIONS_INIT;
    options.flags = COMMTASK_TRY;
    EXPECT_EQ(count(refuse(options), "COMMTASK_ORDERED, COMMTASK_UNORDERED or COMMTASK_NONE"), 1U);
    commtask_omp_clear_errors();
    const std::string both = printed_by([&] { COMM_TASK(barrier(comm), ordered, unordered); });
    EXPECT_EQ(count(both, "COMMTASK_ORDERED and COMMTASK_UNORDERED: set"), 1U) << both;
}

} // namespace
