/* SPDX-License-Identifier: Apache-2.0. Written by tools/generate_operations.py; not to be edited.
 *
 * Reading and writing files of MPI. The task ends when the buffer is the caller's again; its status says how many
 * bytes there were. Those that all ranks do together are ordered by default, as collectives of their communicator
 * are. */
#ifndef COMMTASK_FILES_H
#define COMMTASK_FILES_H

#include <commtask/operation.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Reads at the file pointer.
 *  @param buffer  where to read to
 *  @param count  elements
 *  @param type  of one element
 *  @param file  open; it must not be closed before the task has ended
 *  @param comm  whose order the task belongs to
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_file_read(void* buffer, MPI_Count count, MPI_Datatype type,
                                                                   MPI_File file, MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_FILE_READ, comm);
    op.recv.buffer = buffer;
    op.recv.count = count;
    op.recv.type = type;
    commtask_op_keep_handle_(&op.result, &file, sizeof file);
    return op;
}

/** Reads from an offset.
 *  @param offset  where in the file, in elements of its view
 *  @param buffer  where to read to
 *  @param count  elements
 *  @param type  of one element
 *  @param file  open; it must not be closed before the task has ended
 *  @param comm  whose order the task belongs to
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_file_read_at(MPI_Offset offset, void* buffer, MPI_Count count,
                                                                      MPI_Datatype type, MPI_File file,
                                                                      MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_FILE_READ_AT, comm);
    commtask_op_keep_displacement_(&op.send.displs, offset);
    op.recv.buffer = buffer;
    op.recv.count = count;
    op.recv.type = type;
    commtask_op_keep_handle_(&op.result, &file, sizeof file);
    return op;
}

/** Reads at the file pointer, collectively.
 *  @param buffer  where to read to
 *  @param count  elements
 *  @param type  of one element
 *  @param file  open; it must not be closed before the task has ended
 *  @param comm  whose order the task belongs to
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_file_read_all(void* buffer, MPI_Count count, MPI_Datatype type,
                                                                       MPI_File file, MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_FILE_READ_ALL, comm);
    op.recv.buffer = buffer;
    op.recv.count = count;
    op.recv.type = type;
    commtask_op_keep_handle_(&op.result, &file, sizeof file);
    return op;
}

/** Reads from an offset, collectively.
 *  @param offset  where in the file, in elements of its view
 *  @param buffer  where to read to
 *  @param count  elements
 *  @param type  of one element
 *  @param file  open; it must not be closed before the task has ended
 *  @param comm  whose order the task belongs to
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_file_read_at_all(MPI_Offset offset, void* buffer,
                                                                          MPI_Count count, MPI_Datatype type,
                                                                          MPI_File file,
                                                                          MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_FILE_READ_AT_ALL, comm);
    commtask_op_keep_displacement_(&op.send.displs, offset);
    op.recv.buffer = buffer;
    op.recv.count = count;
    op.recv.type = type;
    commtask_op_keep_handle_(&op.result, &file, sizeof file);
    return op;
}

/** Reads at the shared file pointer.
 *  @param buffer  where to read to
 *  @param count  elements
 *  @param type  of one element
 *  @param file  open; it must not be closed before the task has ended
 *  @param comm  whose order the task belongs to
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_file_read_shared(void* buffer, MPI_Count count,
                                                                          MPI_Datatype type, MPI_File file,
                                                                          MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_FILE_READ_SHARED, comm);
    op.recv.buffer = buffer;
    op.recv.count = count;
    op.recv.type = type;
    commtask_op_keep_handle_(&op.result, &file, sizeof file);
    return op;
}

/** Writes at the file pointer.
 *  @param buffer  what to write
 *  @param count  elements
 *  @param type  of one element
 *  @param file  open; it must not be closed before the task has ended
 *  @param comm  whose order the task belongs to
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_file_write(const void* buffer, MPI_Count count,
                                                                    MPI_Datatype type, MPI_File file,
                                                                    MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_FILE_WRITE, comm);
    op.send.buffer = buffer;
    op.send.count = count;
    op.send.type = type;
    commtask_op_keep_handle_(&op.result, &file, sizeof file);
    return op;
}

/** Writes to an offset.
 *  @param offset  where in the file, in elements of its view
 *  @param buffer  what to write
 *  @param count  elements
 *  @param type  of one element
 *  @param file  open; it must not be closed before the task has ended
 *  @param comm  whose order the task belongs to
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_file_write_at(MPI_Offset offset, const void* buffer,
                                                                       MPI_Count count, MPI_Datatype type,
                                                                       MPI_File file, MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_FILE_WRITE_AT, comm);
    commtask_op_keep_displacement_(&op.recv.displs, offset);
    op.send.buffer = buffer;
    op.send.count = count;
    op.send.type = type;
    commtask_op_keep_handle_(&op.result, &file, sizeof file);
    return op;
}

/** Writes at the file pointer, collectively.
 *  @param buffer  what to write
 *  @param count  elements
 *  @param type  of one element
 *  @param file  open; it must not be closed before the task has ended
 *  @param comm  whose order the task belongs to
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_file_write_all(const void* buffer, MPI_Count count,
                                                                        MPI_Datatype type, MPI_File file,
                                                                        MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_FILE_WRITE_ALL, comm);
    op.send.buffer = buffer;
    op.send.count = count;
    op.send.type = type;
    commtask_op_keep_handle_(&op.result, &file, sizeof file);
    return op;
}

/** Writes to an offset, collectively.
 *  @param offset  where in the file, in elements of its view
 *  @param buffer  what to write
 *  @param count  elements
 *  @param type  of one element
 *  @param file  open; it must not be closed before the task has ended
 *  @param comm  whose order the task belongs to
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_file_write_at_all(MPI_Offset offset, const void* buffer,
                                                                           MPI_Count count, MPI_Datatype type,
                                                                           MPI_File file,
                                                                           MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_FILE_WRITE_AT_ALL, comm);
    commtask_op_keep_displacement_(&op.recv.displs, offset);
    op.send.buffer = buffer;
    op.send.count = count;
    op.send.type = type;
    commtask_op_keep_handle_(&op.result, &file, sizeof file);
    return op;
}

/** Writes at the shared file pointer.
 *  @param buffer  what to write
 *  @param count  elements
 *  @param type  of one element
 *  @param file  open; it must not be closed before the task has ended
 *  @param comm  whose order the task belongs to
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_file_write_shared(const void* buffer, MPI_Count count,
                                                                           MPI_Datatype type, MPI_File file,
                                                                           MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_FILE_WRITE_SHARED, comm);
    op.send.buffer = buffer;
    op.send.count = count;
    op.send.type = type;
    commtask_op_keep_handle_(&op.result, &file, sizeof file);
    return op;
}

#ifdef __cplusplus
}
#endif
#endif
