// SPDX-License-Identifier: Apache-2.0
//
// Scenarios about plans and the end of the library: a run that waits for members that nobody makes ready is listed and given up,
// and plans that the program left are given back.
#include "scenario.hpp"

namespace commtask::test {
namespace {

int numbers[4];

void record_send(int i, const commtask_options* how = nullptr, commtask_t* task = nullptr) {
    const commtask_op send = commtask_op_send(&numbers[i], 1, MPI_INT, i == 0 ? MPI_PROC_NULL : 0, i, MPI_COMM_SELF);
    CHECK(commtask_post(&send, how, task) == COMMTASK_OK);
}

} // namespace

void finalize_half_ready() {
    begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    commtask_plan_t half_ready = COMMTASK_PLAN_NULL;
    commtask_t second = COMMTASK_NULL;
    CHECK(commtask_record_begin() == COMMTASK_OK);
    record_send(0);
    record_send(1, nullptr, &second);
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.after = &second;
    how.n_after = 1;
    record_send(2, &how);
    CHECK(commtask_record_end(&half_ready) == COMMTASK_OK);
    CHECK(commtask_release(&second) == COMMTASK_OK);
    CHECK(commtask_plan_hold(half_ready, 0) == COMMTASK_OK);
    CHECK(commtask_plan_hold(half_ready, 1) == COMMTASK_OK);

    commtask_plan_t idle = COMMTASK_PLAN_NULL; // given back by commtask_finalize
    CHECK(commtask_record_begin() == COMMTASK_OK);
    record_send(3);
    CHECK(commtask_record_end(&idle) == COMMTASK_OK);

    CHECK(commtask_plan_start(half_ready, nullptr, nullptr) == COMMTASK_OK);
    CHECK(commtask_plan_ready(half_ready, 0) == COMMTASK_OK);
    while (commtask_plan_arrived(half_ready, 0) == 0) {}
    CHECK(commtask_finalize() == COMMTASK_ERR_UNFINISHED);
    CHECK(commtask_plan_ready(half_ready, 1) == COMMTASK_ERR_NOT_INITIALIZED);

    CHECK(commtask_init(nullptr) == COMMTASK_OK); // the library may be started again
    CHECK(commtask_record_begin() == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_OK);
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    CHECK(commtask_record_end(&idle) == COMMTASK_ERR_ARGUMENT);
    CHECK(last_error_names("before commtask_finalize"));
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

} // namespace commtask::test
