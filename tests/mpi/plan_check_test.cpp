// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.plans: with COMMTASK_PLAN_CHECK=1 what a program would post is compared with its plan, and the first difference is
// named, whichever it is.
#include "plan_fixture.hpp"

#include <array>
#include <cstdlib>
#include <cstring>

namespace commtask::test {
namespace {

class PlanCheck : public Runtime {
protected:
    void SetUp() override {
        setenv("COMMTASK_PLAN_CHECK", "1", 1);
        Runtime::SetUp();
    }
    void TearDown() override {
        Runtime::TearDown();
        unsetenv("COMMTASK_PLAN_CHECK");
    }
    /// What commtask_record_check says of a recording.
    template <typename Body>
    static int check(const plan& against, Body&& body) {
        EXPECT_EQ(commtask_record_begin(), COMMTASK_OK) << commtask_last_error();
        body();
        return commtask_record_check(against.get());
    }
};

TEST_F(PlanCheck, NamesTheFirstDifference) {
    EXPECT_EQ(commtask_plan_is_checked(), 1);
    std::array<int, 8> data{};
    std::array<int, 8> other{};
    const auto send = [&](int count, int tag, int* from) {
        post_detached(commtask_op_send(from, count, MPI_INT, MPI_PROC_NULL, tag, comm_));
    };
    const auto right = [&] {
        send(3, 1, data.data());
        commtask_t first = post(commtask_op_recv(data.data(), 2, MPI_INT, MPI_PROC_NULL, 5, comm_));
        options how;
        post_detached(commtask_op_allreduce(&data[3], &data[4], 1, MPI_INT, MPI_SUM, comm_), how.after({first}).get());
        EXPECT_EQ(commtask_release(&first), COMMTASK_OK);
    };
    plan made{right};
    EXPECT_EQ(check(made, right), COMMTASK_OK) << commtask_last_error();
    const auto expect = [&](const char* words, auto&& body) {
        EXPECT_EQ(check(made, body), COMMTASK_ERR_ARGUMENT);
        EXPECT_NE(std::strstr(commtask_last_error(), words), nullptr) << commtask_last_error();
    };
    expect("member 0 (send): send count 4 where the plan has 3", [&] { send(4, 1, data.data()); });
    expect("member 0 (send): send tag 2 where the plan has 1", [&] { send(3, 2, data.data()); });
    expect("member 0 (send): another send buffer", [&] { send(3, 1, other.data()); });
    expect("member 0 (send): barrier where the plan has send", [&] { post_detached(commtask_op_barrier(comm_)); });
    expect("number of members: 1 where the plan has 3", [&] { send(3, 1, data.data()); });
    expect("member 2 (allreduce): other predecessors", [&] {
        send(3, 1, data.data());
        post_detached(commtask_op_recv(data.data(), 2, MPI_INT, MPI_PROC_NULL, 5, comm_));
        post_detached(commtask_op_allreduce(&data[3], &data[4], 1, MPI_INT, MPI_SUM, comm_));
    });
    EXPECT_EQ(commtask_plan_rebind(made.get(), 0, other.data(), nullptr), COMMTASK_OK);
    expect("member 0 (send): another send buffer", right);
    EXPECT_EQ(commtask_record_check(made.get()), COMMTASK_ERR_ARGUMENT) << "nothing is recorded";
    made.run();
}

} // namespace
} // namespace commtask::test
