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

enum tags : int { late_tag = 1, never_tag, other_threads_tag, listened_tag };

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
        EXPECT(commtask_post_operation(&recv, &how, nullptr) == COMMTASK_OK);
    }
    const double since = MPI_Wtime();
    while (me == 1 && MPI_Wtime() - since < 1.5) std::this_thread::yield();
    if (me == 1) MPI_Send(&value, 1, MPI_INT, 0, late_tag, MPI_COMM_WORLD);
    const int code = commtask_finalize();
    say("code %d, value %d, state %d", code, value, me == 0 ? static_cast<int>(status.state) : -1);
    EXPECT(code == COMMTASK_OK && value == 42);
    MPI_Barrier(MPI_COMM_WORLD);
}

/// While a function of the program's runs nothing is in flight and nothing ends, and yet the message will come.
void waits_for_a_call() {
    begin(0);
    commtask_event_t event = COMMTASK_EVENT_NULL;
    EXPECT(commtask_event_create(1, &event) == COMMTASK_OK);
    commtask_options after = COMMTASK_OPTIONS_INIT;
    after.events = &event;
    after.n_events = 1;
    const auto take_long = [](void*) { // longer than where nothing can move
        const double since = MPI_Wtime();
        while (MPI_Wtime() - since < 1.5) std::this_thread::yield();
        return MPI_SUCCESS;
    };
    commtask_t call = COMMTASK_NULL;
    const commtask_op function = commtask_op_call(+take_long, nullptr, MPI_COMM_WORLD);
    EXPECT(commtask_post_operation(&function, &after, &call) == COMMTASK_OK);
    after = COMMTASK_OPTIONS_INIT;
    after.after = &call;
    after.n_after = 1;
    static int value;
    value = 0;
    const int sent = 42;
    EXPECT(commtask_post(commtask_op_recv(&value, 1, MPI_INT, me, late_tag, MPI_COMM_WORLD), &after, nullptr) ==
           COMMTASK_OK);
    // The last pass hands it on: its callback posts what is sent.
    after.callback = [](const commtask_status*, void* what) {
        EXPECT(commtask_post(commtask_op_send(what, 1, MPI_INT, me, late_tag, MPI_COMM_WORLD), nullptr, nullptr) ==
               COMMTASK_OK);
    };
    after.callback_argument = const_cast<int*>(&sent);
    EXPECT(commtask_post(commtask_op_noop(MPI_COMM_WORLD), &after, nullptr) == COMMTASK_OK);
    EXPECT(commtask_event_signal(event) == COMMTASK_OK);
    const int code = commtask_finalize();
    say("code %d, value %d", code, value);
    EXPECT(code == COMMTASK_OK && value == 42);
    EXPECT(commtask_release(&call) == COMMTASK_OK);
    EXPECT(commtask_event_release(&event) == COMMTASK_OK);
}

/// A standing receive is nothing that the program waits for, and ends with its use; the next use has its own.
void closes_an_open_listener() {
    static std::atomic<int> n_messages;
    const auto count = [](commtask_message* message, void*) -> int {
        n_messages += message->bytes == sizeof(int) ? 1 : 100;
        return COMMTASK_MESSAGE_DONE;
    };
    for (int turn = 1; turn <= 2; ++turn) {
        n_messages = 0;
        begin(0.3);
        commtask_listener_t listener = COMMTASK_LISTENER_NULL;
        EXPECT(commtask_listen(MPI_COMM_WORLD, listened_tag, sizeof(int), 4, +count, nullptr, &listener) ==
               COMMTASK_OK);
        MPI_Send(&turn, 1, MPI_INT, me, listened_tag, MPI_COMM_WORLD);
        while (n_messages == 0) std::this_thread::yield();
        const int code = commtask_finalize();
        say("turn %d: code %d, %d messages", turn, code, n_messages.load());
        EXPECT(code == COMMTASK_OK && n_messages == 1);
        if (turn == 1) begin(0.3);
        EXPECT(commtask_unlisten(&listener) == (turn == 1 ? COMMTASK_ERR_ARGUMENT : COMMTASK_ERR_NOT_INITIALIZED));
        if (turn == 1) EXPECT(commtask_finalize() == COMMTASK_OK);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    // Nobody takes the program's messages any more.
    int value = 0;
    const int sent = 7;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&value, 1, MPI_INT, me, listened_tag, MPI_COMM_WORLD, &request);
    MPI_Send(&sent, 1, MPI_INT, me, listened_tag, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(value == 7);
}

[[nodiscard]] commtask_plan_t record(const commtask_op& op) {
    commtask_plan_t made = COMMTASK_PLAN_NULL;
    EXPECT(commtask_record_begin() == COMMTASK_OK);
    EXPECT(commtask_post_operation(&op, nullptr, nullptr) == COMMTASK_OK);
    EXPECT(commtask_record_end(&made) == COMMTASK_OK);
    return made;
}

/// Whether it ran or not, or was given up, with or without the library: its use ends the program's plans. MPI's persistent requests, of
/// which the interposer has made one, go on.
void gives_back_its_plans() {
    const int out = 7;
    int in = 0;
    int never = 0;
    std::array<MPI_Request, 2> pair{};
    MPI_Recv_init(&in, 1, MPI_INT, me, late_tag, MPI_COMM_WORLD, &pair[0]);
    MPI_Send_init(&out, 1, MPI_INT, me, late_tag, MPI_COMM_WORLD, &pair[1]);
    const auto exchange = [&] {
        in = 0;
        MPI_Startall(2, pair.data());
        MPI_Waitall(2, pair.data(), MPI_STATUSES_IGNORE);
        EXPECT(in == out);
    };
    for (int i = 0; i < 3; ++i) exchange();
    begin(0.3);
    commtask_plan_t early = record(commtask_op_noop(MPI_COMM_WORLD));
    commtask_plan_t stale = record(commtask_op_send(&out, 1, MPI_INT, MPI_PROC_NULL, late_tag, MPI_COMM_WORLD));
    commtask_plan_t empty = COMMTASK_PLAN_NULL;
    EXPECT(commtask_record_begin() == COMMTASK_OK && commtask_record_end(&empty) == COMMTASK_OK);
    commtask_plan_t given_up = record(commtask_op_recv(&never, 1, MPI_INT, me, never_tag, MPI_COMM_WORLD));
    commtask_t run = COMMTASK_NULL;
    EXPECT(commtask_plan_start(stale, nullptr, &run) == COMMTASK_OK && commtask_wait(&run, nullptr) == COMMTASK_OK);
    EXPECT(commtask_plan_start(given_up, nullptr, nullptr) == COMMTASK_OK);
    const int code = commtask_finalize();
    const int at_once = commtask_plan_release(&early);
    exchange();
    begin(0.3);
    const int start = commtask_plan_start(stale, nullptr, nullptr);
    const int running = commtask_plan_start(given_up, nullptr, nullptr);
    say("codes %d %d %d %d", code, at_once, start, running);
    EXPECT(code == COMMTASK_ERR_UNFINISHED && at_once == COMMTASK_OK && early == COMMTASK_PLAN_NULL);
    EXPECT(start == COMMTASK_ERR_ARGUMENT && running == COMMTASK_ERR_ARGUMENT);
    for (commtask_plan_t* const each : {&stale, &empty}) EXPECT(commtask_plan_release(each) == COMMTASK_OK);
    EXPECT(commtask_finalize() == COMMTASK_OK);
    EXPECT(commtask_plan_release(&given_up) == COMMTASK_OK);
    for (int i = 0; i < 3; ++i) exchange();
    for (MPI_Request& each : pair) MPI_Request_free(&each);
}

/// Its duplicates of datatypes are gone with the use of the library that it was begun in.
void drops_an_open_recording() {
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    const int out[2] = {7, 8};
    begin(0.3);
    EXPECT(commtask_record_begin() == COMMTASK_OK);
    const commtask_op send = commtask_op_send(out, 1, pair, MPI_PROC_NULL, late_tag, MPI_COMM_WORLD);
    EXPECT(commtask_post_operation(&send, nullptr, nullptr) == COMMTASK_OK);
    EXPECT(commtask_finalize() == COMMTASK_OK);
    begin(0.3);
    commtask_plan_t made = COMMTASK_PLAN_NULL;
    EXPECT(commtask_record_end(&made) == COMMTASK_ERR_ARGUMENT && made == COMMTASK_PLAN_NULL);
    EXPECT(commtask_record_begin() == COMMTASK_OK && commtask_record_end(&made) == COMMTASK_OK);
    EXPECT(commtask_plan_release(&made) == COMMTASK_OK);
    EXPECT(commtask_finalize() == COMMTASK_OK);
    MPI_Type_free(&pair);
}

/// A run whose last member is held, and on another lane where there are two: it is given up once.
void gives_up_a_run_once() {
    static std::atomic<int> n_told{0};
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    begin(0.3);
    const commtask_op on_either[] = {commtask_op_noop(MPI_COMM_WORLD), commtask_op_noop(other)};
    for (const std::size_t held : {0U, 1U}) {
        commtask_plan_t made = COMMTASK_PLAN_NULL;
        EXPECT(commtask_record_begin() == COMMTASK_OK);
        for (const commtask_op& op : on_either) EXPECT(commtask_post_operation(&op, nullptr, nullptr) == COMMTASK_OK);
        EXPECT(commtask_record_end(&made) == COMMTASK_OK);
        EXPECT(commtask_plan_defer(made, held) == COMMTASK_OK);
        commtask_options how = COMMTASK_OPTIONS_INIT;
        how.callback = [](const commtask_status*, void*) { ++n_told; };
        EXPECT(commtask_plan_start(made, &how, nullptr) == COMMTASK_OK);
    }
    EXPECT(commtask_finalize() == COMMTASK_ERR_UNFINISHED);
    int value = 0; // the worker is at work for this, and takes in what the lanes have told each other
    MPI_Request late[2];
    MPI_Irecv(&value, 1, MPI_INT, me, late_tag, other, &late[0]);
    MPI_Isend(&me, 1, MPI_INT, me, late_tag, other, &late[1]);
    MPI_Waitall(2, late, MPI_STATUSES_IGNORE);
    MPI_Comm_free(&other);
    EXPECT(n_told == 2);
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
    EXPECT(commtask_post(commtask_op_recv(&never, 1, MPI_INT, me, never_tag, MPI_COMM_WORLD), &how, nullptr) ==
           COMMTASK_OK);
    how.callback_argument = &states[1];
    how.events = &event;
    how.n_events = 1;
    EXPECT(commtask_post(commtask_op_barrier(MPI_COMM_WORLD), &how, nullptr) == COMMTASK_OK);
    how.callback_argument = &states[2];
    EXPECT(commtask_post(commtask_op_noop(MPI_COMM_WORLD), &how, nullptr) == COMMTASK_OK);
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
    const auto post_nothing = [] { return commtask_post(commtask_op_noop(MPI_COMM_SELF), nullptr, nullptr); };
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
    EXPECT(commtask_post(commtask_op_recv(&never, 1, MPI_INT, me, never_tag, MPI_COMM_WORLD), &how, nullptr) ==
           COMMTASK_OK);
    EXPECT(commtask_finalize() == COMMTASK_ERR_UNFINISHED);
    const int after = post_nothing();
    say("codes %d %d %d", before, by_callback, after);
    for (const int code : {before, by_callback, after}) EXPECT(code == COMMTASK_ERR_NOT_INITIALIZED);
    EXPECT(commtask_finalize() == COMMTASK_ERR_NOT_INITIALIZED);
    int sum = 0;
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); // MPI goes on
}

/// Its pauses end with its use: what the next one resumes it has not paused.
void undoes_its_pauses() {
    begin();
    for (int i = 0; i < 2; ++i) EXPECT(commtask_pause() == COMMTASK_OK);
    EXPECT(commtask_is_worker_shared() == 1);
    EXPECT(commtask_finalize() == COMMTASK_OK);
    begin();
    const int code = commtask_resume();
    say("code %d", code);
    EXPECT(code == COMMTASK_ERR_ARGUMENT);
    EXPECT(commtask_finalize() == COMMTASK_OK);
}

/// One rank alone has a reason.
void refuses_all_ranks_or_none() {
    commtask_config config = COMMTASK_CONFIG_INIT;
    if (me == 1) config.queue_capacity = 100;
    const int code = commtask_init(&config);
    say("code %d: %s", code, commtask_last_error());
    EXPECT(code == COMMTASK_ERR_CONFIG && commtask_is_initialized() == 0);
    begin();
    EXPECT(commtask_finalize() == COMMTASK_OK);
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
    static const probe_case cases[] = {{"waits_for_a_late_message", waits_for_a_late_message, 2},
                                       {"waits_for_a_call", waits_for_a_call, 1},
                                       {"closes_an_open_listener", closes_an_open_listener, 1},
                                       {"gives_back_its_plans", gives_back_its_plans, 1},
                                       {"drops_an_open_recording", drops_an_open_recording, 1},
                                       {"gives_up_a_run_once", gives_up_a_run_once, 1},
                                       {"leaves_other_threads_calls_alone", leaves_other_threads_calls_alone, 1},
                                       {"gives_up_what_cannot_end", gives_up_what_cannot_end, 1},
                                       {"refuses_posts_outside_of_its_use", refuses_posts_outside_of_its_use, 1},
                                       {"undoes_its_pauses", undoes_its_pauses, 1},
                                       {"refuses_a_bad_setting", refuses_a_bad_setting, 1},
                                       {"refuses_all_ranks_or_none", refuses_all_ranks_or_none, 2}};
    return probe_main_with_threads(argc, argv, cases, PROBE_COUNT(cases));
}
