/* SPDX-License-Identifier: Apache-2.0
 *
 * Active-message handlers under OpenMP: each message becomes a task of the team. The handler of
 * commtask_listen runs on the worker, which cannot create tasks of the team: the handler stores the
 * message in a buffer and completes a detached task. A task that depends on the detached task
 * empties the buffer and makes the next detached task. The functions are inline, since task
 * constructs must be compiled with the program. docs/many.md has an example. */
#ifndef COMMTASK_OMP_LISTEN_H
#define COMMTASK_OMP_LISTEN_H

#include <commtask/omp.h>
#include <commtask/unfinished.h>
#include <pthread.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Processes one message, in an OpenMP task of its own. The message is released when the body
 *  returns, so copy the data that is needed later.
 *  The body may post, create tasks, wait for tasks that it created, and call commtask_omp_unlisten.
 *  It must not wait for the task of another message, which OpenMP need not start meanwhile, and no
 *  exception may leave it. Test `message->error` first: the body is also called, without data, for
 *  a message that was too long. */
typedef void (*commtask_omp_message_body)(commtask_message* message, void* argument);

/** An active-message handler whose messages become tasks.
 *  The caller owns the memory, which must stay where it is until the taskgroup around
 *  commtask_omp_listen has ended, and commtask_omp_unlisten or commtask_finalize has returned. The
 *  fields are private. */
typedef struct commtask_omp_listener {
    commtask_listener_t listener;   /**< Puts messages into the buffer. */
    commtask_omp_message_body body; /**< The body of the messages' tasks. */
    void* argument;                 /**< Passed to `body`. */
    pthread_mutex_t lid;            /**< Guards the fields below except `rung`. No thread completes a
                                         detached task or creates a task while holding it. */
    void* bell;                     /**< The detached task that can be completed; a thread that takes it
                                         must complete it. Null until the next detached task is made. */
    commtask_message** box;         /**< Two halves of n_slots: one is filled, the other may be emptied
                                         meanwhile. */
    size_t n_slots;                 /**< The number of messages that can be kept at a time. */
    size_t n_in_box;                /**< The number of messages in the half that is filled. */
    int filled;                     /**< The half that is filled. */
    int is_serving;                 /**< A serving task empties the buffer, and makes the next proxy
                                         task. */
    int is_to_serve_again;          /**< The next serving task began before that one had ended, perhaps on
                                         the same stack. */
    int is_ending;                  /**< The handler is not called any more. */
    int n_users; /**< The serving tasks that go on, plus the receive; the last of them frees the buffer. */
    char rung;   /**< Only its address is used: the serving task depends on it. */
} commtask_omp_listener;

/** Makes a detached task with out(rung) that calls `hang` when its dependences are met, and ends
 *  when commtask_omp_listen_ring_ is called. Only the functions below call it. Without memory, the
 *  library completes the task itself.
 *  @param hang      receives the detached task, and may complete it at once.
 *  @param argument  passed to `hang`.
 *  @param rung      an address. */
COMMTASK_API void commtask_omp_listen_hang_(void (*hang)(void* bell, void* argument), void* argument,
                                            const void* rung) COMMTASK_NOEXCEPT;

/** Completes a detached task. Any thread may call it, once for each detached task.
 *  @param bell  the detached task; it is freed. */
COMMTASK_API void commtask_omp_listen_ring_(void* bell) COMMTASK_NOEXCEPT;

/** Unlocks the listener, and completes its detached task if there are messages or the receive has
 *  ended.
 *  @param listener  is locked */
static inline void commtask_omp_listen_open_lid_(commtask_omp_listener* listener) COMMTASK_NOEXCEPT {
    void* const bell = listener->n_in_box > 0 || listener->is_ending ? listener->bell : NULL;
    if (bell) listener->bell = NULL;
    pthread_mutex_unlock(&listener->lid);
    if (bell) commtask_omp_listen_ring_(bell);
}

/** Stores a detached task that waits to be completed.
 *  @param bell  the detached task
 *  @param argument  the listener */
static inline void commtask_omp_listen_on_bell_(void* bell, void* argument) COMMTASK_NOEXCEPT {
    commtask_omp_listener* const listener = (commtask_omp_listener*)argument;
    pthread_mutex_lock(&listener->lid);
    listener->bell = bell;
    commtask_omp_listen_open_lid_(listener);
}

/** The handler: stores the message for the serving task.
 *  @param message  the message
 *  @param argument  the listener
 *  @return COMMTASK_MESSAGE_KEPT. */
static inline int commtask_omp_listen_keep_(commtask_message* message, void* argument) COMMTASK_NOEXCEPT {
    commtask_omp_listener* const listener = (commtask_omp_listener*)argument;
    pthread_mutex_lock(&listener->lid);
    listener->box[(size_t)listener->filled * listener->n_slots + listener->n_in_box++] = message;
    commtask_omp_listen_open_lid_(listener);
    return COMMTASK_MESSAGE_KEPT;
}

/** Frees the buffer of a listener that has no users.
 *  @param listener  the listener */
static inline void commtask_omp_listen_clear_(commtask_omp_listener* listener) COMMTASK_NOEXCEPT {
    free((void*)listener->box);
    listener->box = NULL;
    pthread_mutex_destroy(&listener->lid);
}

/** Removes one user of a listener.
 *  @param listener  the listener */
static inline void commtask_omp_listen_leave_(commtask_omp_listener* listener) COMMTASK_NOEXCEPT {
    pthread_mutex_lock(&listener->lid);
    const int n_left = --listener->n_users;
    pthread_mutex_unlock(&listener->lid);
    if (n_left == 0) commtask_omp_listen_clear_(listener);
}

/** The receive has ended, by commtask_omp_unlisten or by commtask_finalize: the serving tasks are
 *  to end.
 *  @param argument  the listener */
static inline void commtask_omp_listen_on_end_(void* argument) COMMTASK_NOEXCEPT {
    commtask_omp_listener* const listener = (commtask_omp_listener*)argument;
    listener->listener = COMMTASK_LISTENER_NULL;
    pthread_mutex_lock(&listener->lid);
    listener->is_ending = 1;
    commtask_omp_listen_open_lid_(listener);
    commtask_omp_listen_leave_(listener);
}

/** Takes all messages out of the buffer and creates their tasks. No other thread does so meanwhile.
 *  @param listener  the listener
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

/** Makes a detached task, and the serving task that runs when the detached task is completed; both
 *  are children of the current task.
 *  @param listener  the listener
 *  @param serve  the body of the serving task */
static inline void commtask_omp_listen_arm_(commtask_omp_listener* listener, void (*serve)(commtask_omp_listener*)) {
    char* const rung = &listener->rung;
    commtask_omp_listen_hang_(commtask_omp_listen_on_bell_, listener, rung);
#pragma omp task depend(in : rung[0]) firstprivate(listener, serve)
    serve(listener);
}

/** The body of the serving task. If the next serving task begins before this task has ended, this
 *  task does the work of both: in a team of one thread the next task begins on the same stack, and
 *  a flood of messages would exhaust that stack.
 *  @param listener  the listener */
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

/** Calls `body(message, argument)` in an OpenMP task for every message with this tag on this
 *  communicator, then releases the message.
 *  Tasks of messages run in any order, several at a time, on any thread of the team. Call this
 *  function in a parallel region, in a taskgroup. The end of the taskgroup waits until
 *  commtask_omp_unlisten was called and all messages' tasks have ended; a taskwait or a barrier
 *  does not. A cancellation of the taskgroup would drop messages.
 *  @param comm       as for commtask_listen.
 *  @param tag        as for commtask_listen.
 *  @param max_bytes  the length of the longest message.
 *  @param n_slots    the largest number of messages that are in tasks, or on the way to them, at
 *                    the same time; at least 1. Further messages wait in MPI.
 *  @param body       called for each message.
 *  @param argument   passed to `body`.
 *  @param listener   written; must stay until the taskgroup has ended, also after
 *                    commtask_omp_unlisten. It can be reused then.
 *  @return as commtask_listen; ERR_RUNTIME as commtask_omp_check. After a refusal only tasks of
 *          messages that arrived before it remain, and commtask_omp_unlisten does nothing.
 *  @buffers A message's, until `body` returns.
 *  @blocking As commtask_listen; like every task construct it may run other tasks. Until the
 *            receive ends, commtask_omp_wait_all waits, since the detached task counts as a
 *            communication task. In a team of one thread the messages' tasks run while that thread
 *            waits in the library or at the end of the taskgroup.
 *  @threads Any of a team, in a task. A detached task and its serving task, two tasks of libomp,
 *           serve all messages that arrive before the serving task runs.
 *  @failures Without memory for the detached task, the buffer is emptied too. commtask_finalize
 *            ends the receive as commtask_omp_unlisten does, at any moment, and messages may arrive
 *            meanwhile. If commtask_finalize abandons a worker that does not return, the taskgroup
 *            does not end either. */
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
        (void)commtask_omp_listen_empty_(listener); /* messages that have arrived by now are not lost */
        commtask_omp_listen_clear_(listener);
    }
    return code;
}

/** Ends an active-message handler of commtask_omp_listen. Messages that MPI had received for the
 *  handler before still become tasks, and the end of the taskgroup waits for these tasks.
 *  @param listener  from commtask_omp_listen. A listener that has ended, or was refused, is not
 *                   changed.
 *  @return as commtask_unlisten; after a refusal the handler stays active.
 *  @blocking As commtask_unlisten: not for the messages' tasks.
 *  @threads Any but threads that run callbacks; the messages' tasks may call it too. One thread at
 *           a time, and not concurrently with commtask_finalize. */
static inline int commtask_omp_unlisten(commtask_omp_listener* listener) {
    if (!listener) return commtask_unlisten((commtask_listener_t*)0);
    commtask_listener_t ended = listener->listener;
    return ended == COMMTASK_LISTENER_NULL ? COMMTASK_OK : commtask_unlisten(&ended);
}

#ifdef __cplusplus
}
#endif
#endif
