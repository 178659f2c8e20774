/* SPDX-License-Identifier: Apache-2.0
 *
 * Active-message handlers: a function is called for each message with a given tag, from any rank.
 * The program posts no receives and need not know the number of messages (docs/many.md). */
#ifndef COMMTASK_LISTEN_H
#define COMMTASK_LISTEN_H

#include <commtask/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A listener: the handler of one tag on one communicator, with its receives. Opaque. */
typedef struct commtask_listener_s* commtask_listener_t;

/** No listener. */
#define COMMTASK_LISTENER_NULL ((commtask_listener_t)0)

/** A received message. The library creates it; later versions may add fields at the end. */
typedef struct commtask_message {
    size_t struct_size; /**< sizeof(commtask_message) in the library. */
    void* data;         /**< The received bytes, aligned to 64 bytes; the handler may write to them. */
    MPI_Count bytes;    /**< Length, in bytes. */
    int source;         /**< The rank that sent it. */
    int tag;            /**< Its tag. */
    int error;          /**< MPI_SUCCESS; or an MPI error, e.g. for a message above max_bytes: `data` is not valid. */
    int error_class;    /**< Its class, as MPI_Error_class gives it. */
} commtask_message;

/** Return values of a handler. */
enum {
    COMMTASK_MESSAGE_DONE = 0, /**< The library may reuse the message's memory. */
    COMMTASK_MESSAGE_KEPT = 1  /**< The message stays valid until commtask_message_release. */
};

/** Handler of a message. Like a commtask_callback, it may signal events, post and release messages;
 *  it must not block and should not compute. To compute, keep the message and give it to a thread
 *  or a task. Messages of one sender arrive in the order of their sends.
 *  @return COMMTASK_MESSAGE_DONE or COMMTASK_MESSAGE_KEPT. */
typedef int (*commtask_message_handler)(commtask_message* message, void* argument);

/** Starts a listener: every message with this tag on this communicator is received, and the handler
 *  is called for it. At most n_slots messages are received and not yet released. Further messages
 *  stay with MPI, and none is dropped; docs/many.md describes what their senders see.
 *  commtask_finalize ends listeners. While a listener exists, its worker polls for messages.
 *  @param comm  the communicator; free it after commtask_unlisten.
 *  @param tag  tag of the messages, or MPI_ANY_TAG. Other receives that match the same messages
 *              compete with the listener.
 *  @param max_bytes  length of the longest message, in bytes.
 *  @param n_slots  maximum number of messages that were received and not yet released, each with
 *                  memory of its own; at least 1.
 *  @param handler  called for each message.
 *  @param argument  argument of the handler.
 *  @param listener  written on success, before the first call of the handler; end it with
 *                   commtask_unlisten.
 *  @return COMMTASK_OK; ERR_ARGUMENT, ERR_COMM, ERR_TAG; ERR_COUNT: max_bytes is more than this MPI
 *          can receive; ERR_NO_MEMORY; ERR_WORKER_THREAD: called inside an MPI callback;
 *          ERR_NOT_INITIALIZED.
 *  @blocking Until the worker has posted the receives. */
COMMTASK_API int commtask_listen(MPI_Comm comm, int tag, size_t max_bytes, size_t n_slots,
                                 commtask_message_handler handler, void* argument,
                                 commtask_listener_t* listener) COMMTASK_NOEXCEPT;

/** Releases a message that a handler has kept.
 *  @param message  must not be accessed afterwards. Null has no effect.
 *  @return COMMTASK_OK; ERR_NO_MEMORY: the message is released, but its receive is posted again
 *          only with the next message that arrives or is released. A later shortage of memory has
 *          the same effect; a warning on stderr names the listener once.
 *  @threads Any, at any time, also after commtask_unlisten and commtask_finalize; once for each
 *           message. If the handler calls it, the handler returns COMMTASK_MESSAGE_KEPT.
 *  @blocking As commtask_post. */
COMMTASK_API int commtask_message_release(commtask_message* message) COMMTASK_NOEXCEPT;

/** Ends a listener. Messages that MPI has already matched with its receives are still given to the
 *  handler; later messages stay with MPI. Kept messages stay valid until they are released.
 *  @param listener  set to COMMTASK_LISTENER_NULL. COMMTASK_LISTENER_NULL has no effect.
 *  @return COMMTASK_OK; ERR_ARGUMENT, ERR_NOT_INITIALIZED; ERR_WORKER_THREAD: called in a callback
 *          or a handler; ERR_NO_MEMORY: the listener continues.
 *  @blocking Until the handler has been called for the last time, and calls of
 *            commtask_message_release in other threads have returned. */
COMMTASK_API int commtask_unlisten(commtask_listener_t* listener) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
