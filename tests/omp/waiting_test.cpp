// SPDX-License-Identifier: Apache-2.0
//
// A communication task that libomp holds back, since a compute task before it has not ended, is in the list of unfinished
// tasks, with the line where COMM_TASK stands. COMMTASK_SIGNAL=SIGUSR1 is set.
#include "listed.hpp"
#include "omp_fixture.hpp"

#include <atomic>
#include <string>
#include <thread>

namespace {

const auto* const library = testing::AddGlobalTestEnvironment(new omp_test::library);

class Waiting : public omp_test::ring {};

TEST_F(Waiting, TasksAreListedWithTheLineOfTheirMacro) {
    std::atomic<bool> may_end{false};
    int cell = 3;
    int received = 0;
    std::string list;
    const std::string created_at = ", created at waiting_test.cpp:";
    const std::string where = "; for the dependences of its OpenMP task\n";
    int line = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task depend(out : cell) shared(may_end, cell)
        {
            while (!may_end) std::this_thread::yield();
            cell = 4;
        }
        line = __LINE__ + 1;
        COMM_TASK(send(&cell, 1, MPI_INT, rank, 7, comm), in(&cell));
        COMM_TASK(recv(&received, 1, MPI_INT, rank, 7, comm), out(&received));
        list = omp_test::list_with(created_at + std::to_string(line) + where);
        may_end = true;
    }
    EXPECT_NE(list.find("unfinished, requested by a signal"), std::string::npos) << list;
    EXPECT_NE(list.find("send of 1 MPI_INT to rank " + std::to_string(rank) + ", tag 7"), std::string::npos) << list;
    EXPECT_EQ(received, 4);
}

} // namespace
