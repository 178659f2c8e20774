/* SPDX-License-Identifier: Apache-2.0. Written by tools/generate_operations.py; not to be edited.
 *
 * Reads and writes of MPI files. The task ends when the buffer belongs to the caller again; its
 * status has the number of bytes. Collective reads and writes are ordered by default, like the
 * collectives of their communicator. */
#ifndef COMMTASK_FILES_H
#define COMMTASK_FILES_H

#include <commtask/operation.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Reads at the individual file pointer.
 *  @param buffer  receives the data
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param file  an open file; must not be closed before the task has ended
 *  @param comm  the communicator in whose order the task starts
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

/** Reads at an explicit offset.
 *  @param offset  offset in the file, in etypes of its view
 *  @param buffer  receives the data
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param file  an open file; must not be closed before the task has ended
 *  @param comm  the communicator in whose order the task starts
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

/** Reads at the individual file pointer, collectively.
 *  @param buffer  receives the data
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param file  an open file; must not be closed before the task has ended
 *  @param comm  the communicator in whose order the task starts
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

/** Reads at an explicit offset, collectively.
 *  @param offset  offset in the file, in etypes of its view
 *  @param buffer  receives the data
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param file  an open file; must not be closed before the task has ended
 *  @param comm  the communicator in whose order the task starts
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
 *  @param buffer  receives the data
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param file  an open file; must not be closed before the task has ended
 *  @param comm  the communicator in whose order the task starts
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

/** Writes at the individual file pointer.
 *  @param buffer  the data to write
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param file  an open file; must not be closed before the task has ended
 *  @param comm  the communicator in whose order the task starts
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

/** Writes at an explicit offset.
 *  @param offset  offset in the file, in etypes of its view
 *  @param buffer  the data to write
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param file  an open file; must not be closed before the task has ended
 *  @param comm  the communicator in whose order the task starts
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

/** Writes at the individual file pointer, collectively.
 *  @param buffer  the data to write
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param file  an open file; must not be closed before the task has ended
 *  @param comm  the communicator in whose order the task starts
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

/** Writes at an explicit offset, collectively.
 *  @param offset  offset in the file, in etypes of its view
 *  @param buffer  the data to write
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param file  an open file; must not be closed before the task has ended
 *  @param comm  the communicator in whose order the task starts
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
 *  @param buffer  the data to write
 *  @param count  number of elements
 *  @param type  datatype of one element
 *  @param file  an open file; must not be closed before the task has ended
 *  @param comm  the communicator in whose order the task starts
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
