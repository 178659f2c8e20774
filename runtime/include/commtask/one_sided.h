/* SPDX-License-Identifier: Apache-2.0. Written by tools/generate_operations.py; not to be edited.
 *
 * One-sided operations on a registered window (window.h). A put or accumulate ends when its
 * buffer may be reused. When a later flush has ended, the data are at the target. */
#ifndef COMMTASK_ONE_SIDED_H
#define COMMTASK_ONE_SIDED_H

#include <commtask/operation.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Writes to a window. Ends when the buffer may be reused; a flush completes it at the target.
 *  @param buffer  the data to write
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param target  rank of the target, or MPI_PROC_NULL
 *  @param target_disp  displacement in the target's window, in its displacement units
 *  @param target_count  number of elements at the target
 *  @param target_type  datatype of one element at the target
 *  @param window  registered with commtask_win_register or commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_put(const void* buffer, MPI_Count count, MPI_Datatype type,
                                                             int target, MPI_Aint target_disp, MPI_Count target_count,
                                                             MPI_Datatype target_type,
                                                             MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_PUT, MPI_COMM_NULL);
    op.send.buffer = buffer;
    op.send.count = count;
    op.send.type = type;
    op.peer = target;
    commtask_op_keep_displacement_(&op.recv.displs, target_disp);
    op.recv.count = target_count;
    op.recv.type = target_type;
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Reads from a window.
 *  @param buffer  receives the data
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param target  rank of the target, or MPI_PROC_NULL
 *  @param target_disp  displacement in the target's window, in its displacement units
 *  @param target_count  number of elements at the target
 *  @param target_type  datatype of one element at the target
 *  @param window  registered with commtask_win_register or commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_get(void* buffer, MPI_Count count, MPI_Datatype type,
                                                             int target, MPI_Aint target_disp, MPI_Count target_count,
                                                             MPI_Datatype target_type,
                                                             MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_GET, MPI_COMM_NULL);
    op.recv.buffer = buffer;
    op.recv.count = count;
    op.recv.type = type;
    op.peer = target;
    commtask_op_keep_displacement_(&op.send.displs, target_disp);
    op.send.count = target_count;
    op.send.type = target_type;
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Combines elements into a window, each atomically. Ends when the buffer may be reused, as put
 *  does.
 *  @param buffer  the data to write
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param target  rank of the target, or MPI_PROC_NULL
 *  @param target_disp  displacement in the target's window, in its displacement units
 *  @param target_count  number of elements at the target
 *  @param target_type  datatype of one element at the target
 *  @param reduction  the reduction operation
 *  @param window  registered with commtask_win_register or commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_accumulate(const void* buffer, MPI_Count count,
                                                                    MPI_Datatype type, int target, MPI_Aint target_disp,
                                                                    MPI_Count target_count, MPI_Datatype target_type,
                                                                    MPI_Op reduction,
                                                                    MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_ACCUMULATE, MPI_COMM_NULL);
    op.send.buffer = buffer;
    op.send.count = count;
    op.send.type = type;
    op.peer = target;
    commtask_op_keep_displacement_(&op.recv.displs, target_disp);
    op.recv.count = target_count;
    op.recv.type = target_type;
    op.reduction = reduction;
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Combines elements into a window, each atomically, and returns the old elements.
 *  @param origin_buffer  the contribution
 *  @param result_buffer  receives the old contents of the window
 *  @param count  number of elements of both buffers
 *  @param type  datatype of one element of both buffers
 *  @param target  rank of the target, or MPI_PROC_NULL
 *  @param target_disp  displacement in the target's window, in its displacement units
 *  @param target_count  number of elements at the target
 *  @param target_type  datatype of one element at the target
 *  @param reduction  the reduction operation
 *  @param window  registered with commtask_win_register or commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_get_accumulate(const void* origin_buffer, void* result_buffer,
                                                                        MPI_Count count, MPI_Datatype type, int target,
                                                                        MPI_Aint target_disp, MPI_Count target_count,
                                                                        MPI_Datatype target_type, MPI_Op reduction,
                                                                        MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_GET_ACCUMULATE, MPI_COMM_NULL);
    op.send.buffer = origin_buffer;
    op.recv.buffer = result_buffer;
    op.recv.count = count;
    op.recv.type = type;
    op.peer = target;
    commtask_op_keep_displacement_(&op.send.displs, target_disp);
    op.send.count = target_count;
    op.send.type = target_type;
    op.reduction = reduction;
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Combines one element into a window, atomically, and returns the old element.
 *  @param origin_buffer  the contribution
 *  @param result_buffer  receives the old contents of the window
 *  @param type  datatype of the element, here and at the target
 *  @param target  rank of the target, or MPI_PROC_NULL
 *  @param target_disp  displacement in the target's window, in its displacement units
 *  @param reduction  the reduction operation
 *  @param window  registered with commtask_win_register or commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_fetch_and_op(const void* origin_buffer, void* result_buffer,
                                                                      MPI_Datatype type, int target,
                                                                      MPI_Aint target_disp, MPI_Op reduction,
                                                                      MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_FETCH_AND_OP, MPI_COMM_NULL);
    op.send.buffer = origin_buffer;
    op.recv.buffer = result_buffer;
    op.recv.type = op.send.type = type;
    op.recv.count = op.send.count = 1;
    op.peer = target;
    commtask_op_keep_displacement_(&op.send.displs, target_disp);
    op.reduction = reduction;
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Compares one element of a window, replaces it if it is equal, and returns the old element,
 *  atomically.
 *  @param origin_buffer  the contribution
 *  @param compare_buffer  the value to compare with
 *  @param result_buffer  receives the old contents of the window
 *  @param type  datatype of the element, here and at the target
 *  @param target  rank of the target, or MPI_PROC_NULL
 *  @param target_disp  displacement in the target's window, in its displacement units
 *  @param window  registered with commtask_win_register or commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_compare_and_swap(const void* origin_buffer,
                                                                          const void* compare_buffer,
                                                                          void* result_buffer, MPI_Datatype type,
                                                                          int target, MPI_Aint target_disp,
                                                                          MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_COMPARE_AND_SWAP, MPI_COMM_NULL);
    op.send.buffer = origin_buffer;
    op.recv.displs = compare_buffer;
    op.recv.buffer = result_buffer;
    op.recv.type = op.send.type = type;
    op.recv.count = op.send.count = 1;
    op.peer = target;
    commtask_op_keep_displacement_(&op.send.displs, target_disp);
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Ends when all operations to one target that were started before are complete there.
 *  @param target  rank of the target, or MPI_PROC_NULL
 *  @param window  registered with commtask_win_register or commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_flush(int target, MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_FLUSH, MPI_COMM_NULL);
    op.peer = target;
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Ends when all operations that were started before are complete at their targets.
 *  @param window  registered with commtask_win_register or commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_flush_all(MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_FLUSH_ALL, MPI_COMM_NULL);
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Writes to a window and then notifies the target. When the target's await_notify has ended, the
 *  data can be read there.
 *  @param buffer  the data to write
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param target  rank of the target, or MPI_PROC_NULL
 *  @param target_disp  displacement in the target's window, in its displacement units
 *  @param target_count  number of elements at the target
 *  @param target_type  datatype of one element at the target
 *  @param notification  notification number, 0 to MPI_TAG_UB, for await_notify
 *  @param window  registered with commtask_win_register
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_put_notify(const void* buffer, MPI_Count count,
                                                                    MPI_Datatype type, int target, MPI_Aint target_disp,
                                                                    MPI_Count target_count, MPI_Datatype target_type,
                                                                    int notification,
                                                                    MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_PUT_NOTIFY, MPI_COMM_NULL);
    op.send.buffer = buffer;
    op.send.count = count;
    op.send.type = type;
    op.peer = target;
    commtask_op_keep_displacement_(&op.recv.displs, target_disp);
    op.recv.count = target_count;
    op.recv.type = target_type;
    op.send_tag = notification;
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Reads from a window and then notifies the target, which may then overwrite the data.
 *  @param buffer  receives the data
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param target  rank of the target, or MPI_PROC_NULL
 *  @param target_disp  displacement in the target's window, in its displacement units
 *  @param target_count  number of elements at the target
 *  @param target_type  datatype of one element at the target
 *  @param notification  notification number, 0 to MPI_TAG_UB, for await_notify
 *  @param window  registered with commtask_win_register
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_get_notify(void* buffer, MPI_Count count, MPI_Datatype type,
                                                                    int target, MPI_Aint target_disp,
                                                                    MPI_Count target_count, MPI_Datatype target_type,
                                                                    int notification,
                                                                    MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_GET_NOTIFY, MPI_COMM_NULL);
    op.recv.buffer = buffer;
    op.recv.count = count;
    op.recv.type = type;
    op.peer = target;
    commtask_op_keep_displacement_(&op.send.displs, target_disp);
    op.send.count = target_count;
    op.send.type = target_type;
    op.send_tag = notification;
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Ends when a number of notifications have come and their data can be read. A notification counts
 *  for one task only.
 *  @param notification  notification number, 0 to MPI_TAG_UB
 *  @param count  number of notifications, at least 1
 *  @param source  the rank that notifies, or MPI_ANY_SOURCE
 *  @param window  registered with commtask_win_register
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_await_notify(int notification, int count, int source,
                                                                      MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_AWAIT_NOTIFY, MPI_COMM_NULL);
    op.recv_tag = notification;
    op.recv.count = count;
    op.source = source;
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Makes writes of other ranks visible to loads, and stores visible to other ranks, as
 *  MPI_Win_sync. Local.
 *  @param window  registered with commtask_win_register or commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_win_sync(MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_WIN_SYNC, MPI_COMM_NULL);
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Ends the epoch since the last fence and begins the next epoch, collectively.
 *  @param assertion  0, or MPI_MODE_... as for MPI's function
 *  @param window  registered with commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_win_fence(int assertion, MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_WIN_FENCE, MPI_COMM_NULL);
    op.send_tag = assertion;
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Exposes this rank's window to a group until win_wait. A rank of the group has access when its
 *  win_start has ended.
 *  @param group  the group; must live until the task has ended
 *  @param assertion  0, or MPI_MODE_... as for MPI's function
 *  @param window  registered with commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_win_post(MPI_Group group, int assertion,
                                                                  MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_WIN_POST, MPI_COMM_NULL);
    memcpy((void*)&op.send.displs, &group, sizeof group);
    op.send_tag = assertion;
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Begins an access epoch to the windows of a group; may wait until each rank has posted
 *  (win_post).
 *  @param group  the group; must live until the task has ended
 *  @param assertion  0, or MPI_MODE_... as for MPI's function
 *  @param window  registered with commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_win_start(MPI_Group group, int assertion,
                                                                   MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_WIN_START, MPI_COMM_NULL);
    memcpy((void*)&op.send.displs, &group, sizeof group);
    op.send_tag = assertion;
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Ends the access epoch of win_start: results are valid, and buffers may be reused.
 *  @param window  registered with commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_win_complete(MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_WIN_COMPLETE, MPI_COMM_NULL);
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Ends the exposure epoch of win_post, when all ranks of its group have completed (win_complete).
 *  @param window  registered with commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_win_wait(MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_WIN_WAIT, MPI_COMM_NULL);
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Begins an access epoch to one rank's window, exclusive or shared.
 *  @param lock_type  MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED
 *  @param target  rank of the target, or MPI_PROC_NULL
 *  @param assertion  0, or MPI_MODE_... as for MPI's function
 *  @param window  registered with commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_win_lock(int lock_type, int target, int assertion,
                                                                  MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_WIN_LOCK, MPI_COMM_NULL);
    op.recv_tag = lock_type;
    op.peer = target;
    op.send_tag = assertion;
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Ends the access epoch of win_lock: all operations are complete here and at the target.
 *  @param target  rank of the target, or MPI_PROC_NULL
 *  @param window  registered with commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_win_unlock(int target, MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_WIN_UNLOCK, MPI_COMM_NULL);
    op.peer = target;
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Begins a shared access epoch to the windows of all ranks.
 *  @param assertion  0, or MPI_MODE_... as for MPI's function
 *  @param window  registered with commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_win_lock_all(int assertion, MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_WIN_LOCK_ALL, MPI_COMM_NULL);
    op.send_tag = assertion;
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Ends the access epoch of win_lock_all: all operations are complete here and at the targets.
 *  @param window  registered with commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_win_unlock_all(MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_WIN_UNLOCK_ALL, MPI_COMM_NULL);
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

#ifdef __cplusplus
}
#endif
#endif
