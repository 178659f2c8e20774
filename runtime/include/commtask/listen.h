/* SPDX-License-Identifier: Apache-2.0
 *
 * Active-message handlers: a function is called for each message with a given tag, from any
 * rank, at any time. No receive is posted for a message, and the number of messages is not known
 * before, as in active messages and in the exchange of spikes (docs/many.md). */
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

/** A received message. Only the library makes it; later versions may add fields at the end. */
typedef struct commtask_message {
    size_t struct_size; /**< sizeof(commtask_message) in the library. */
    void* data;         /**< The received bytes, aligned to 64 bytes; the handler may write to them. */
    MPI_Count bytes;    /**< Length, in bytes. */
    int source;         /**< The rank that sent it. */
    int tag;            /**< Its tag. */
    int error;          /**< MPI_SUCCESS, or an MPI error, e.g. longer than max_bytes: `data` has no message. */
    int error_class;    /**< Its class, as MPI_Error_class gives it. */
} commtask_message;

/** Return values of a handler. */
enum {
    COMMTASK_MESSAGE_DONE = 0, /**< The library may reuse its memory. */
    COMMTASK_MESSAGE_KEPT = 1  /**< It stays valid until commtask_message_release. */
};

/** Handler of a message. As a commtask_callback, it is called on the worker or on a thread that
 *  makes progress. It may signal, fulfill, post and release messages; it must not block and should
 *  not compute. To compute, keep the message and give it to a thread or a task. Messages of one
 *  sender come in the order in which they were sent.
 *  @return COMMTASK_MESSAGE_DONE or COMMTASK_MESSAGE_KEPT. */
typedef int (*commtask_message_handler)(commtask_message* message, void* argument);

/** Starts a listener: it receives every message with this tag on this communicator, by any send of
 *  any rank, and calls the handler for it. At most n_slots messages are received or kept at the
 *  same time. Further messages stay with MPI, and none is dropped. If MPI does not buffer such a
 *  message (an ssend, or a message above its eager limit), its send ends late. Eager messages do
 *  not delay their sender and fill the memory of this rank's MPI (docs/many.md).
 *  A listener is in no list of unfinished tasks, and commtask_finalize ends it. While a listener
 *  exists, its worker polls for messages, as COMMTASK_IDLE says.
 *  @param comm  the communicator. Free it after commtask_unlisten. If it is freed before, each slot
 *               still receives the message that MPI gives to its receive, and is not posted again.
 *  @param tag  of the messages, or MPI_ANY_TAG. Other receives that match the same messages compete
 *              with the listener.
 *  @param max_bytes  length of the longest message, in bytes.
 *  @param n_slots  number of messages that can be received at the same time, each with memory of
 *                  its own; at least 1.
 *  @param handler  called for each message.
 *  @param argument  argument of the handler.
 *  @param listener  written on success, before the first message; give it back with
 *                   commtask_unlisten.
 *  @return COMMTASK_OK; ERR_ARGUMENT, ERR_COMM, ERR_TAG; ERR_COUNT: max_bytes is more than this MPI
 *          receives; ERR_NO_MEMORY; ERR_WORKER_THREAD: called in a function that MPI calls;
 *          ERR_NOT_INITIALIZED.
 *  @blocking Until the worker has posted the receives. */
COMMTASK_API int commtask_listen(MPI_Comm comm, int tag, size_t max_bytes, size_t n_slots,
                                 commtask_message_handler handler, void* argument,
                                 commtask_listener_t* listener) COMMTASK_NOEXCEPT;

/** Gives back a message that a handler has kept.
 *  @param message  must not be accessed afterwards. Null has no effect.
 *  @return COMMTASK_OK; ERR_NO_MEMORY: the message is given back, but its slot is posted again only
 *          when the next message has come or is given back. The same happens if the library has no
 *          memory for the slot's next receive later, which a warning on stderr says once for each
 *          listener. If it was the last slot, call commtask_listen again.
 *  @threads Any, at any time, also after commtask_unlisten and commtask_finalize; once for each
 *           message. The handler may call it, too, and then returns COMMTASK_MESSAGE_KEPT.
 *  @blocking As commtask_post. */
COMMTASK_API int commtask_message_release(commtask_message* message) COMMTASK_NOEXCEPT;

/** Ends a listener. Messages that MPI has already matched with its receives are still given to the
 *  handler. Later messages stay with MPI, for other receives. Kept messages stay valid until they
 *  are released.
 *  @param listener  set to COMMTASK_LISTENER_NULL. COMMTASK_LISTENER_NULL has no effect.
 *  @return COMMTASK_OK; ERR_ARGUMENT, ERR_NOT_INITIALIZED; ERR_WORKER_THREAD: called in a callback
 *          or a handler, which may signal an event for another thread instead; ERR_NO_MEMORY: the
 *          listener goes on.
 *  @blocking Until the handler has been called for the last time, and calls of
 *            commtask_message_release in other threads have returned. */
COMMTASK_API int commtask_unlisten(commtask_listener_t* listener) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
