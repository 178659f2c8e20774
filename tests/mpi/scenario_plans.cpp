// SPDX-License-Identifier: Apache-2.0
//
// Scenarios about plans and the end of the library: a run that waits for members that nobody makes ready is listed and given up, on
// the rank that leaves with it and on the one that waits for its message; and plans that the program left are given back, or left to a
// worker that does not return.
#include "scenario.hpp"

#include <initializer_list>

namespace commtask::test {
namespace {

int numbers[4];

void record_send(int i, const commtask_options* how = nullptr, commtask_t* task = nullptr) {
    const commtask_op send = commtask_op_send(&numbers[i], 1, MPI_INT, i == 0 ? MPI_PROC_NULL : 0, i, MPI_COMM_SELF);
    CHECK(commtask_post_operation(&send, how, task) == COMMTASK_OK);
}

void record_send_after(int i, commtask_t predecessor) {
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.after = &predecessor;
    how.n_after = 1;
    record_send(i, &how);
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
    record_send_after(2, second);
    CHECK(commtask_record_end(&half_ready) == COMMTASK_OK);
    CHECK(commtask_release(&second) == COMMTASK_OK);
    CHECK(commtask_plan_defer(half_ready, 0) == COMMTASK_OK);
    CHECK(commtask_plan_defer(half_ready, 1) == COMMTASK_OK);

    commtask_plan_t idle = COMMTASK_PLAN_NULL; // given back by commtask_finalize
    CHECK(commtask_record_begin() == COMMTASK_OK);
    record_send(3);
    CHECK(commtask_record_end(&idle) == COMMTASK_OK);

    commtask_plan_t partly_filled = COMMTASK_PLAN_NULL; // two partitions, which are one message
    CHECK(commtask_record_begin() == COMMTASK_OK);
    CHECK(commtask_post(commtask_op_psend(numbers, 2, 2, MPI_INT, 0, 4, MPI_COMM_SELF), nullptr, nullptr) ==
          COMMTASK_OK);
    CHECK(commtask_record_end(&partly_filled) == COMMTASK_OK);
    CHECK(commtask_plan_start(partly_filled, nullptr, nullptr) == COMMTASK_OK);
    CHECK(commtask_plan_pready_range(partly_filled, 0, 1, 1) == COMMTASK_OK);

    CHECK(commtask_plan_start(half_ready, nullptr, nullptr) == COMMTASK_OK);
    CHECK(commtask_plan_pready(half_ready, 0) == COMMTASK_OK);
    while (commtask_plan_parrived(half_ready, 0, COMMTASK_ALL_PARTITIONS) == 0) {}
    CHECK(commtask_finalize() == COMMTASK_ERR_UNFINISHED);
    CHECK(commtask_plan_pready(half_ready, 1) == COMMTASK_ERR_NOT_INITIALIZED);

    CHECK(commtask_init(nullptr) == COMMTASK_OK); // the library may be started again
    CHECK(commtask_record_begin() == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_OK);
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    CHECK(commtask_record_end(&idle) == COMMTASK_ERR_ARGUMENT);
    CHECK(last_error_names("before commtask_finalize"));
    CHECK(commtask_finalize() == COMMTASK_OK);
    for (commtask_plan_t* const each : {&idle, &half_ready, &partly_filled})
        CHECK(commtask_plan_release(each) == COMMTASK_OK);
    MPI_Finalize();
}

namespace {

void expect_only_release(commtask_plan_t& stale) {
    const auto is_refused = [](int code) {
        return code == COMMTASK_ERR_ARGUMENT && last_error_names("before commtask_finalize");
    };
    commtask_t none = COMMTASK_NULL;
    CHECK(is_refused(commtask_plan_start(stale, nullptr, &none)));
    CHECK(is_refused(commtask_plan_rebind(stale, 0, numbers, nullptr)));
    CHECK(is_refused(commtask_plan_defer(stale, 0)));
    CHECK(is_refused(commtask_plan_pready(stale, 0)));
    CHECK(is_refused(commtask_plan_pready_range(stale, 0, 0, 1)));
    CHECK(is_refused(commtask_plan_parrived(stale, 0, 0)));
    CHECK(is_refused(commtask_plan_parrived(stale, 0, COMMTASK_ALL_PARTITIONS)));
    CHECK(is_refused(commtask_plan_member(stale, 0, &none)));
    CHECK(is_refused(commtask_plan_on_member(stale, nullptr, nullptr)));
    CHECK(commtask_record_begin() == COMMTASK_OK);
    CHECK(is_refused(commtask_record_check(stale)));
    CHECK(commtask_record_end(nullptr) == COMMTASK_ERR_ARGUMENT); // the recording is over
    CHECK(none == COMMTASK_NULL);
    CHECK(commtask_plan_size(stale) == 0);
    CHECK(commtask_plan_release(&stale) == COMMTASK_OK);
    CHECK(stale == COMMTASK_PLAN_NULL);
}

[[nodiscard]] commtask_plan_t record_two_sends() {
    commtask_plan_t made = COMMTASK_PLAN_NULL;
    CHECK(commtask_record_begin() == COMMTASK_OK);
    for (int i = 0; i < 2; ++i) record_send(0);
    CHECK(commtask_record_end(&made) == COMMTASK_OK);
    return made;
}

} // namespace

// Handles that were left to commtask_finalize: of a plan without a run, and of one whose run was given up.
void stale_plans() {
    begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    commtask_plan_t idle = record_two_sends();
    commtask_plan_t given_up = record_two_sends();
    CHECK(commtask_plan_defer(given_up, 1) == COMMTASK_OK);
    CHECK(commtask_plan_start(given_up, nullptr, nullptr) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_ERR_UNFINISHED);
    CHECK(commtask_plan_start(idle, nullptr, nullptr) == COMMTASK_ERR_NOT_INITIALIZED);

    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    commtask_plan_t fresh = record_two_sends();
    CHECK(fresh != idle && fresh != given_up); // else the old handle would be good for the new plan
    expect_only_release(idle);
    expect_only_release(given_up);
    commtask_t run = COMMTASK_NULL;
    CHECK(commtask_plan_start(fresh, nullptr, &run) == COMMTASK_OK);
    CHECK(commtask_wait(&run, nullptr) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_OK);
    CHECK(commtask_plan_release(&fresh) == COMMTASK_OK); // without the library, too
    MPI_Finalize();
}

// A worker that does not return may be inside MPI with a member: nobody starts these plans any more, their handles can be given back
// all the same, and the worker still finds what it had in hand.
void finalize_leaves_plans() {
    begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    commtask_plan_t idle = record_two_sends();
    commtask_plan_t early = record_two_sends();
    commtask_plan_t stuck = COMMTASK_PLAN_NULL;
    CHECK(commtask_record_begin() == COMMTASK_OK);
    CHECK(commtask_post(commtask_op_call(wait_for_leave, nullptr, MPI_COMM_SELF), nullptr, nullptr) == COMMTASK_OK);
    record_send(0);
    CHECK(commtask_record_end(&stuck) == COMMTASK_OK);
    CHECK(commtask_plan_defer(idle, 0) == COMMTASK_OK);
    CHECK(commtask_plan_start(stuck, nullptr, nullptr) == COMMTASK_OK);
    await_its_begin();
    CHECK(commtask_finalize() == COMMTASK_ERR_UNFINISHED);
    CHECK(last_error_names("does not return"));
    CHECK(commtask_plan_release(&early) == COMMTASK_OK);
    CHECK(early == COMMTASK_PLAN_NULL);

    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    expect_only_release(idle);
    expect_only_release(stuck);
    give_leave();
    commtask_plan_t fresh = record_two_sends();
    commtask_t run = COMMTASK_NULL;
    CHECK(commtask_plan_start(fresh, nullptr, &run) == COMMTASK_OK);
    CHECK(commtask_wait(&run, nullptr) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_OK);
    CHECK(commtask_plan_release(&fresh) == COMMTASK_OK);
    MPI_Finalize();
}

// Rank 1 leaves in the middle of the second run, with its send not ready.
void peer_leaves_in_a_run() {
    const int rank = begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    commtask_plan_t exchange = COMMTASK_PLAN_NULL;
    commtask_t receive = COMMTASK_NULL;
    CHECK(commtask_record_begin() == COMMTASK_OK);
    const commtask_op from_other = commtask_op_recv(&numbers[0], 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD);
    CHECK(commtask_post_operation(&from_other, nullptr, &receive) == COMMTASK_OK);
    const commtask_op to_other = commtask_op_send(&numbers[1], 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD);
    CHECK(commtask_post_operation(&to_other, nullptr, nullptr) == COMMTASK_OK);
    record_send_after(0, receive);
    CHECK(commtask_record_end(&exchange) == COMMTASK_OK);
    CHECK(commtask_release(&receive) == COMMTASK_OK);
    CHECK(commtask_plan_defer(exchange, 1) == COMMTASK_OK);
    commtask_t run = COMMTASK_NULL;
    for (int step = 0; step < 2; ++step) {
        numbers[1] = 10 * step + rank;
        CHECK(commtask_plan_start(exchange, nullptr, &run) == COMMTASK_OK);
        if (step == 1) break;
        CHECK(commtask_plan_pready(exchange, 1) == COMMTASK_OK);
        CHECK(commtask_wait(&run, nullptr) == COMMTASK_OK);
        CHECK(numbers[0] == 1 - rank);
    }
    if (rank == 0) {
        CHECK(commtask_plan_pready(exchange, 1) == COMMTASK_OK);
        CHECK(commtask_wait_for(&run, 50'000'000, nullptr) == COMMTASK_TIMEOUT);
        CHECK(commtask_plan_parrived(exchange, 0, COMMTASK_ALL_PARTITIONS) == 0);
        CHECK(commtask_plan_release(&exchange) == COMMTASK_ERR_RUNNING);
        commtask_t noop = COMMTASK_NULL; // what has nothing to do with the one who left goes on
        CHECK(commtask_post(commtask_op_noop(MPI_COMM_WORLD), nullptr, &noop) == COMMTASK_OK);
        CHECK(commtask_wait(&noop, nullptr) == COMMTASK_OK);
    }
    CHECK(commtask_finalize() == COMMTASK_ERR_UNFINISHED);
    MPI_Finalize();
    std::fprintf(stderr, "rank %d came to its end\n", rank);
}

} // namespace commtask::test
