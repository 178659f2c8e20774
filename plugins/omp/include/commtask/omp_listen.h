/* SPDX-License-Identifier: Apache-2.0
 *
 * Standing receives under OpenMP: each message becomes a task of the team. The handler of commtask_listen runs on the worker, which is
 * in no team and cannot make a task: it puts the message into a box and rings. The bell is a task without a body, and one that depends
 * on it empties the box and hangs the next bell up. All of it is inline, since a task construct must be compiled with the program;
 * <commtask/omp.h>, which serves programs without directives too, does not include it. docs/many.md has an example. */
#ifndef COMMTASK_OMP_LISTEN_H
#define COMMTASK_OMP_LISTEN_H

#include <commtask/omp.h>
#include <commtask/unfinished.h>
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
 *  commtask_omp_listen has ended, and commtask_omp_unlisten, or commtask_finalize, has returned. Do not look inside. */
typedef struct commtask_omp_listener {
    commtask_listener_t listener;   /**< Puts messages into the box. */
    commtask_omp_message_body body; /**< Of the messages' tasks. */
    void* argument;                 /**< Handed to it. */
    pthread_mutex_t lid; /**< Guards what follows but for `rung`; nobody rings or makes a task with it held. */
    void* bell;          /**< Waits for a ring: who takes it from here has to ring. Null between a ring and the next. */
    commtask_message** box; /**< Two halves of n_slots: one is filled, the other may be emptied meanwhile. */
    size_t n_slots;         /**< Of the receive: as many messages can be kept at a time. */
    size_t n_in_box;        /**< In the half that is filled. */
    int filled;             /**< Which half that is. */
    int is_serving;         /**< A task empties the box, and makes the next one. */
    int is_to_serve_again;  /**< The next one has begun before that was done, maybe on the same stack. */
    int is_ending;          /**< The handler is not called any more. */
    int n_users; /**< The tasks that serve, as long as they go on, and the receive: the last one gives the box back. */
    char rung;   /**< Only its address counts: what the task that serves depends on. */
} commtask_omp_listener;

/** Of libcommtask-omp, for what follows alone: makes a task with out(rung) that calls `hang` when its turn has come, and ends when
 *  somebody rings, which the library does itself where it has no memory for a bell.
 *  @param hang      is given the bell. It may ring at once.
 *  @param argument  handed to it.
 *  @param rung      an address. */
COMMTASK_API void commtask_omp_listen_hang_(void (*hang)(void* bell, void* argument), void* argument,
                                            const void* rung) COMMTASK_NOEXCEPT;

/** Rings. Any thread; a bell is rung once.
 *  @param bell  is gone then. */
COMMTASK_API void commtask_omp_listen_ring_(void* bell) COMMTASK_NOEXCEPT;

/** Opens the lid, and rings if there is a reason and a bell that waits.
 *  @param listener  its lid is held */
static inline void commtask_omp_listen_open_lid_(commtask_omp_listener* listener) COMMTASK_NOEXCEPT {
    void* const bell = listener->n_in_box > 0 || listener->is_ending ? listener->bell : NULL;
    if (bell) listener->bell = NULL;
    pthread_mutex_unlock(&listener->lid);
    if (bell) commtask_omp_listen_ring_(bell);
}

/** A bell waits for a ring.
 *  @param bell  which
 *  @param argument  the listener */
static inline void commtask_omp_listen_on_bell_(void* bell, void* argument) COMMTASK_NOEXCEPT {
    commtask_omp_listener* const listener = (commtask_omp_listener*)argument;
    pthread_mutex_lock(&listener->lid);
    listener->bell = bell;
    commtask_omp_listen_open_lid_(listener);
}

/** The handler: keeps the message for the task that serves.
 *  @param message  what has come
 *  @param argument  the listener
 *  @return COMMTASK_MESSAGE_KEPT. */
static inline int commtask_omp_listen_keep_(commtask_message* message, void* argument) COMMTASK_NOEXCEPT {
    commtask_omp_listener* const listener = (commtask_omp_listener*)argument;
    pthread_mutex_lock(&listener->lid);
    listener->box[(size_t)listener->filled * listener->n_slots + listener->n_in_box++] = message;
    commtask_omp_listen_open_lid_(listener);
    return COMMTASK_MESSAGE_KEPT;
}

/** Gives back what the listener has. Nobody else uses it.
 *  @param listener  which */
static inline void commtask_omp_listen_clear_(commtask_omp_listener* listener) COMMTASK_NOEXCEPT {
    free((void*)listener->box);
    listener->box = NULL;
    pthread_mutex_destroy(&listener->lid);
}

/** One user less.
 *  @param listener  whose */
static inline void commtask_omp_listen_leave_(commtask_omp_listener* listener) COMMTASK_NOEXCEPT {
    pthread_mutex_lock(&listener->lid);
    const int n_left = --listener->n_users;
    pthread_mutex_unlock(&listener->lid);
    if (n_left == 0) commtask_omp_listen_clear_(listener);
}

/** No message comes any more, whoever has ended the receive: the tasks that serve are to end.
 *  @param argument  the listener */
static inline void commtask_omp_listen_on_end_(void* argument) COMMTASK_NOEXCEPT {
    commtask_omp_listener* const listener = (commtask_omp_listener*)argument;
    listener->listener = COMMTASK_LISTENER_NULL;
    pthread_mutex_lock(&listener->lid);
    listener->is_ending = 1;
    commtask_omp_listen_open_lid_(listener);
    commtask_omp_listen_leave_(listener);
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

/** Hangs a bell up, and makes the task that serves when it has rung; children of the current task.
 *  @param listener  whose
 *  @param serve  the body of that task */
static inline void commtask_omp_listen_arm_(commtask_omp_listener* listener, void (*serve)(commtask_omp_listener*)) {
    char* const rung = &listener->rung;
    commtask_omp_listen_hang_(commtask_omp_listen_on_bell_, listener, rung);
#pragma omp task depend(in : rung[0]) firstprivate(listener, serve)
    serve(listener);
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
        if (commtask_omp_listen_empty_(listener)) {
            commtask_omp_listen_leave_(listener);
            return;
        }
        commtask_omp_listen_arm_(listener, commtask_omp_listen_serve_);
        pthread_mutex_lock(&listener->lid);
        is_to_go_on = listener->is_to_serve_again;
        listener->is_to_serve_again = 0;
        listener->is_serving = is_to_go_on;
        pthread_mutex_unlock(&listener->lid);
    }
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
 *  @return as commtask_listen; ERR_RUNTIME as commtask_omp_check. After a refusal nothing is left but the tasks of messages that had come
 *          before memory was refused, and commtask_omp_unlisten does nothing.
 *  @buffers A message's, until body returns.
 *  @blocking As commtask_listen; like every task construct it may run other tasks. As long as it listens
 *            commtask_omp_wait_all waits, since the bell counts as a communication task. In a team of one thread the messages' tasks run
 *            where that thread waits in the library or at the end of the taskgroup.
 *  @threads Any of a team, in a task. Each ring costs two tasks of libomp's, one ring for all messages that come until it is answered.
 *  @failures Where the system has no memory for a bell, the box is looked at anyway. commtask_finalize ends it as commtask_omp_unlisten
 *            does, at any moment, and messages may come meanwhile; only where commtask_finalize leaves behind a worker that does not
 *            come back, the taskgroup does not end either. */
static inline int commtask_omp_listen(MPI_Comm comm, int tag, size_t max_bytes, size_t n_slots,
                                      commtask_omp_message_body body, void* argument, commtask_omp_listener* listener) {
    int code = commtask_omp_check();
    if (code != COMMTASK_OK) return code;
    const commtask_message_handler handler = body ? commtask_omp_listen_keep_ : (commtask_message_handler)0;
    if (!listener) return commtask_listen(comm, tag, max_bytes, n_slots, handler, NULL, (commtask_listener_t*)0);
    listener->listener = COMMTASK_LISTENER_NULL;
    listener->body = body;
    listener->argument = argument;
    listener->bell = NULL;
    listener->n_slots = n_slots;
    listener->n_in_box = 0;
    listener->filled = 0;
    listener->is_serving = 0;
    listener->is_to_serve_again = 0;
    listener->is_ending = 0;
    listener->n_users = 2;
    const size_t size_bytes = 2 * sizeof(commtask_message*);
    listener->box = n_slots >= (size_t)-1 / size_bytes ? NULL : (commtask_message**)malloc((n_slots + 1) * size_bytes);
    if (!listener->box) return COMMTASK_ERR_NO_MEMORY;
    if (pthread_mutex_init(&listener->lid, (const pthread_mutexattr_t*)0) != 0) {
        free((void*)listener->box);
        listener->box = NULL;
        return COMMTASK_ERR_NO_MEMORY;
    }
    code = commtask_listen(comm, tag, max_bytes, n_slots, handler, listener, &listener->listener);
    if (code == COMMTASK_OK) {
        commtask_listener_on_end(listener->listener, commtask_omp_listen_on_end_, listener);
        commtask_omp_listen_arm_(listener, commtask_omp_listen_serve_);
    } else {
        (void)commtask_omp_listen_empty_(listener); /* what has come by now is not lost */
        commtask_omp_listen_clear_(listener);
    }
    return code;
}

/** Ends a standing receive of commtask_omp_listen. Messages that MPI had taken for it before still become tasks, which the end of the
 *  taskgroup waits for.
 *  @param listener  from commtask_omp_listen. One that was ended before, or was refused, is left as it is.
 *  @return as commtask_unlisten; after a refusal it goes on.
 *  @blocking As commtask_unlisten: not for the messages' tasks.
 *  @threads Any but those that run callbacks; the messages' tasks too. One at a time, and not beside commtask_finalize. */
static inline int commtask_omp_unlisten(commtask_omp_listener* listener) {
    if (!listener) return commtask_unlisten((commtask_listener_t*)0);
    commtask_listener_t ended = listener->listener;
    return ended == COMMTASK_LISTENER_NULL ? COMMTASK_OK : commtask_unlisten(&ended);
}

#ifdef __cplusplus
}
#endif
#endif
