/* SPDX-License-Identifier: Apache-2.0
 *
 * Active-message handlers under OpenMP: each message becomes a task of the team. The worker calls
 * the handler of commtask_listen, and cannot create tasks of the team. So the handler stores the
 * message and completes a detached task. A dependent task, the serving task, then creates one task
 * for each stored message, and the next detached task. The functions are inline, since the
 * program's compiler must compile task constructs. docs/many.md has an example. */
#ifndef COMMTASK_OMP_LISTEN_H
#define COMMTASK_OMP_LISTEN_H

#include <commtask/omp.h>
#include <pthread.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Body of the task of one message. The message is released when the body returns.
 *  The body may post, create tasks, wait for tasks that it created, and call commtask_omp_unlisten.
 *  The body must not wait for another message's task, and must not throw. Test `message->error`
 *  first: the body is also called, without data, for a message that was too long. */
typedef void (*commtask_omp_message_body)(commtask_message* message, void* argument);

/** A listener whose messages become tasks. The fields are private. The object must not be moved or
 *  freed before the enclosing taskgroup has ended and commtask_omp_unlisten or commtask_finalize
 *  has returned. */
typedef struct commtask_omp_listener {
    commtask_listener_t listener;   /**< The listener of commtask_listen. */
    commtask_omp_message_body body; /**< The body of the messages' tasks. */
    void* argument;                 /**< Passed to `body`. */
    pthread_mutex_t lock;           /**< Guards the fields below except `dependence`. No thread completes a
                                         detached task or creates a task while it has the lock. */
    void* detached;                 /**< The current detached task; null while none exists. The thread that
                                         clears this field completes the task. */
    commtask_message** messages;    /**< Two buffers of n_slots entries: the handler fills one while the
                                         serving task reads the other. */
    size_t n_slots;                 /**< The number of messages that can be received and not released. */
    size_t n_stored;                /**< The number of messages in the buffer that the handler fills. */
    int filled;                     /**< The buffer that the handler fills: 0 or 1. */
    int is_serving;                 /**< A serving task is running. */
    int must_serve_again;           /**< A further serving task started while one was running; the running
                                         one serves again. */
    int is_ending;                  /**< The listener has ended; the handler will not be called again. */
    int n_references;               /**< One for the serving tasks, one for the listener. The last release
                                         frees the buffers. */
    char dependence;                /**< Only its address is used: the serving task depends on it. */
} commtask_omp_listener;

/** Calls commtask_listen, and arranges that `end` is called when the listener ends.
 *  @param comm       as for commtask_listen.
 *  @param tag        as for commtask_listen.
 *  @param max_bytes  as for commtask_listen.
 *  @param n_slots    as for commtask_listen.
 *  @param handler    as for commtask_listen.
 *  @param listener   its field `listener` is written; passed to `handler` and `end`.
 *  @param end        called once, after the last call of `handler`.
 *  @return as commtask_listen. */
COMMTASK_API int commtask_omp_listen_begin_(MPI_Comm comm, int tag, size_t max_bytes, size_t n_slots,
                                            commtask_message_handler handler, commtask_omp_listener* listener,
                                            void (*end)(void* listener)) COMMTASK_NOEXCEPT;

/** Creates a detached task with out(dependence). The task calls `on_ready` when its dependences are
 *  met, and ends when commtask_omp_listen_complete_ is called. If memory is exhausted, the task
 *  ends without a call of `on_ready`.
 *  @param on_ready    receives the detached task, and may complete it at once.
 *  @param argument    passed to `on_ready`.
 *  @param dependence  an address. */
COMMTASK_API void commtask_omp_listen_create_detached_(void (*on_ready)(void* detached, void* argument), void* argument,
                                                       const void* dependence) COMMTASK_NOEXCEPT;

/** Completes a detached task. Any thread may call it, once for each detached task.
 *  @param detached  the detached task; freed. */
COMMTASK_API void commtask_omp_listen_complete_(void* detached) COMMTASK_NOEXCEPT;

/** Unlocks a listener. Completes its detached task if messages are stored or the listener has
 *  ended.
 *  @param listener  is locked. */
static inline void commtask_omp_listen_unlock_(commtask_omp_listener* listener) COMMTASK_NOEXCEPT {
    void* const detached = listener->n_stored > 0 || listener->is_ending ? listener->detached : NULL;
    if (detached) listener->detached = NULL;
    pthread_mutex_unlock(&listener->lock);
    if (detached) commtask_omp_listen_complete_(detached);
}

/** Stores the detached task, for the thread that will complete it.
 *  @param detached  the detached task.
 *  @param argument  the listener. */
static inline void commtask_omp_listen_store_detached_(void* detached, void* argument) COMMTASK_NOEXCEPT {
    commtask_omp_listener* const listener = (commtask_omp_listener*)argument;
    pthread_mutex_lock(&listener->lock);
    listener->detached = detached;
    commtask_omp_listen_unlock_(listener);
}

/** The handler: stores a message for the serving task.
 *  @param message   the message.
 *  @param argument  the listener.
 *  @return COMMTASK_MESSAGE_KEPT. */
static inline int commtask_omp_listen_store_message_(commtask_message* message, void* argument) COMMTASK_NOEXCEPT {
    commtask_omp_listener* const listener = (commtask_omp_listener*)argument;
    pthread_mutex_lock(&listener->lock);
    listener->messages[(size_t)listener->filled * listener->n_slots + listener->n_stored++] = message;
    commtask_omp_listen_unlock_(listener);
    return COMMTASK_MESSAGE_KEPT;
}

/** Frees the buffers of a listener.
 *  @param listener  has no references. */
static inline void commtask_omp_listen_free_(commtask_omp_listener* listener) COMMTASK_NOEXCEPT {
    free((void*)listener->messages);
    listener->messages = NULL;
    pthread_mutex_destroy(&listener->lock);
}

/** Releases one reference to a listener.
 *  @param listener  the listener. */
static inline void commtask_omp_listen_release_(commtask_omp_listener* listener) COMMTASK_NOEXCEPT {
    pthread_mutex_lock(&listener->lock);
    const int n_references = --listener->n_references;
    pthread_mutex_unlock(&listener->lock);
    if (n_references == 0) commtask_omp_listen_free_(listener);
}

/** Makes the serving tasks end; called when commtask_omp_unlisten or commtask_finalize has ended
 *  the listener.
 *  @param argument  the listener. */
static inline void commtask_omp_listen_on_end_(void* argument) COMMTASK_NOEXCEPT {
    commtask_omp_listener* const listener = (commtask_omp_listener*)argument;
    listener->listener = COMMTASK_LISTENER_NULL;
    pthread_mutex_lock(&listener->lock);
    listener->is_ending = 1;
    commtask_omp_listen_unlock_(listener);
    commtask_omp_listen_release_(listener);
}

/** Creates a task for each stored message. Only one thread at a time may call this function.
 *  @param listener  the listener.
 *  @return 1: the listener has ended, and no further message will be stored. */
static inline int commtask_omp_listen_create_tasks_(commtask_omp_listener* listener) {
    const commtask_omp_message_body body = listener->body;
    void* const argument = listener->argument;
    pthread_mutex_lock(&listener->lock);
    commtask_message** const taken = listener->messages + (size_t)listener->filled * listener->n_slots;
    const size_t n_taken = listener->n_stored;
    const int is_ending = listener->is_ending;
    listener->filled = 1 - listener->filled;
    listener->n_stored = 0;
    pthread_mutex_unlock(&listener->lock);
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

/** Creates a detached task, and the serving task that depends on it, as children of the current
 *  task.
 *  @param listener  the listener.
 *  @param serve     the body of the serving task. */
static inline void commtask_omp_listen_create_serving_task_(commtask_omp_listener* listener,
                                                            void (*serve)(commtask_omp_listener*)) {
    char* const dependence = &listener->dependence;
    commtask_omp_listen_create_detached_(commtask_omp_listen_store_detached_, listener, dependence);
#pragma omp task depend(in : dependence[0]) firstprivate(listener, serve)
    serve(listener);
}

/** The body of the serving task. In a team of one thread, the next serving task may start on this
 *  task's stack. The next task then returns at once, and this task loops; otherwise many messages
 *  would overflow the stack.
 *  @param listener  the listener. */
static inline void commtask_omp_listen_serve_(commtask_omp_listener* listener) {
    pthread_mutex_lock(&listener->lock);
    const int is_nested = listener->is_serving;
    if (is_nested) listener->must_serve_again = 1;
    listener->is_serving = 1;
    pthread_mutex_unlock(&listener->lock);
    if (is_nested) return;
    for (int goes_on = 1; goes_on;) {
        if (commtask_omp_listen_create_tasks_(listener)) {
            commtask_omp_listen_release_(listener);
            return;
        }
        commtask_omp_listen_create_serving_task_(listener, commtask_omp_listen_serve_);
        pthread_mutex_lock(&listener->lock);
        goes_on = listener->must_serve_again;
        listener->must_serve_again = 0;
        listener->is_serving = goes_on;
        pthread_mutex_unlock(&listener->lock);
    }
}

/** Starts a listener: `body(message, argument)` is called in an OpenMP task for every message with
 *  this tag on this communicator. Message tasks are unordered and may run concurrently on all
 *  threads of the team. The end of the enclosing taskgroup waits until the listener and all message
 *  tasks have ended; a taskwait or a barrier does not. Cancelling the taskgroup would drop
 *  messages.
 *  @param comm       as for commtask_listen.
 *  @param tag        as for commtask_listen.
 *  @param max_bytes  length of the longest message, in bytes.
 *  @param n_slots    maximum number of messages that were received and not yet released; at least
 *                    1. Further messages wait in MPI.
 *  @param body       called for each message. The message is valid until `body` returns.
 *  @param argument   passed to `body`.
 *  @param listener   written; must stay valid until the taskgroup has ended. After that the object
 *                    can be reused.
 *  @return as commtask_listen; ERR_RUNTIME as commtask_omp_check. After an error, tasks of messages
 *          that had already arrived still run, and commtask_omp_unlisten does nothing.
 *  @blocking As commtask_listen; like every task construct it may run other tasks.
 *            commtask_omp_wait_all waits until the listener has ended. In a team of one thread,
 *            message tasks run while that thread waits in the library or in the taskgroup.
 *  @threads Any thread of a team, in a parallel region and a taskgroup.
 *  @failures commtask_finalize ends the listener as commtask_omp_unlisten does. */
static inline int commtask_omp_listen(MPI_Comm comm, int tag, size_t max_bytes, size_t n_slots,
                                      commtask_omp_message_body body, void* argument, commtask_omp_listener* listener) {
    int code = commtask_omp_check();
    if (code != COMMTASK_OK) return code;
    const commtask_message_handler handler = body ? commtask_omp_listen_store_message_ : (commtask_message_handler)0;
    if (!listener) return commtask_listen(comm, tag, max_bytes, n_slots, handler, NULL, (commtask_listener_t*)0);
    listener->listener = COMMTASK_LISTENER_NULL;
    listener->body = body;
    listener->argument = argument;
    listener->detached = NULL;
    listener->n_slots = n_slots;
    listener->n_stored = 0;
    listener->filled = 0;
    listener->is_serving = 0;
    listener->must_serve_again = 0;
    listener->is_ending = 0;
    listener->n_references = 2;
    const size_t size_bytes = 2 * sizeof(commtask_message*);
    listener->messages =
        n_slots >= (size_t)-1 / size_bytes ? NULL : (commtask_message**)malloc((n_slots + 1) * size_bytes);
    if (!listener->messages) return COMMTASK_ERR_NO_MEMORY;
    if (pthread_mutex_init(&listener->lock, (const pthread_mutexattr_t*)0) != 0) {
        free((void*)listener->messages);
        listener->messages = NULL;
        return COMMTASK_ERR_NO_MEMORY;
    }
    code = commtask_omp_listen_begin_(comm, tag, max_bytes, n_slots, handler, listener, commtask_omp_listen_on_end_);
    if (code == COMMTASK_OK) {
        commtask_omp_listen_create_serving_task_(listener, commtask_omp_listen_serve_);
    } else {
        (void)commtask_omp_listen_create_tasks_(listener); /* deliver messages that have already arrived */
        commtask_omp_listen_free_(listener);
    }
    return code;
}

/** Ends a listener of commtask_omp_listen. Messages that MPI has already matched still become
 *  tasks, and the end of the taskgroup waits for these tasks.
 *  @param listener  from commtask_omp_listen. A listener that has ended or was not started is not
 *                   changed.
 *  @return as commtask_unlisten; after an error the listener stays active.
 *  @blocking As commtask_unlisten. The call does not wait for message tasks.
 *  @threads Any thread except inside a callback; message tasks may call it. One thread at a time,
 *           and not concurrently with commtask_finalize. */
static inline int commtask_omp_unlisten(commtask_omp_listener* listener) {
    if (!listener) return commtask_unlisten((commtask_listener_t*)0);
    commtask_listener_t ended = listener->listener;
    return ended == COMMTASK_LISTENER_NULL ? COMMTASK_OK : commtask_unlisten(&ended);
}

#ifdef __cplusplus
}
#endif
#endif
