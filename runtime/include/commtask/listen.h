/* SPDX-License-Identifier: Apache-2.0
 *
 * Standing receives: messages that come from anybody, at any time, in any number, each handed to a function. What active messages
 * and the exchange of spikes need: no receive is posted for a message, and no count is known before. */
#ifndef COMMTASK_LISTEN_H
#define COMMTASK_LISTEN_H

#include <commtask/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A standing receive. Opaque. */
typedef struct commtask_listener_s* commtask_listener_t;

/** No standing receive. */
#define COMMTASK_LISTENER_NULL ((commtask_listener_t)0)

/** A message that has come. Made by the library, which may add fields at the end. */
typedef struct commtask_message {
    size_t struct_size; /**< sizeof(commtask_message) of the library. */
    void* data;         /**< What was sent, aligned to 64 bytes; the handler may write there. */
    MPI_Count bytes;    /**< How much. */
    int source;         /**< Who sent it. */
    int tag;            /**< Its tag. */
    int error; /**< MPI_SUCCESS; or why it could not be received, e.g. it is longer than max_bytes: then `data` has no message. */
    int error_class; /**< Its class, as MPI_Error_class gives it. */
} commtask_message;

/** What a handler answers. */
enum {
    COMMTASK_MESSAGE_DONE = 0, /**< Its memory may take the next message. */
    COMMTASK_MESSAGE_KEPT = 1  /**< It stays until commtask_message_release. */
};

/** Called for each message as commtask_callback is: on the worker or on a thread that drives; it may signal, fulfil, post and release
 *  messages, must not block and should not compute. What computes keeps the message and gives it to a thread or a task.
 *  Messages of one sender come in the order in which they were sent.
 *  @return COMMTASK_MESSAGE_DONE or COMMTASK_MESSAGE_KEPT. */
typedef int (*commtask_message_handler)(commtask_message* message, void* argument);

/** From now on receives every message with this tag on this communicator, whoever sends it and by whatever send, and calls the
 *  handler. At most n_slots messages are in the handler's hands or on the way to it; what comes beyond stays with MPI, and nothing is
 *  lost. Of those a send ends late that MPI does not buffer: ssend, and messages above its eager limit. Smaller ones hold no sender back
 *  and fill this rank's MPI: who may send many of them without being answered sends some by ssend.
 *  Nobody waits for a standing receive: it is in no list of unfinished tasks, and commtask_finalize ends it. As long as there is one, its
 *  worker looks for messages, in the way that COMMTASK_IDLE says.
 *  @param comm       the communicator. Free it after commtask_unlisten: of one that is freed before, each slot still receives the
 *                    message that MPI gives to its receive, and none is posted again.
 *  @param tag        of the messages, or MPI_ANY_TAG. Other receives that could take the same messages compete with this one.
 *  @param max_bytes  the longest message.
 *  @param n_slots    how many can be received at the same time, each with memory of its own; at least 1.
 *  @param handler    called for each message.
 *  @param argument   handed to it.
 *  @param listener   written on success, before the first message; give it back with commtask_unlisten.
 *  @return COMMTASK_OK; ERR_ARGUMENT, ERR_COMM, ERR_TAG, ERR_COUNT: max_bytes is more than this MPI receives; ERR_NO_MEMORY,
 *          ERR_WORKER_THREAD: called in a function that MPI calls; ERR_NOT_INITIALIZED.
 *  @blocking Until the worker has posted the receives. */
COMMTASK_API int commtask_listen(MPI_Comm comm, int tag, size_t max_bytes, size_t n_slots,
                                 commtask_message_handler handler, void* argument,
                                 commtask_listener_t* listener) COMMTASK_NOEXCEPT;

/** Gives a message back that a handler has kept.
 *  @param message  must not be touched any more. Null is left alone.
 *  @return COMMTASK_OK; ERR_NO_MEMORY: it is given back all the same, but its memory takes part again only when the next message has
 *          come or is given back. So it is where a driver finds no memory for the slot's next receive after this has returned, or after the
 *          handler was done with a message: a warning on stderr says so once for each listener. If that was the last slot, a new
 *          commtask_listen helps.
 *  @threads Any, at any time, also after commtask_unlisten and commtask_finalize; each message once. In the handler too, which then
 *           answers COMMTASK_MESSAGE_KEPT all the same.
 *  @blocking As commtask_post. */
COMMTASK_API int commtask_message_release(commtask_message* message) COMMTASK_NOEXCEPT;

/** Ends a standing receive. Messages that MPI had taken for it before are still handed to the handler; those that come later stay
 *  with MPI, for other receives. Messages that were kept stay good until they are released.
 *  @param listener  set to COMMTASK_LISTENER_NULL. COMMTASK_LISTENER_NULL is left as it is.
 *  @return COMMTASK_OK; ERR_ARGUMENT, ERR_NOT_INITIALIZED; ERR_WORKER_THREAD: called in a callback or a handler, which may signal an
 *          event for another thread instead; ERR_NO_MEMORY: it goes on.
 *  @blocking Until the handler has been called for the last time, and threads that are giving a message back have done so. */
COMMTASK_API int commtask_unlisten(commtask_listener_t* listener) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
