/* SPDX-License-Identifier: Apache-2.0
 *
 * Standing receives under OpenMP: each message becomes a task of the team. The handler of commtask_listen runs on the worker, which is
 * in no team and cannot make a task: it puts the message into a box and rings. The bell is a plan, and a task that depends on its run
 * empties the box. All of it is inline, since a task construct must be compiled with the program; <commtask/omp.h>, which serves
 * programs without directives too, does not include it. docs/many.md has an example. */
#ifndef COMMTASK_OMP_LISTEN_H
#define COMMTASK_OMP_LISTEN_H

#include <commtask/omp.h>
#include <pthread.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What is done with a message, in an OpenMP task of its own. The message is given back when this returns, so copy what is to stay.
 *  It may post, create tasks, wait for those and call commtask_omp_unlisten; it must not wait for what another message's task does, which
 *  OpenMP need not begin meanwhile, and an exception must not leave it. Look at `message->error` first: a message
 *  that was too long comes here too, without data. */
typedef void (*commtask_omp_message_body)(commtask_message* message, void* argument);

/** A standing receive whose messages become tasks: memory of the caller's, which must stay where it is until the taskgroup around
 *  commtask_omp_listen has ended, and commtask_omp_unlisten has returned. Do not look inside. */
typedef struct commtask_omp_listener {
    commtask_listener_t listener; /**< Puts messages into the box. */
    commtask_plan_t
        bell; /**< Two empty members: the first says that a run has begun, the second is held until a ring. */
    commtask_omp_message_body body; /**< Of the messages' tasks. */
    void* argument;                 /**< Handed to it. */
    pthread_mutex_t lid;    /**< Guards what follows but for `rung`; nobody rings or makes a task with it held. */
    commtask_message** box; /**< Two halves of n_slots: one is filled, the other may be emptied meanwhile. */
    size_t n_slots;         /**< Of the receive: as many messages can be kept at a time. */
    size_t n_in_box;        /**< In the half that is filled. */
    int filled;             /**< Which half that is. */
    int is_open;            /**< The bell waits for a ring: who sets this to 0 has to ring. */
    int is_serving;         /**< A task empties the box, and makes the next one. */
    int is_to_serve_again;  /**< The next one has begun before that was done, maybe on the same stack. */
    int is_ending;          /**< The handler is not called any more. */
    int n_users; /**< The tasks that serve, and commtask_omp_unlisten: the last one gives bell and box back. */
    char rung;   /**< Only its address counts: what the task that serves depends on. */
} commtask_omp_listener;

/** Whether the caller has to ring. With the lid held.
 *  @param listener  whose bell
 *  @return 1: it has to, after the lid is free; 0: there is no need, or whoever sees the next run begin does it. */
static inline int commtask_omp_listen_must_ring_(commtask_omp_listener* listener) COMMTASK_NOEXCEPT {
    const int must = listener->is_open && (listener->n_in_box > 0 || listener->is_ending);
    if (must) listener->is_open = 0;
    return must;
}

/** Rings. A bell that waits does not refuse this. One whose run was canceled, in commtask_finalize, does: its box is looked at anyway.
 *  @param bell  which */
static inline void commtask_omp_listen_ring_(commtask_plan_t bell) COMMTASK_NOEXCEPT {
    (void)commtask_plan_ready(bell, 1);
}

/** The first member's callback: a run has begun, in which a ring cannot be lost. The run does not end before this returns.
 *  @param status  not used
 *  @param argument  the listener */
static inline void commtask_omp_listen_on_begin_(const commtask_status* status, void* argument) COMMTASK_NOEXCEPT {
    commtask_omp_listener* const listener = (commtask_omp_listener*)argument;
    (void)status;
    pthread_mutex_lock(&listener->lid);
    listener->is_open = 1;
    const int must_ring = commtask_omp_listen_must_ring_(listener);
    pthread_mutex_unlock(&listener->lid);
    if (must_ring) commtask_omp_listen_ring_(listener->bell);
}

/** The handler: keeps the message for the task that serves.
 *  @param message  what has come
 *  @param argument  the listener
 *  @return COMMTASK_MESSAGE_KEPT. */
static inline int commtask_omp_listen_keep_(commtask_message* message, void* argument) COMMTASK_NOEXCEPT {
    commtask_omp_listener* const listener = (commtask_omp_listener*)argument;
    pthread_mutex_lock(&listener->lid);
    listener->box[(size_t)listener->filled * listener->n_slots + listener->n_in_box++] = message;
    const int must_ring = commtask_omp_listen_must_ring_(listener);
    pthread_mutex_unlock(&listener->lid);
    if (must_ring) commtask_omp_listen_ring_(listener->bell);
    return COMMTASK_MESSAGE_KEPT;
}

/** One user less. The last one gives back what the listener has.
 *  @param listener  which */
static inline void commtask_omp_listen_leave_(commtask_omp_listener* listener) COMMTASK_NOEXCEPT {
    pthread_mutex_lock(&listener->lid);
    const int n_left = --listener->n_users;
    pthread_mutex_unlock(&listener->lid);
    if (n_left > 0) return;
    (void)commtask_plan_release(&listener->bell); /* what it cannot give back now, commtask_finalize does */
    free((void*)listener->box);
    listener->box = NULL;
    pthread_mutex_destroy(&listener->lid);
}

/** Takes all messages out of the box and makes their tasks. No other thread does so meanwhile.
 *  @param listener  whose box
 *  @return 1: no message will come any more. */
static inline int commtask_omp_listen_empty_(commtask_omp_listener* listener) {
    const commtask_omp_message_body body = listener->body;
    void* const argument = listener->argument;
    pthread_mutex_lock(&listener->lid);
    commtask_message** const taken = listener->box + (size_t)listener->filled * listener->n_slots;
    const size_t n_taken = listener->n_in_box;
    const int is_ending = listener->is_ending;
    listener->filled = 1 - listener->filled;
    listener->n_in_box = 0;
    listener->is_open = 0;
    pthread_mutex_unlock(&listener->lid);
    for (size_t i = 0; i < n_taken; ++i) {
        commtask_message* const message = taken[i];
#pragma omp task firstprivate(message, body, argument)
        {
            body(message, argument);
            (void)commtask_message_release(message);
        }
    }
    return is_ending;
}

/** Starts the bell, and makes the task that serves when it has rung; a child of the current task.
 *  @param listener  whose
 *  @param serve  the body of that task
 *  @return of COMM_PLAN: if it was refused there is no such task. */
static inline int commtask_omp_listen_arm_(commtask_omp_listener* listener, void (*serve)(commtask_omp_listener*)) {
    char* const rung = &listener->rung;
    const int code = COMM_PLAN(listener->bell, out(rung));
    if (code != COMMTASK_OK) return code;
#pragma omp task depend(in : rung[0]) firstprivate(listener, serve)
    serve(listener);
    return code;
}

/** The body of the task that serves. Where the next one begins before this one has ended, this one does its work: in a team of one thread
 *  it begins on the same stack, which a flood of messages would use up.
 *  @param listener  whose */
static inline void commtask_omp_listen_serve_(commtask_omp_listener* listener) {
    pthread_mutex_lock(&listener->lid);
    const int is_other_there = listener->is_serving;
    if (is_other_there) listener->is_to_serve_again = 1;
    listener->is_serving = 1;
    pthread_mutex_unlock(&listener->lid);
    if (is_other_there) return;
    for (int is_to_go_on = 1; is_to_go_on;) {
        int is_last = commtask_omp_listen_empty_(listener);
        if (!is_last &&
            commtask_plan_arrived(listener->bell, 1) < 0) { /* commtask_finalize has ended receive and bell */
            listener->listener = COMMTASK_LISTENER_NULL;
            is_last = 1;
        }
        if (is_last) {
            commtask_omp_listen_leave_(listener);
            return;
        }
        if (commtask_omp_listen_arm_(listener, commtask_omp_listen_serve_) != COMMTASK_OK) {
#pragma omp taskyield
            continue; /* without a bell it looks again and again */
        }
        pthread_mutex_lock(&listener->lid);
        is_to_go_on = listener->is_to_serve_again;
        listener->is_to_serve_again = 0;
        listener->is_serving = is_to_go_on;
        pthread_mutex_unlock(&listener->lid);
    }
}

/** Records the bell.
 *  @param listener  whose
 *  @return a code; on success the bell is there. */
static inline int commtask_omp_listen_cast_(commtask_omp_listener* listener) COMMTASK_NOEXCEPT {
    commtask_options told = COMMTASK_OPTIONS_INIT;
    told.callback = commtask_omp_listen_on_begin_;
    told.callback_argument = listener;
    int code = commtask_record_begin();
    if (code != COMMTASK_OK) return code;
    code = commtask_submit(commtask_op_noop(MPI_COMM_SELF), &told, (commtask_t*)0);
    if (code == COMMTASK_OK)
        code = commtask_submit(commtask_op_noop(MPI_COMM_SELF), (const commtask_options*)0, (commtask_t*)0);
    if (code != COMMTASK_OK) {
        (void)commtask_record_end((commtask_plan_t*)0);
        return code;
    }
    code = commtask_record_end(&listener->bell);
    return code == COMMTASK_OK ? commtask_plan_hold(listener->bell, 1) : code;
}

/** From now on every message with this tag on this communicator becomes an OpenMP task that calls `body(message, argument)` and then
 *  gives the message back. Tasks of messages run in any order, several at a time, on any thread of the team. Call it in a parallel region,
 *  in a taskgroup: its end waits until commtask_omp_unlisten was called and all messages' tasks have ended. A taskwait, or a barrier,
 *  does not; a cancellation of the taskgroup would drop messages.
 *  @param comm       as for commtask_listen.
 *  @param tag        as for commtask_listen.
 *  @param max_bytes  the longest message.
 *  @param n_slots    how many messages can be in tasks, or on the way to them, at the same time; at least 1. What comes beyond waits
 *                    with MPI.
 *  @param body       called for each message.
 *  @param argument   handed to it.
 *  @param listener   written; must stay until the taskgroup has ended, also if commtask_omp_unlisten has been called. It can be used
 *                    again then.
 *  @return as commtask_listen; ERR_RUNTIME as commtask_omp_check; ERR_ARGUMENT also: this thread records a plan. After a refusal nothing
 *          is left but the tasks of messages that had come before memory was refused, and commtask_omp_unlisten does nothing.
 *  @buffers A message's, until body returns.
 *  @blocking As commtask_listen; like every task construct it may run other tasks. As long as it listens
 *            commtask_omp_wait_all waits, since the bell is a communication task. In a team of one thread the messages' tasks run
 *            where that thread waits in the library or at the end of the taskgroup.
 *  @threads Any of a team, in a task. Each ring costs two tasks of libomp's, one ring for all messages that come until it is answered.
 *  @failures Where the system has no memory for a run of the bell, the error handler hears of it, and the box is looked at anyway.
 *            commtask_finalize ends it like any standing receive, and gives its bell up: the error handler hears of a canceled plan. No
 *            message may come meanwhile: its task may ring again beside commtask_finalize, and the taskgroup then does not end. */
static inline int commtask_omp_listen(MPI_Comm comm, int tag, size_t max_bytes, size_t n_slots,
                                      commtask_omp_message_body body, void* argument, commtask_omp_listener* listener) {
    int code = commtask_omp_check();
    if (code != COMMTASK_OK) return code;
    const commtask_message_handler handler = body ? commtask_omp_listen_keep_ : (commtask_message_handler)0;
    if (!listener) return commtask_listen(comm, tag, max_bytes, n_slots, handler, NULL, (commtask_listener_t*)0);
    listener->listener = COMMTASK_LISTENER_NULL;
    listener->bell = COMMTASK_PLAN_NULL;
    listener->body = body;
    listener->argument = argument;
    listener->n_slots = n_slots;
    listener->n_in_box = 0;
    listener->filled = 0;
    listener->is_open = 0;
    listener->is_serving = 0;
    listener->is_to_serve_again = 0;
    listener->is_ending = 0;
    listener->n_users = 1;
    const size_t size_bytes = 2 * sizeof(commtask_message*);
    listener->box = n_slots >= (size_t)-1 / size_bytes ? NULL : (commtask_message**)malloc((n_slots + 1) * size_bytes);
    if (!listener->box) return COMMTASK_ERR_NO_MEMORY;
    if (pthread_mutex_init(&listener->lid, (const pthread_mutexattr_t*)0) != 0) {
        free((void*)listener->box);
        listener->box = NULL;
        return COMMTASK_ERR_NO_MEMORY;
    }
    code = commtask_omp_listen_cast_(listener);
    if (code == COMMTASK_OK)
        code = commtask_listen(comm, tag, max_bytes, n_slots, handler, listener, &listener->listener);
    if (code == COMMTASK_OK) {
        code = commtask_omp_listen_arm_(listener, commtask_omp_listen_serve_);
        if (code == COMMTASK_OK) return code;
        (void)commtask_unlisten(&listener->listener);
    }
    (void)commtask_omp_listen_empty_(listener); /* what has come by now is not lost */
    commtask_omp_listen_leave_(listener);
    return code;
}

/** Ends a standing receive of commtask_omp_listen. Messages that MPI had taken for it before still become tasks, which the end of the
 *  taskgroup waits for.
 *  @param listener  from commtask_omp_listen. One that was ended before, or was refused, is left as it is.
 *  @return as commtask_unlisten; after a refusal it goes on.
 *  @blocking As commtask_unlisten: not for the messages' tasks.
 *  @threads Any but those that run callbacks; the messages' tasks too. One at a time. */
static inline int commtask_omp_unlisten(commtask_omp_listener* listener) {
    if (!listener) return commtask_unlisten((commtask_listener_t*)0);
    if (listener->listener == COMMTASK_LISTENER_NULL) return COMMTASK_OK;
    const int code = commtask_unlisten(&listener->listener);
    if (code != COMMTASK_OK) return code;
    pthread_mutex_lock(&listener->lid);
    listener->is_ending = 1;
    ++listener->n_users;
    const int must_ring = commtask_omp_listen_must_ring_(listener);
    pthread_mutex_unlock(&listener->lid);
    if (must_ring) commtask_omp_listen_ring_(listener->bell);
    commtask_omp_listen_leave_(listener);
    return COMMTASK_OK;
}

#ifdef __cplusplus
}
#endif
#endif
