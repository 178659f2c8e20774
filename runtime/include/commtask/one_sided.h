/* SPDX-License-Identifier: Apache-2.0. Written by tools/generate_operations.py; not to be edited.
 *
 * The one-sided operations, on a window that commtask_win_register has made known. A task of put or accumulate ends
 * when its buffer is free again; a flush that comes after it says that the data are at the target. */
#ifndef COMMTASK_ONE_SIDED_H
#define COMMTASK_ONE_SIDED_H

#include <commtask/operation.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Writes into a window. Ends when the buffer is free; a flush completes it at the target.
 *  @param buffer  what to write
 *  @param count  elements
 *  @param type  of one element
 *  @param target  the rank whose window it is, or MPI_PROC_NULL
 *  @param target_disp  where in its window, in the target's displacement units
 *  @param target_count  elements there
 *  @param target_type  of one element there
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
 *  @param buffer  where to read to
 *  @param count  elements
 *  @param type  of one element
 *  @param target  the rank whose window it is, or MPI_PROC_NULL
 *  @param target_disp  where in its window, in the target's displacement units
 *  @param target_count  elements there
 *  @param target_type  of one element there
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

/** Combines elements into a window, each atomically. Ends as put does.
 *  @param buffer  what to write
 *  @param count  elements
 *  @param type  of one element
 *  @param target  the rank whose window it is, or MPI_PROC_NULL
 *  @param target_disp  where in its window, in the target's displacement units
 *  @param target_count  elements there
 *  @param target_type  of one element there
 *  @param reduction  how to combine
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

/** Combines elements into a window, each atomically, and reads the old ones.
 *  @param origin_buffer  the contribution
 *  @param result_buffer  what was there
 *  @param count  elements of both buffers
 *  @param type  of one element of both buffers
 *  @param target  the rank whose window it is, or MPI_PROC_NULL
 *  @param target_disp  where in its window, in the target's displacement units
 *  @param target_count  elements there
 *  @param target_type  of one element there
 *  @param reduction  how to combine
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

/** Combines one element into a window, atomically, and reads the old one.
 *  @param origin_buffer  the contribution
 *  @param result_buffer  what was there
 *  @param type  of the element, here and there
 *  @param target  the rank whose window it is, or MPI_PROC_NULL
 *  @param target_disp  where in its window, in the target's displacement units
 *  @param reduction  how to combine
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

/** Compares one element of a window, writes another one if they are equal, and reads the old one, atomically.
 *  @param origin_buffer  the contribution
 *  @param compare_buffer  what must be there
 *  @param result_buffer  what was there
 *  @param type  of the element, here and there
 *  @param target  the rank whose window it is, or MPI_PROC_NULL
 *  @param target_disp  where in its window, in the target's displacement units
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

/** Ends when operations started before, towards a rank, are complete there.
 *  @param target  the rank whose window it is, or MPI_PROC_NULL
 *  @param window  registered with commtask_win_register or commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_flush(int target, MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_FLUSH, MPI_COMM_NULL);
    op.peer = target;
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Ends when operations started before, towards any rank, are complete there.
 *  @param window  registered with commtask_win_register or commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_flush_all(MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_FLUSH_ALL, MPI_COMM_NULL);
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Writes into a window, and then notifies the target, whose await_notify ends with the data there.
 *  @param buffer  what to write
 *  @param count  elements
 *  @param type  of one element
 *  @param target  the rank whose window it is, or MPI_PROC_NULL
 *  @param target_disp  where in its window, in the target's displacement units
 *  @param target_count  elements there
 *  @param target_type  of one element there
 *  @param notification  which: 0 to MPI_TAG_UB; await_notify asks for it
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

/** Reads from a window, and then notifies the target, which may write there again.
 *  @param buffer  where to read to
 *  @param count  elements
 *  @param type  of one element
 *  @param target  the rank whose window it is, or MPI_PROC_NULL
 *  @param target_disp  where in its window, in the target's displacement units
 *  @param target_count  elements there
 *  @param target_type  of one element there
 *  @param notification  which: 0 to MPI_TAG_UB; await_notify asks for it
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

/** Ends when so many notifications have come, and their data can be read. Each is counted by one task only.
 *  @param notification  which: 0 to MPI_TAG_UB
 *  @param count  how many, at least 1
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

/** Makes writes of other ranks visible to loads, and stores visible to other ranks. Local.
 *  @param window  registered with commtask_win_register or commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_win_sync(MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_WIN_SYNC, MPI_COMM_NULL);
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Ends the epoch since the last fence and begins one, collectively.
 *  @param assertion  0, or MPI_MODE_... of MPI's namesake
 *  @param window  registered with commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_win_fence(int assertion, MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_WIN_FENCE, MPI_COMM_NULL);
    op.send_tag = assertion;
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Lets a group access this rank's window, once each has started, until win_wait.
 *  @param group  the ranks; must live until the task has ended
 *  @param assertion  0, or MPI_MODE_... of MPI's namesake
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

/** Begins to access the windows of a group; may wait for each to post.
 *  @param group  the ranks; must live until the task has ended
 *  @param assertion  0, or MPI_MODE_... of MPI's namesake
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

/** Ends what win_start began: results are here, and buffers are free.
 *  @param window  registered with commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_win_complete(MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_WIN_COMPLETE, MPI_COMM_NULL);
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Ends what win_post began, when all of its group have completed.
 *  @param window  registered with commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_win_wait(MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_WIN_WAIT, MPI_COMM_NULL);
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Begins to access a rank's window, alone or with others.
 *  @param lock_type  MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED
 *  @param target  the rank whose window it is, or MPI_PROC_NULL
 *  @param assertion  0, or MPI_MODE_... of MPI's namesake
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

/** Ends what win_lock began: everything is complete here and at the target.
 *  @param target  the rank whose window it is, or MPI_PROC_NULL
 *  @param window  registered with commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_win_unlock(int target, MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_WIN_UNLOCK, MPI_COMM_NULL);
    op.peer = target;
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Begins to access the windows of all ranks, with others.
 *  @param assertion  0, or MPI_MODE_... of MPI's namesake
 *  @param window  registered with commtask_win_register_epochs
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_win_lock_all(int assertion, MPI_Win window) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_WIN_LOCK_ALL, MPI_COMM_NULL);
    op.send_tag = assertion;
    commtask_op_keep_handle_(&op.result, &window, sizeof window);
    return op;
}

/** Ends what win_lock_all began: everything is complete here and at the targets.
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
