// SPDX-License-Identifier: Apache-2.0
//
// A prepared task is a value, which firstprivate copies: from its preparation until it is started or dropped, once, it is in the
// list of unfinished tasks. COMMTASK_SIGNAL=SIGUSR1 is set.
#include "listed.hpp"
#include "omp_fixture.hpp"

#include <string>
#include <vector>

namespace {

const auto* const library = testing::AddGlobalTestEnvironment(new omp_test::library);

class WaitingPrepared : public omp_test::ring {};

TEST_F(WaitingPrepared, TasksAreListedUntilTheyStart) {
    int cell = 0;
    int received = 0;
    std::string list;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        omp_event_handle_t gate{};
        omp_event_handle_t event{};
#pragma omp task detach(gate) depend(out : cell) shared(cell)
        cell = 4;
        const commtask_omp_task send = commtask_omp_prepare_at(commtask_op_send(&cell, 1, MPI_INT, rank, 7, comm),
                                                               COMMTASK_NONE, nullptr, "folder/file.cpp", 12);
#pragma omp task untied detach(event) depend(in : cell) firstprivate(send)
        commtask_omp_start_prepared(&send, event);
        const commtask_omp_task receive =
            commtask_omp_prepare(commtask_op_recv(&received, 1, MPI_INT, rank, 7, comm), COMMTASK_NONE, nullptr);
#pragma omp task untied detach(event) depend(in : cell) depend(out : received) firstprivate(receive)
        commtask_omp_start_prepared(&receive, event);
        list = omp_test::list_with(", created at file.cpp:12; for the dependences of its OpenMP task\n");
        omp_fulfill_event(gate);
    }
    EXPECT_NE(list.find("2 tasks unfinished, requested by a signal"), std::string::npos) << list;
    EXPECT_NE(list.find("recv of 1 MPI_INT from rank " + std::to_string(rank) +
                        ", tag 7, MPI_COMM_WORLD; for the "
                        "dependences of its OpenMP task\n"),
              std::string::npos)
        << list;
    EXPECT_EQ(received, 4);
    ASSERT_EQ(commtask_omp_wait_all(), COMMTASK_OK);
    EXPECT_NE(omp_test::list_with("\n").find("no task is unfinished"), std::string::npos);
}

TEST_F(WaitingPrepared, TasksThatAreDroppedLeaveAloneWhoHasTheirPlaceLater) {
    const auto prepare = [&](int tag) {
        return commtask_omp_prepare(commtask_op_send(nullptr, 0, MPI_INT, rank, tag, comm), COMMTASK_NONE, nullptr);
    };
    const commtask_omp_task first = prepare(1);
    const commtask_omp_task copy = first;
    EXPECT_EQ(commtask_omp_drop(&first), COMMTASK_OK);
    const commtask_omp_task second = prepare(2);
    commtask_omp_drop(&copy); // by mistake, twice
    EXPECT_NE(omp_test::list_with("tag 2").find("1 task unfinished"), std::string::npos);
    EXPECT_EQ(commtask_omp_drop(&second), COMMTASK_OK);
    EXPECT_NE(omp_test::list_with("\n").find("no task is unfinished"), std::string::npos);
}

TEST_F(WaitingPrepared, ManyMayBeDroppedInAnyOrder) {
    std::vector<commtask_omp_task> tasks;
    for (int i = 0; i < 30; ++i) {
        tasks.push_back(commtask_omp_prepare(commtask_op_noop(comm), COMMTASK_NONE, nullptr));
    }
    for (std::size_t i = 0; i < tasks.size(); i += 2) EXPECT_EQ(commtask_omp_drop(&tasks[i]), COMMTASK_OK);
    EXPECT_NE(omp_test::list_with("signal").find("15 tasks unfinished"), std::string::npos);
    for (std::size_t i = 1; i < tasks.size(); i += 2) EXPECT_EQ(commtask_omp_drop(&tasks[i]), COMMTASK_OK);
    EXPECT_NE(omp_test::list_with("\n").find("no task is unfinished"), std::string::npos);
}

} // namespace
