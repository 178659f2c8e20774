// SPDX-License-Identifier: Apache-2.0
//
// Scenarios about tasks that cannot complete: finalize gives them up with a list, the watchdog prints the same list while
// the program hangs, a peer leaves or dies, the program forgets commtask_finalize. scenario_test.py reads the lists.
#include "scenario.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <unistd.h>

namespace commtask::test {
namespace {

int value = 0;

commtask_t post_or_fail(const commtask_op& op, const commtask_options* how) {
    commtask_t task = COMMTASK_NULL;
    CHECK(commtask_post_operation(&op, how, &task) == COMMTASK_OK);
    return task;
}

struct outcome {
    std::atomic<int> n_calls{0};
    std::atomic<int> state{-1};
};
void note(const commtask_status* status, void* argument) {
    auto* const noted = static_cast<outcome*>(argument);
    noted->state = status->state;
    noted->n_calls.fetch_add(1);
}

/// An unmatched receive, its successor, and an ordered task behind a ticket that nobody uses.
outcome outcomes[4];
void post_what_cannot_end(MPI_Comm comm, int peer) {
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.callback = note;
    how.callback_argument = &outcomes[0];
    how.file = "src/halo.c";
    how.line = 50;
    commtask_t receive = post_or_fail(commtask_op_recv(&value, 1, MPI_INT, peer, 77, comm), &how);
    how.file = nullptr;
    how.callback_argument = &outcomes[1];
    how.after = &receive;
    how.n_after = 1;
    CHECK(commtask_post(commtask_op_send(&value, 1, MPI_INT, peer, 78, comm), &how, nullptr) == COMMTASK_OK);
    CHECK(commtask_release(&receive) == COMMTASK_OK);

    const commtask_op barrier = commtask_op_barrier(comm);
    commtask_ticket never_used{};
    CHECK(commtask_ticket_take(&barrier, &never_used) == COMMTASK_OK);
    commtask_options ordered = COMMTASK_OPTIONS_INIT;
    ordered.callback = note;
    ordered.callback_argument = &outcomes[2];
    CHECK(commtask_post_operation(&barrier, &ordered, nullptr) == COMMTASK_OK);
}

} // namespace

void finalize_lists() {
    const int rank = begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "halo\x1b[2J\n");
    post_what_cannot_end(comm, rank);
    CHECK(commtask_finalize() == COMMTASK_ERR_UNFINISHED);
    CHECK(commtask_last_error()[0] != '\0');
    for (int i = 0; i < 3; ++i) {
        CHECK(outcomes[i].n_calls == 1);
        CHECK(outcomes[i].state == COMMTASK_STATE_CANCELED);
    }
    CHECK(commtask_is_initialized() == 0);
    MPI_Comm_free(&comm);
    // The library may be started again.
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    CHECK(commtask_post(commtask_op_barrier(MPI_COMM_WORLD), nullptr, nullptr) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

// Nobody can signal the event any more, so there is nothing to wait 30 seconds for.
void finalize_unsignalled() {
    begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    commtask_event_t event = COMMTASK_EVENT_NULL;
    CHECK(commtask_event_create(2, &event) == COMMTASK_OK);
    CHECK(commtask_event_signal(event) == COMMTASK_OK);
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.events = &event;
    how.n_events = 1;
    how.callback = note;
    how.callback_argument = &outcomes[0];
    CHECK(commtask_post(commtask_op_barrier(MPI_COMM_WORLD), &how, nullptr) == COMMTASK_OK);
    const double before = MPI_Wtime();
    CHECK(commtask_finalize() == COMMTASK_ERR_UNFINISHED);
    CHECK(MPI_Wtime() - before < 10);
    CHECK(outcomes[0].n_calls == 1);
    CHECK(outcomes[0].state == COMMTASK_STATE_CANCELED);
    MPI_Finalize();
}

void watchdog() {
    const int rank = begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    commtask_t receive =
        rank == 0 ? post_or_fail(commtask_op_recv(&value, 1, MPI_INT, 0, 77, MPI_COMM_WORLD), nullptr) : COMMTASK_NULL;
    if (rank == 0) {
        std::fprintf(stderr, "hanging\n");
        wait_for_go_on(); // comes when the list was seen, twice
        const int sent = 1;
        CHECK(commtask_post(commtask_op_send(&sent, 1, MPI_INT, 0, 77, MPI_COMM_WORLD), nullptr, nullptr) ==
              COMMTASK_OK);
        CHECK(commtask_wait(&receive, nullptr) == COMMTASK_OK);
        CHECK(value == 1);
    }
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

void forgotten_finalize() {
    const int rank = begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    commtask_t task = post_or_fail(commtask_op_barrier(MPI_COMM_WORLD), nullptr);
    CHECK(commtask_wait(&task, nullptr) == COMMTASK_OK);
    MPI_Finalize();
    CHECK(commtask_is_initialized() == 0);
    std::fprintf(stderr, "rank %d came to its end\n", rank);
}

void forgotten_finalize_with_tasks() {
    const int rank = begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    // One that completes while MPI_Finalize is being made up for, and one that never can.
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.callback = note;
    how.callback_argument = &outcomes[0];
    CHECK(commtask_post(commtask_op_barrier(MPI_COMM_WORLD), &how, nullptr) == COMMTASK_OK);
    CHECK(commtask_post(commtask_op_recv(&value, 1, MPI_INT, rank, 77, MPI_COMM_WORLD), nullptr, nullptr) ==
          COMMTASK_OK);
    MPI_Finalize();
    CHECK(outcomes[0].state == COMMTASK_STATE_COMPLETED);
    std::fprintf(stderr, "rank %d came to its end\n", rank);
}

void leaves_early() {
    const int rank = begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    if (rank == 1) { // sends nothing
        CHECK(commtask_finalize() == COMMTASK_OK);
        MPI_Finalize();
        return;
    }
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.callback = note;
    how.callback_argument = &outcomes[0];
    commtask_t receive = post_or_fail(commtask_op_recv(&value, 1, MPI_INT, 1, 77, MPI_COMM_WORLD), &how);
    CHECK(commtask_wait_for(&receive, 50'000'000, nullptr) == COMMTASK_TIMEOUT);
    // What has nothing to do with the one who left goes on.
    commtask_t noop = post_or_fail(commtask_op_noop(MPI_COMM_WORLD), nullptr);
    CHECK(commtask_wait(&noop, nullptr) == COMMTASK_OK);
    CHECK(commtask_release(&receive) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_ERR_UNFINISHED);
    CHECK(outcomes[0].n_calls == 1);
    CHECK(outcomes[0].state == COMMTASK_STATE_CANCELED);
    MPI_Finalize();
    std::fprintf(stderr, "rank 0 came to its end\n");
}

void killed() {
    const int rank = begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    // Connections are made by then: a rank that dies while the launcher answers it takes the launcher along.
    for (int i = 0; i < 20; ++i) {
        commtask_t barrier = post_or_fail(commtask_op_barrier(MPI_COMM_WORLD), nullptr);
        CHECK(commtask_wait(&barrier, nullptr) == COMMTASK_OK);
    }
    if (rank == 1) std::raise(SIGKILL);
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.callback = note;
    how.callback_argument = &outcomes[0];
    CHECK(commtask_post(commtask_op_recv(&value, 1, MPI_INT, 1, 77, MPI_COMM_WORLD), &how, nullptr) == COMMTASK_OK);
    commtask_t noop = post_or_fail(commtask_op_noop(MPI_COMM_WORLD), nullptr);
    CHECK(commtask_wait(&noop, nullptr) == COMMTASK_OK);
    // Either MPI tells of the death and the task failed, or nothing moves and finalize gives it up.
    const int code = commtask_finalize();
    CHECK(code == COMMTASK_OK || code == COMMTASK_ERR_UNFINISHED);
    CHECK(outcomes[0].n_calls == 1);
    CHECK(outcomes[0].state == (code == COMMTASK_OK ? COMMTASK_STATE_FAILED : COMMTASK_STATE_CANCELED));
    if (n_failed_checks == 0) std::fprintf(stderr, "the survivor came to its end\n");
    // MPI_Finalize would wait for the dead.
    std::_Exit(n_failed_checks == 0 ? 0 : 1);
}

namespace {

int fail(void* /*argument*/) { return MPI_ERR_OTHER; }

MPI_Comm begin_halo() {
    begin_mpi();
    MPI_Comm halo = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &halo);
    MPI_Comm_set_name(halo, "halo");
    return halo;
}

/// Ends the program of a failure that should have ended it.
void end_unseen() {
    static_cast<void>(commtask_finalize());
    std::fprintf(stderr, "the failure was passed over\n");
    MPI_Finalize();
}

} // namespace

// A task fails, and nobody looks: MPI's default ends the job.
void unseen_failure() {
    MPI_Comm halo = begin_halo();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    int rank = 0;
    int n_ranks = 1;
    MPI_Comm_rank(halo, &rank);
    MPI_Comm_size(halo, &n_ranks);
    const int values[4] = {};
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.file = "src/halo.c";
    how.line = 50;
    const int left = (rank + n_ranks - 1) % n_ranks;
    CHECK(commtask_post(commtask_op_recv(&value, 1, MPI_INT, left, 7, halo), &how, nullptr) == COMMTASK_OK);
    const commtask_op send = commtask_op_send(values, 4, MPI_INT, (rank + 1) % n_ranks, 7, halo);
    commtask_t sent = post_or_fail(send, nullptr); // MPI may tell the sender too, who looks
    static_cast<void>(commtask_wait(&sent, nullptr));
    end_unseen();
}

void unseen_call() {
    MPI_Comm halo = begin_halo();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    CHECK(commtask_post(commtask_op_call(fail, nullptr, halo), nullptr, nullptr) == COMMTASK_OK);
    end_unseen();
}

// The run of a plan speaks for the member that failed.
void unseen_plan() {
    MPI_Comm halo = begin_halo();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    CHECK(commtask_record_begin() == COMMTASK_OK);
    CHECK(commtask_post(commtask_op_noop(halo), nullptr, nullptr) == COMMTASK_OK);
    CHECK(commtask_post(commtask_op_call(fail, nullptr, halo), nullptr, nullptr) == COMMTASK_OK);
    commtask_plan_t plan = COMMTASK_PLAN_NULL;
    CHECK(commtask_record_end(&plan) == COMMTASK_OK);
    CHECK(commtask_plan_start(plan, nullptr, nullptr) == COMMTASK_OK);
    end_unseen();
}

void unseen_failures_return() {
    MPI_Comm halo = begin_halo();
    MPI_Comm_set_errhandler(halo, MPI_ERRORS_RETURN);
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    const commtask_op failing = commtask_op_call(fail, nullptr, halo);
    for (int i = 0; i < 11; ++i) CHECK(commtask_post(failing, nullptr, nullptr) == COMMTASK_OK);
    commtask_event_t event = COMMTASK_EVENT_NULL;
    CHECK(commtask_event_create(1, &event) == COMMTASK_OK);
    commtask_plan_t plan = COMMTASK_PLAN_NULL; // whose run fails is told without a handle
    CHECK(commtask_record_begin() == COMMTASK_OK);
    CHECK(commtask_post(failing, nullptr, nullptr) == COMMTASK_OK);
    CHECK(commtask_record_end(&plan) == COMMTASK_OK);
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.events = &event;
    how.n_events = 1;
    CHECK(commtask_plan_start(plan, &how, nullptr) == COMMTASK_OK);
    commtask_t seen = post_or_fail(failing, &how);
    commtask_options after = COMMTASK_OPTIONS_INIT;
    after.after = &seen;
    after.n_after = 1;
    CHECK(commtask_post(commtask_op_noop(halo), &after, nullptr) == COMMTASK_OK);
    CHECK(commtask_event_signal(event) == COMMTASK_OK);
    CHECK(commtask_wait(&seen, nullptr) == COMMTASK_FAILED);
    CHECK(commtask_finalize() == COMMTASK_FAILED);
    CHECK(last_error_names("12 tasks failed"));
    // The next use begins anew.
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    CHECK(commtask_post(commtask_op_barrier(halo), nullptr, nullptr) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Comm_free(&halo);
    MPI_Finalize();
    if (n_failed_checks == 0) std::fprintf(stderr, "rank 0 came to its end\n");
}

// A status, a callback or a handle: the program has asked, and nothing is fatal.
void seen_failures() {
    MPI_Comm halo = begin_halo();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    const commtask_op failing = commtask_op_call(fail, nullptr, halo);
    commtask_status status = COMMTASK_STATUS_INIT;
    commtask_options with_status = COMMTASK_OPTIONS_INIT;
    with_status.status = &status;
    CHECK(commtask_post(failing, &with_status, nullptr) == COMMTASK_OK);
    commtask_options with_callback = COMMTASK_OPTIONS_INIT;
    with_callback.callback = note;
    with_callback.callback_argument = &outcomes[0];
    CHECK(commtask_post(failing, &with_callback, nullptr) == COMMTASK_OK);
    commtask_t handle = post_or_fail(failing, nullptr);
    CHECK(commtask_release(&handle) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_OK);
    CHECK(status.state == COMMTASK_STATE_FAILED);
    CHECK(outcomes[0].state == COMMTASK_STATE_FAILED);
    MPI_Comm_free(&halo);
    MPI_Finalize();
    if (n_failed_checks == 0) std::fprintf(stderr, "rank 0 came to its end\n");
}

// The program's own wrong call must end it, as MPI's default says, though the library lets its tasks' errors come back.
void fatal_handler() {
    begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    commtask_t task = post_or_fail(commtask_op_barrier(MPI_COMM_WORLD), nullptr);
    CHECK(commtask_wait(&task, nullptr) == COMMTASK_OK);
    int n_ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    MPI_Send(&value, 1, MPI_INT, n_ranks + 5, 0, MPI_COMM_WORLD);
    std::fprintf(stderr, "the wrong call came back\n");
    CHECK(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
}

} // namespace commtask::test
