// SPDX-License-Identifier: Apache-2.0
//
// While a window is registered the worker is in MPI; after commtask_win_unregister it must not be, since a program with
// MPI_THREAD_SERIALIZED goes on to free the window. This program's MPI_Test, with which an attentive worker looks, tells whether the
// two have met.
#include "one_sided_test.hpp"

#include <atomic>
#include <thread>

namespace {

std::atomic<std::thread::id> program;
std::atomic<bool> program_is_in_mpi{false};
std::atomic<bool> worker_is_in_mpi{false};
std::atomic<int> n_looks{0};
std::atomic<int> n_met{0};

} // namespace

extern "C" [[gnu::visibility("default")]] int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    if (std::this_thread::get_id() == program.load()) return PMPI_Test(request, flag, status);
    worker_is_in_mpi = true;
    ++n_looks;
    const int code = PMPI_Test(request, flag, status);
    for (int i = 0; i < 100; ++i) std::this_thread::yield(); // a long look
    if (program_is_in_mpi) ++n_met;
    worker_is_in_mpi = false;
    return code;
}

namespace commtask::test {
namespace {

TEST_F(OneSided, AfterTheLastWindowWasUnregisteredTheWorkerIsOutOfMpi) {
    program = std::this_thread::get_id();
    n_looks = 0;
    for (int round = 0; round < 30; ++round) {
        while (n_looks <= round) std::this_thread::yield(); // it attends
        ASSERT_EQ(commtask_win_unregister(window_), COMMTASK_OK) << commtask_last_error();
        program_is_in_mpi = true;
        if (worker_is_in_mpi) ++n_met;
        MPI_Win_set_name(window_, "between");
        MPI_Barrier(comm_);
        program_is_in_mpi = false;
        ASSERT_EQ(commtask_win_register(window_, comm_), COMMTASK_OK) << commtask_last_error();
    }
    EXPECT_EQ(n_met, 0) << "calls of MPI by two threads at once";
}

} // namespace
} // namespace commtask::test
