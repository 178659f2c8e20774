// SPDX-License-Identifier: Apache-2.0
//
// Scenarios about the last moments: functions of the program's that run while commtask_finalize waits, callbacks that do not
// want to believe in the end, and threads that have not heard of it.
#include "scenario.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace commtask::test {
namespace {

constexpr int tag = 5;

commtask_t post(const commtask_op& op, const commtask_options* how = nullptr) {
    commtask_t task = COMMTASK_NULL;
    CHECK(commtask_post_operation(&op, how, &task) == COMMTASK_OK);
    return task;
}

commtask_event_t make_event() {
    commtask_event_t event = COMMTASK_EVENT_NULL;
    CHECK(commtask_event_create(1, &event) == COMMTASK_OK);
    return event;
}

commtask_options after_event(const commtask_event_t& event) {
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.events = &event;
    how.n_events = 1;
    return how;
}

/// Longer than commtask_finalize waits where nothing can move.
int take_long(void* /*argument*/) {
    const double begin = MPI_Wtime();
    while (MPI_Wtime() - begin < 1.5) std::this_thread::yield();
    return MPI_SUCCESS;
}

std::atomic<bool> may_return{false};
std::atomic<bool> has_begun{false};

std::atomic<bool> sends_wait{false};
std::atomic<int> n_sends{0};

} // namespace

int wait_for_leave(void* /*argument*/) {
    has_begun = true;
    may_return.wait(false);
    return MPI_SUCCESS;
}

void await_its_begin() {
    while (!has_begun) std::this_thread::yield();
}

void give_leave() {
    may_return = true;
    may_return.notify_all();
}

} // namespace commtask::test

/// MPI's own, which this scenario's threads may be kept inside of.
extern "C" __attribute__((visibility("default"))) int
MPI_Isend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
    if (!commtask::test::sends_wait) return PMPI_Isend(buffer, count, type, dest, tag, comm, request);
    ++commtask::test::n_sends;
    *request = MPI_REQUEST_NULL;
    return commtask::test::wait_for_leave(nullptr);
}

namespace commtask::test {

// While the call runs nothing is in flight and nothing ends, and yet the message will come.
void finalize_waits_for_a_call() {
    const int rank = begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    commtask_event_t event = make_event();
    const commtask_options on_event = after_event(event);
    const commtask_t call = post(commtask_op_call(take_long, nullptr, MPI_COMM_WORLD), &on_event);
    commtask_options after_call = COMMTASK_OPTIONS_INIT;
    after_call.after = &call;
    after_call.n_after = 1;
    int in = 0;
    const int out = 42;
    commtask_status received = COMMTASK_STATUS_INIT;
    after_call.status = &received;
    commtask_t receive = post(commtask_op_recv(&in, 1, MPI_INT, rank, tag, MPI_COMM_WORLD), &after_call);
    after_call.status = nullptr;
    commtask_t send = post(commtask_op_send(&out, 1, MPI_INT, rank, tag, MPI_COMM_WORLD), &after_call);
    std::thread signaller{[event] {
        // lint-allow(sleep): nothing tells that commtask_finalize waits already
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        CHECK(commtask_event_signal(event) == COMMTASK_OK);
    }};
    CHECK(commtask_finalize() == COMMTASK_OK);
    signaller.join();
    CHECK(received.state == COMMTASK_STATE_COMPLETED);
    CHECK(in == 42);
    for (commtask_t task : {call, receive, send}) CHECK(commtask_release(&task) == COMMTASK_OK);
    CHECK(commtask_event_release(&event) == COMMTASK_OK);
    MPI_Finalize();
}

// A function that never comes back is left alone, and with it what it held up; nothing of the program's is touched later.
void finalize_leaves_a_call() {
    begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    static std::atomic<int> n_callbacks{0};
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.callback = [](const commtask_status*, void*) { ++n_callbacks; };
    commtask_t call = post(commtask_op_call(wait_for_leave, nullptr, MPI_COMM_WORLD), &how);
    await_its_begin();
    how.after = &call;
    how.n_after = 1;
    CHECK(commtask_post(commtask_op_noop(MPI_COMM_WORLD), &how, nullptr) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_ERR_UNFINISHED);
    CHECK(last_error_names("does not return"));
    CHECK(commtask_is_initialized() == 0);
    give_leave();
    // A second life beside what is left of the first.
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    commtask_t barrier = post(commtask_op_barrier(MPI_COMM_WORLD));
    CHECK(commtask_wait(&barrier, nullptr) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_OK);
    CHECK(n_callbacks == 0);
    MPI_Finalize();
}

// A thread that signals late issues what has waited for that, and is inside MPI when commtask_finalize has no more patience: it
// comes back to the program, whose next use of the library does not wait for it.
void finalize_leaves_a_submitter() {
    const int rank = begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    commtask_event_t event = make_event();
    const commtask_options on_event = after_event(event);
    const int out = 42;
    commtask_t send = post(commtask_op_send(&out, 1, MPI_INT, rank, tag, MPI_COMM_WORLD), &on_event);
    commtask_t behind = post(commtask_op_send(&out, 1, MPI_INT, rank, tag, MPI_COMM_WORLD), &on_event);
    sends_wait = true;
    std::thread signaller{[event] { CHECK(commtask_event_signal(event) == COMMTASK_OK); }};
    await_its_begin();
    CHECK(commtask_finalize() == COMMTASK_ERR_UNFINISHED);
    CHECK(last_error_names("does not return"));
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_OK);
    give_leave();
    signaller.join();
    CHECK(n_sends == 1);
    for (commtask_t task : {send, behind}) CHECK(commtask_release(&task) == COMMTASK_OK);
    CHECK(commtask_event_release(&event) == COMMTASK_OK);
    MPI_Finalize();
}

// A callback that tries again what was given up, and one that waits for another task.
void finalize_retries() {
    const int rank = begin_mpi();
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    commtask_event_t event = make_event();
    commtask_options on_event = after_event(event);
    int never = 0;
    static commtask_t other = post(commtask_op_recv(&never, 1, MPI_INT, rank, tag, MPI_COMM_WORLD)); // the last to end
    static int n_callbacks = 0;
    on_event.callback = [](const commtask_status* status, void*) {
        ++n_callbacks;
        CHECK(status->state == COMMTASK_STATE_CANCELED);
        commtask_t again = COMMTASK_NULL;
        CHECK(commtask_post(commtask_op_noop(MPI_COMM_WORLD), nullptr, &again) == COMMTASK_ERR_NOT_INITIALIZED);
        CHECK(again == COMMTASK_NULL);
        CHECK(commtask_wait(&other, nullptr) == COMMTASK_ERR_WORKER_THREAD);
    };
    for (int i = 0; i < 3; ++i)
        CHECK(commtask_post(commtask_op_noop(MPI_COMM_WORLD), &on_event, nullptr) == COMMTASK_OK);
    CHECK(commtask_finalize() == COMMTASK_ERR_UNFINISHED);
    CHECK(n_callbacks == 3);
    CHECK(commtask_release(&other) == COMMTASK_OK);
    CHECK(commtask_event_release(&event) == COMMTASK_OK);
    MPI_Finalize();
}

// Events that outlive what waited for them: given up at the end, or canceled before; signalled after the end, and in the
// library's next life.
void finalize_late_signal() {
    begin_mpi();
    commtask_event_t events[4] = {};
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    for (commtask_event_t& event : events) event = make_event();
    commtask_t tasks[4] = {};
    for (int i = 0; i < 4; ++i) {
        const commtask_options how = after_event(events[i]);
        tasks[i] = post(commtask_op_noop(MPI_COMM_WORLD), &how);
    }
    for (int i = 0; i < 2; ++i) {
        CHECK(commtask_cancel(tasks[i]) == COMMTASK_OK);
        CHECK(commtask_wait(&tasks[i], nullptr) == COMMTASK_CANCELED);
    }
    CHECK(commtask_finalize() == COMMTASK_ERR_UNFINISHED);
    for (const int i : {0, 2}) CHECK(commtask_event_signal(events[i]) == COMMTASK_ERR_NOT_INITIALIZED);
    CHECK(commtask_init(nullptr) == COMMTASK_OK);
    for (const int i : {1, 3}) CHECK(commtask_event_signal(events[i]) == COMMTASK_OK);
    for (int i = 0; i < 1000; ++i) { // the slots are good for others
        commtask_t task = post(commtask_op_noop(MPI_COMM_WORLD));
        CHECK(commtask_wait(&task, nullptr) == COMMTASK_OK);
    }
    CHECK(commtask_finalize() == COMMTASK_OK);
    for (commtask_t& task : tasks) CHECK(commtask_release(&task) == COMMTASK_OK);
    for (commtask_event_t& event : events) CHECK(commtask_event_release(&event) == COMMTASK_OK);
    MPI_Finalize();
}

} // namespace commtask::test
