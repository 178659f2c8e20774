/* SPDX-License-Identifier: Apache-2.0
 *
 * What the Fortran module commtask_omp calls: commtask_omp_spawn for one operation each, with MPI handles as Fortran's
 * integers. A commtask_op is a C value whose fields may grow, made by inline functions, so it stays on this side. C and
 * C++ programs have no use for these functions. */
#ifndef COMMTASK_OMP_FORTRAN_H
#define COMMTASK_OMP_FORTRAN_H

#include <commtask/commtask.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The dependences of a task, and what may be said about it; as the parameters of commtask_omp_spawn. */
typedef struct commtask_omp_fortran_clauses {
    size_t struct_size;       /**< sizeof(commtask_omp_fortran_clauses). */
    uint32_t flags;           /**< COMMTASK_ORDERED, COMMTASK_UNORDERED or COMMTASK_NONE. */
    int priority;             /**< Of the OpenMP task. */
    size_t n_in;              /**< How many addresses `in` has. */
    const void* const* in;    /**< What the operation reads. */
    size_t n_out;             /**< How many addresses `out` has. */
    const void* const* out;   /**< What the operation writes. */
    size_t n_inout;           /**< How many addresses `inout` has. */
    const void* const* inout; /**< What it reads and writes. */
} commtask_omp_fortran_clauses;

/** MPI_IN_PLACE of C, which has another value than Fortran's.
 *  @return the address to give as a send buffer. */
COMMTASK_API void* commtask_omp_fortran_in_place(void) COMMTASK_NOEXCEPT;

/** A task of commtask_op_send.
 *  @param buffer   what to send: count elements of type
 *  @param count    how many elements
 *  @param type     a Fortran handle
 *  @param dest     rank that receives
 *  @param tag      of the message
 *  @param comm     a Fortran handle
 *  @param clauses  dependences; must not be null
 *  @return as commtask_omp_spawn. */
COMMTASK_API int commtask_omp_fortran_send(const void* buffer, MPI_Count count, MPI_Fint type, int dest, int tag,
                                           MPI_Fint comm,
                                           const commtask_omp_fortran_clauses* clauses) COMMTASK_NOEXCEPT;

/** A task of commtask_op_recv.
 *  @param buffer   where to receive: room for count elements of type
 *  @param count    how many elements
 *  @param type     a Fortran handle
 *  @param source   rank that sends
 *  @param tag      of the message
 *  @param comm     a Fortran handle
 *  @param clauses  dependences; must not be null
 *  @return as commtask_omp_spawn. */
COMMTASK_API int commtask_omp_fortran_recv(void* buffer, MPI_Count count, MPI_Fint type, int source, int tag,
                                           MPI_Fint comm,
                                           const commtask_omp_fortran_clauses* clauses) COMMTASK_NOEXCEPT;

/** A task of commtask_op_barrier.
 *  @param comm     a Fortran handle
 *  @param clauses  dependences; must not be null
 *  @return as commtask_omp_spawn. */
COMMTASK_API int commtask_omp_fortran_barrier(MPI_Fint comm,
                                              const commtask_omp_fortran_clauses* clauses) COMMTASK_NOEXCEPT;

/** A task of commtask_op_bcast.
 *  @param buffer   read at the root, written elsewhere: count elements of type
 *  @param count    how many elements
 *  @param type     a Fortran handle
 *  @param root     rank that sends
 *  @param comm     a Fortran handle
 *  @param clauses  dependences; must not be null
 *  @return as commtask_omp_spawn. */
COMMTASK_API int commtask_omp_fortran_bcast(void* buffer, MPI_Count count, MPI_Fint type, int root, MPI_Fint comm,
                                            const commtask_omp_fortran_clauses* clauses) COMMTASK_NOEXCEPT;

/** A task of commtask_op_allreduce.
 *  @param send_buffer  count elements of type, or commtask_omp_fortran_in_place()
 *  @param recv_buffer  room for count elements of type
 *  @param count        how many elements
 *  @param type         a Fortran handle
 *  @param reduction    a Fortran handle
 *  @param comm         a Fortran handle
 *  @param clauses      dependences; must not be null
 *  @return as commtask_omp_spawn. */
COMMTASK_API int commtask_omp_fortran_allreduce(const void* send_buffer, void* recv_buffer, MPI_Count count,
                                                MPI_Fint type, MPI_Fint reduction, MPI_Fint comm,
                                                const commtask_omp_fortran_clauses* clauses) COMMTASK_NOEXCEPT;

/** A task of commtask_op_alltoall.
 *  @param send_buffer  send_count elements of send_type for each rank, or commtask_omp_fortran_in_place()
 *  @param send_count   how many elements for each rank
 *  @param send_type    a Fortran handle
 *  @param recv_buffer  room for recv_count elements of recv_type from each rank
 *  @param recv_count   how many elements from each rank
 *  @param recv_type    a Fortran handle
 *  @param comm         a Fortran handle
 *  @param clauses      dependences; must not be null
 *  @return as commtask_omp_spawn. */
COMMTASK_API int commtask_omp_fortran_alltoall(const void* send_buffer, MPI_Count send_count, MPI_Fint send_type,
                                               void* recv_buffer, MPI_Count recv_count, MPI_Fint recv_type,
                                               MPI_Fint comm,
                                               const commtask_omp_fortran_clauses* clauses) COMMTASK_NOEXCEPT;

/** A task of commtask_op_ssend.
 *  @param buffer   what to send: count elements of type
 *  @param count    how many elements
 *  @param type     a Fortran handle
 *  @param dest     rank that receives
 *  @param tag      of the message
 *  @param comm     a Fortran handle
 *  @param clauses  dependences; must not be null
 *  @return as commtask_omp_spawn. */
COMMTASK_API int commtask_omp_fortran_ssend(const void* buffer, MPI_Count count, MPI_Fint type, int dest, int tag,
                                            MPI_Fint comm,
                                            const commtask_omp_fortran_clauses* clauses) COMMTASK_NOEXCEPT;

/** A task of commtask_op_sendrecv.
 *  @param send_buffer  what to send
 *  @param send_count   how many elements
 *  @param send_type    a Fortran handle
 *  @param dest         rank that receives
 *  @param send_tag     of the message sent
 *  @param recv_buffer  where to receive
 *  @param recv_count   how many elements
 *  @param recv_type    a Fortran handle
 *  @param source       rank that sends
 *  @param recv_tag     of the message received
 *  @param comm         a Fortran handle
 *  @param clauses      dependences; must not be null
 *  @return as commtask_omp_spawn. */
COMMTASK_API int commtask_omp_fortran_sendrecv(const void* send_buffer, MPI_Count send_count, MPI_Fint send_type,
                                               int dest, int send_tag, void* recv_buffer, MPI_Count recv_count,
                                               MPI_Fint recv_type, int source, int recv_tag, MPI_Fint comm,
                                               const commtask_omp_fortran_clauses* clauses) COMMTASK_NOEXCEPT;

/** A task of commtask_op_gather.
 *  @param send_buffer  what to send, or commtask_omp_fortran_in_place() where MPI allows it
 *  @param send_count   how many elements
 *  @param send_type    a Fortran handle
 *  @param recv_buffer  where to receive
 *  @param recv_count   how many elements
 *  @param recv_type    a Fortran handle
 *  @param root         the root's rank
 *  @param comm         a Fortran handle
 *  @param clauses      dependences; must not be null
 *  @return as commtask_omp_spawn. */
COMMTASK_API int commtask_omp_fortran_gather(const void* send_buffer, MPI_Count send_count, MPI_Fint send_type,
                                             void* recv_buffer, MPI_Count recv_count, MPI_Fint recv_type, int root,
                                             MPI_Fint comm,
                                             const commtask_omp_fortran_clauses* clauses) COMMTASK_NOEXCEPT;

/** A task of commtask_op_scatter.
 *  @param send_buffer  what to send, or commtask_omp_fortran_in_place() where MPI allows it
 *  @param send_count   how many elements
 *  @param send_type    a Fortran handle
 *  @param recv_buffer  where to receive
 *  @param recv_count   how many elements
 *  @param recv_type    a Fortran handle
 *  @param root         the root's rank
 *  @param comm         a Fortran handle
 *  @param clauses      dependences; must not be null
 *  @return as commtask_omp_spawn. */
COMMTASK_API int commtask_omp_fortran_scatter(const void* send_buffer, MPI_Count send_count, MPI_Fint send_type,
                                              void* recv_buffer, MPI_Count recv_count, MPI_Fint recv_type, int root,
                                              MPI_Fint comm,
                                              const commtask_omp_fortran_clauses* clauses) COMMTASK_NOEXCEPT;

/** A task of commtask_op_allgather.
 *  @param send_buffer  what to send, or commtask_omp_fortran_in_place() where MPI allows it
 *  @param send_count   how many elements
 *  @param send_type    a Fortran handle
 *  @param recv_buffer  where to receive
 *  @param recv_count   how many elements
 *  @param recv_type    a Fortran handle
 *  @param comm         a Fortran handle
 *  @param clauses      dependences; must not be null
 *  @return as commtask_omp_spawn. */
COMMTASK_API int commtask_omp_fortran_allgather(const void* send_buffer, MPI_Count send_count, MPI_Fint send_type,
                                                void* recv_buffer, MPI_Count recv_count, MPI_Fint recv_type,
                                                MPI_Fint comm,
                                                const commtask_omp_fortran_clauses* clauses) COMMTASK_NOEXCEPT;

/** A task of commtask_op_reduce.
 *  @param send_buffer  count elements of type, or commtask_omp_fortran_in_place() at the root
 *  @param recv_buffer  room for count elements of type, at the root
 *  @param count        how many elements
 *  @param type         a Fortran handle
 *  @param reduction    a Fortran handle
 *  @param root         the root's rank
 *  @param comm         a Fortran handle
 *  @param clauses      dependences; must not be null
 *  @return as commtask_omp_spawn. */
COMMTASK_API int commtask_omp_fortran_reduce(const void* send_buffer, void* recv_buffer, MPI_Count count, MPI_Fint type,
                                             MPI_Fint reduction, int root, MPI_Fint comm,
                                             const commtask_omp_fortran_clauses* clauses) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
