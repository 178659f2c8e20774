// SPDX-License-Identifier: Apache-2.0
//
// A program ends its own use of commtask, while MPI, and its other threads' calls of MPI, go on. Its commtask_finalize waits
// for its own tasks and for nothing else, as long as it has asked for, and gives up what cannot end.
#include <commtask/commtask.h>
#include <mpi.h>

#include <array>
#include <atomic>
#include <thread>

#include "probe.h"

namespace {

enum tags : int { late_tag = 1, never_tag, other_threads_tag };

void begin(double limit_s = 0) {
    commtask_config config = COMMTASK_CONFIG_INIT;
    config.finalize_timeout_s = limit_s;
    const int code = commtask_init(&config);
    EXPECT(code == COMMTASK_OK);
}

/// The program did not ask for a shorter time than the half second that the interposer itself gives the program's requests.
void waits_for_a_late_message() {
    begin();
    int value = me == 0 ? 0 : 42;
    commtask_status status = COMMTASK_STATUS_INIT;
    if (me == 0) {
        commtask_options how = COMMTASK_OPTIONS_INIT;
        how.status = &status;
        const commtask_op recv = commtask_op_recv(&value, 1, MPI_INT, 1, late_tag, MPI_COMM_WORLD);
        EXPECT(commtask_post(&recv, &how, nullptr) == COMMTASK_OK);
    }
    const double since = MPI_Wtime();
    while (me == 1 && MPI_Wtime() - since < 1.5) std::this_thread::yield();
    if (me == 1) MPI_Send(&value, 1, MPI_INT, 0, late_tag, MPI_COMM_WORLD);
    const int code = commtask_finalize();
    say("code %d, value %d, state %d", code, value, me == 0 ? static_cast<int>(status.state) : -1);
    EXPECT(code == COMMTASK_OK && value == 42);
    MPI_Barrier(MPI_COMM_WORLD);
}

/// A receive that another thread has made with MPI is no business of commtask_finalize.
void leaves_other_threads_calls_alone() {
    begin(0.2);
    std::atomic<bool> has_begun{false};
    int value = 0;
    std::thread other{[&] {
        has_begun = true;
        MPI_Recv(&value, 1, MPI_INT, me, other_threads_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }};
    MPI_Request request = MPI_REQUEST_NULL;
    int by_request = 0;
    MPI_Irecv(&by_request, 1, MPI_INT, me, other_threads_tag + 100, MPI_COMM_WORLD, &request);
    while (!has_begun) std::this_thread::yield();
    const double since = MPI_Wtime();
    while (MPI_Wtime() - since < 0.2) std::this_thread::yield(); // it is inside MPI_Recv by then, which nothing tells
    const int code = commtask_finalize();
    say("code %d", code);
    EXPECT(code == COMMTASK_OK);
    const int sent = 7;
    MPI_Send(&sent, 1, MPI_INT, me, other_threads_tag, MPI_COMM_WORLD);
    MPI_Send(&sent, 1, MPI_INT, me, other_threads_tag + 100, MPI_COMM_WORLD);
    other.join();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("values %d %d", value, by_request);
}

/// What can never end is given up, whatever it waits for; what was posted to MPI behind it goes on.
void gives_up_what_cannot_end() {
    begin(0.3);
    static std::array<int, 3> states{};
    commtask_event_t event = COMMTASK_EVENT_NULL;
    EXPECT(commtask_event_create(1, &event) == COMMTASK_OK);
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.callback = [](const commtask_status* status, void* state) { *static_cast<int*>(state) = status->state; };
    int never = 0;
    how.callback_argument = &states[0];
    EXPECT(commtask_submit(commtask_op_recv(&never, 1, MPI_INT, me, never_tag, MPI_COMM_WORLD), &how, nullptr) ==
           COMMTASK_OK);
    how.callback_argument = &states[1];
    how.events = &event;
    how.n_events = 1;
    EXPECT(commtask_submit(commtask_op_barrier(MPI_COMM_WORLD), &how, nullptr) == COMMTASK_OK);
    how.callback_argument = &states[2];
    EXPECT(commtask_submit(commtask_op_noop(MPI_COMM_WORLD), &how, nullptr) == COMMTASK_OK);
    const int code = commtask_finalize();
    say("code %d, states %d %d %d", code, states[0], states[1], states[2]);
    EXPECT(code == COMMTASK_ERR_UNFINISHED);
    int sum = 0;
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); // its turn comes
    EXPECT(commtask_event_release(&event) == COMMTASK_OK);
    say("sum %d", sum);
}

/// Callbacks of what is given up come too late to post, as everybody does who posts before the beginning or after the end.
void refuses_posts_outside_of_its_use() {
    const auto post_nothing = [] { return commtask_submit(commtask_op_noop(MPI_COMM_SELF), nullptr, nullptr); };
    EXPECT(commtask_is_initialized() == 0);
    const int before = post_nothing();
    begin(0.2);
    EXPECT(commtask_is_initialized() == 1);
    static int by_callback;
    by_callback = COMMTASK_OK;
    commtask_options how = COMMTASK_OPTIONS_INIT;
    how.callback = [](const commtask_status* status, void* what) {
        EXPECT(status->state == COMMTASK_STATE_CANCELED);
        by_callback = (*static_cast<decltype(post_nothing)*>(what))();
    };
    how.callback_argument = const_cast<void*>(static_cast<const void*>(&post_nothing));
    int never = 0;
    EXPECT(commtask_submit(commtask_op_recv(&never, 1, MPI_INT, me, never_tag, MPI_COMM_WORLD), &how, nullptr) ==
           COMMTASK_OK);
    EXPECT(commtask_finalize() == COMMTASK_ERR_UNFINISHED);
    const int after = post_nothing();
    say("codes %d %d %d", before, by_callback, after);
    for (const int code : {before, by_callback, after}) EXPECT(code == COMMTASK_ERR_NOT_INITIALIZED);
    EXPECT(commtask_finalize() == COMMTASK_ERR_NOT_INITIALIZED);
    int sum = 0;
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); // MPI goes on
}

void refuses_a_bad_setting() {
    commtask_config config = COMMTASK_CONFIG_INIT;
    config.queue_capacity = 100;
    EXPECT(commtask_init(&config) == COMMTASK_ERR_CONFIG);
    say("%s", commtask_last_error());
    EXPECT(commtask_is_initialized() == 0);
}

} // namespace

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    probe_start();
    waits_for_a_late_message();
    leaves_other_threads_calls_alone();
    gives_up_what_cannot_end();
    refuses_posts_outside_of_its_use();
    refuses_a_bad_setting();
    MPI_Finalize();
    return probe_result();
}
