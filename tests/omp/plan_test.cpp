// SPDX-License-Identifier: Apache-2.0
//
// COMM_PLAN: a whole exchange as one OpenMP task. Its dependences hold it and its dependents, in many iterations; members are made
// ready by compute tasks; what cannot be is refused.
#include "omp_fixture.hpp"

#include <array>
#include <vector>

namespace {

[[maybe_unused]] testing::Environment* const started = testing::AddGlobalTestEnvironment(new omp_test::library);

constexpr std::size_t n_messages = 4;

class Plan : public omp_test::ring {
protected:
    void SetUp() override {
        ring::SetUp();
        ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
        for (std::size_t i = 0; i < n_messages; ++i) {
            const commtask_op receive = commtask_op_recv(&got_[i], 1, MPI_INT, left, static_cast<int>(i), comm);
            ASSERT_EQ(commtask_post_operation(&receive, nullptr, nullptr), COMMTASK_OK);
        }
        for (std::size_t i = 0; i < n_messages; ++i) {
            const commtask_op send = commtask_op_send(&sent_[i], 1, MPI_INT, right, static_cast<int>(i), comm);
            ASSERT_EQ(commtask_post_operation(&send, nullptr, nullptr), COMMTASK_OK);
        }
        ASSERT_EQ(commtask_record_end(&plan_), COMMTASK_OK) << commtask_last_error();
    }
    void TearDown() override {
        EXPECT_EQ(commtask_plan_release(&plan_), COMMTASK_OK) << commtask_last_error();
        ring::TearDown();
    }
    void fill(int step) {
        for (std::size_t i = 0; i < n_messages; ++i) sent_[i] = 1000 * step + 10 * rank + static_cast<int>(i);
    }
    int count_wrong(int step) const {
        int n_wrong = 0;
        for (std::size_t i = 0; i < n_messages; ++i) {
            n_wrong += got_[i] != 1000 * step + 10 * left + static_cast<int>(i) ? 1 : 0;
        }
        return n_wrong;
    }

    std::array<int, n_messages> sent_{};
    std::array<int, n_messages> got_{};
    commtask_plan_t plan_ = COMMTASK_PLAN_NULL;
};

TEST_F(Plan, StandsBetweenWhatFillsAndWhatUsesItsBuffers) {
    int n_wrong = 0;
#pragma omp parallel
#pragma omp single
    for (int step = 0; step < 50; ++step) {
        int* const edges = sent_.data();
        int* const ghosts = got_.data();
#pragma omp task depend(out : edges[0]) firstprivate(step)
        fill(step);
        COMM_PLAN(plan_, in(edges), out(ghosts));
#pragma omp task depend(in : ghosts[0]) firstprivate(step) shared(n_wrong)
        n_wrong += count_wrong(step);
    }
    EXPECT_EQ(n_wrong, 0);
}

TEST_F(Plan, NeedsNoClause) {
#pragma omp parallel
#pragma omp single
    {
        fill(7);
        COMM_PLAN(plan_);
#pragma omp taskwait
    }
    EXPECT_EQ(count_wrong(7), 0);
}

TEST_F(Plan, HasItsMembersMadeReadyByComputeTasks) {
    for (std::size_t i = n_messages; i < 2 * n_messages; ++i) {
        ASSERT_EQ(commtask_plan_defer(plan_, i), COMMTASK_OK);
    }
    int n_wrong = 0;
    int n_refused = 0;
#pragma omp parallel
#pragma omp single
    for (int step = 0; step < 20; ++step) {
        int* const ghosts = got_.data();
        // The tasks that fill a buffer come after the last exchange; they may run before this one was started.
        COMM_PLAN(plan_, inout(ghosts));
        for (std::size_t i = 0; i < n_messages; ++i) {
#pragma omp task firstprivate(step, i) shared(n_refused)
            {
                sent_[i] = 1000 * step + 10 * rank + static_cast<int>(i);
                if (commtask_plan_pready(plan_, n_messages + i) != COMMTASK_OK) {
#pragma omp atomic
                    ++n_refused;
                }
            }
        }
#pragma omp taskwait
        n_wrong += count_wrong(step);
    }
    EXPECT_EQ(n_wrong, 0);
    EXPECT_EQ(n_refused, 0);
}

TEST_F(Plan, ReleasesATaskByOneOfItsMembers) {
    // The last send waits for a task that waits for the first message alone: did it wait for the run, neither would end.
    constexpr std::size_t last = 2 * n_messages - 1;
    ASSERT_EQ(commtask_plan_defer(plan_, last), COMMTASK_OK);
    commtask_plan_t bell = COMMTASK_PLAN_NULL;
    ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
    const commtask_op nothing = commtask_op_noop(comm);
    ASSERT_EQ(commtask_post_operation(&nothing, nullptr, nullptr), COMMTASK_OK);
    ASSERT_EQ(commtask_record_end(&bell), COMMTASK_OK);
    ASSERT_EQ(commtask_plan_defer(bell, 0), COMMTASK_OK);
    const auto ring = [](std::size_t member, const commtask_status* /*status*/, void* rung) {
        if (member == 0) {
            EXPECT_EQ(commtask_plan_pready(static_cast<commtask_plan_t>(rung), 0), COMMTASK_OK);
        }
    };
    ASSERT_EQ(commtask_plan_on_member(plan_, +ring, bell), COMMTASK_OK);
    int n_wrong = 0;
    int n_refused = 0;
#pragma omp parallel
#pragma omp single
    for (int step = 0; step < 20; ++step) {
        fill(step);
        int* const first = got_.data();
        COMM_PLAN(bell, out(first));
        COMM_PLAN(plan_);
#pragma omp task depend(in : first[0]) firstprivate(step) shared(n_wrong, n_refused)
        {
            n_wrong += got_[0] != 1000 * step + 10 * left ? 1 : 0;
            n_refused += commtask_plan_pready(plan_, last) != COMMTASK_OK ? 1 : 0;
        }
#pragma omp taskwait
        n_wrong += count_wrong(step);
    }
    EXPECT_EQ(n_wrong, 0);
    EXPECT_EQ(n_refused, 0);
    EXPECT_EQ(commtask_plan_release(&bell), COMMTASK_OK) << commtask_last_error();
}

TEST_F(Plan, CannotBeRecordedFromTasksOfOpenMP) {
    commtask_plan_t none = COMMTASK_PLAN_NULL;
#pragma omp parallel
#pragma omp single
    {
        EXPECT_EQ(commtask_record_begin(), COMMTASK_OK);
        commtask_status status = COMMTASK_STATUS_INIT; // by which the program looks
        COMM_TASK(noop(comm), status(&status));
#pragma omp taskwait
        EXPECT_EQ(commtask_record_end(&none), COMMTASK_OK);
    }
    // In a team of one thread the task runs here and is refused; another thread of a larger team may have posted it.
    EXPECT_LE(commtask_omp_error_count(), 1U);
    commtask_omp_clear_errors();
    EXPECT_EQ(commtask_plan_size(none), 0U);
    EXPECT_EQ(commtask_plan_release(&none), COMMTASK_OK);
}

} // namespace
