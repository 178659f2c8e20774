// SPDX-License-Identifier: Apache-2.0
//
// Scenarios about windows and the end of the library: what waits on one is listed in words of its own, and a window that is
// still registered is warned of; its epoch is the program's to end then.
#include "scenario.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace commtask::test {
namespace {

/// Whether a thread of this process has that name.
bool has_thread(const char* name) {
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string its;
        std::getline(std::ifstream(each.path() / "comm"), its);
        if (its == name) return true;
    }
    return false;
}

} // namespace

void finalize_window() {
    begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    MPI_Win window = window_of_halos(MPI_COMM_WORLD);
    CHECK(commtask_win_register(window, MPI_COMM_WORLD) == COMMTASK_OK);

    static double values[2];
    commtask_t awaiting = COMMTASK_NULL;
    CHECK(commtask_post(commtask_op_await_notify(7, 2, 0, window), nullptr, &awaiting) == COMMTASK_OK);
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.after = &awaiting;
    how.n_after = 1;
    CHECK(commtask_post(commtask_op_put(values, 2, MPI_DOUBLE, 0, 16, 2, MPI_DOUBLE, window), &how, nullptr) ==
          COMMTASK_OK);
    MPI_File file = MPI_FILE_NULL;
    CHECK(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    CHECK(commtask_post(commtask_op_file_write_at(32, values, 2, MPI_DOUBLE, file, MPI_COMM_SELF), &how, nullptr) ==
          COMMTASK_OK);
    CHECK(commtask_win_unregister(window) == COMMTASK_ERR_RUNNING);
    CHECK(last_error_names("2 tasks of halos"));
    CHECK(commtask_release(&awaiting) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_ERR_UNFINISHED);
    CHECK(MPI_File_close(&file) == MPI_SUCCESS);
    CHECK(MPI_Win_unlock_all(window) == MPI_SUCCESS);
    CHECK(MPI_Win_free(&window) == MPI_SUCCESS);
    MPI_Finalize();
}

void finalize_epoch() {
    const int rank = begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    MPI_Win window = window_of_halos(MPI_COMM_WORLD);
    CHECK(commtask_win_register_epochs(window, MPI_COMM_WORLD) == COMMTASK_OK);
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Group other = MPI_GROUP_NULL;
    const int other_rank = 1 - rank;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &other_rank, &other);
    if (rank == 0) {
        CHECK(commtask_post(commtask_op_win_post(other, 0, window), nullptr, nullptr) == COMMTASK_OK);
        CHECK(commtask_post(commtask_op_win_wait(window), nullptr, nullptr) == COMMTASK_OK);
        CHECK(commtask_finalize() == COMMTASK_ERR_UNFINISHED);
    } else {
        CHECK(commtask_finalize() == COMMTASK_OK);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) { // rank 0's thread comes back from MPI; nobody waits for it any more
        CHECK(MPI_Win_start(other, 0, window) == MPI_SUCCESS);
        CHECK(MPI_Win_complete(window) == MPI_SUCCESS);
    }
    MPI_Group_free(&other);
    MPI_Group_free(&world);
    // Open MPI frees a window that a thread of the process still waits on.
    while (has_thread("commtask-window")) std::this_thread::yield();
    MPI_Barrier(MPI_COMM_WORLD);
    while (MPI_Win_free(&window) != MPI_SUCCESS) std::this_thread::yield(); // refused until then
    MPI_Finalize();
}

// Of two files nobody would know which a task is on without the handle; scenario_test.py says "go on" when it has seen both.
void watchdog_window() {
    begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    MPI_Win window = window_of_halos(MPI_COMM_SELF);
    CHECK(commtask_win_register(window, MPI_COMM_SELF) == COMMTASK_OK);
    MPI_File files[2];
    for (MPI_File& each : files) {
        CHECK(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &each) == MPI_SUCCESS);
    }
    std::fprintf(stderr, "files %p and %p\n", static_cast<void*>(files[0]), static_cast<void*>(files[1]));

    static double values[2];
    commtask_t tasks[3];
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.after = tasks;
    how.n_after = 1;
    CHECK(commtask_post(commtask_op_await_notify(7, 1, 0, window), nullptr, &tasks[0]) == COMMTASK_OK);
    CHECK(commtask_post(commtask_op_file_write_at(0, values, 2, MPI_DOUBLE, files[0], MPI_COMM_SELF), &how,
                        &tasks[1]) == COMMTASK_OK);
    CHECK(commtask_post(commtask_op_file_write_at(8, values, 1, MPI_DOUBLE, files[1], MPI_COMM_SELF), &how,
                        &tasks[2]) == COMMTASK_OK);
    wait_for_go_on();
    CHECK(commtask_post(commtask_op_put_notify(values, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, 7, window), nullptr,
                        nullptr) == COMMTASK_OK);
    for (commtask_t& each : tasks) CHECK(commtask_wait(&each, nullptr) == COMMTASK_OK);
    for (MPI_File& each : files) CHECK(commtask_file_close(&each, MPI_COMM_SELF) == COMMTASK_OK);
    CHECK(commtask_win_unregister(window) == COMMTASK_OK);
    CHECK(MPI_Win_free(&window) == MPI_SUCCESS);
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

} // namespace commtask::test
