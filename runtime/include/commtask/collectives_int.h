/* SPDX-License-Identifier: Apache-2.0. Written by tools/generate_operations.py; not to be edited.
 *
 * Collective operations with arrays of counts, in the int form of MPI-3.1. Their names are those
 * of collectives_v.h with _int. Arrays of more than 16 entries must live until the task has
 * ended. */
#ifndef COMMTASK_COLLECTIVES_INT_H
#define COMMTASK_COLLECTIVES_INT_H

#include <commtask/operation.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Gather with a count for each rank. Counts and displacements are int, as in MPI-3.1.
 *  @param send_buffer  the send buffer; MPI_IN_PLACE where MPI allows it
 *  @param send_count  number of elements
 *  @param send_type  datatype of one element sent
 *  @param recv_buffer  the receive buffer
 *  @param recv_counts  number of elements from each rank
 *  @param recv_displs  displacement of the block from each rank, in elements
 *  @param recv_type  datatype of one element received
 *  @param root  rank of the root; MPI_ROOT or MPI_PROC_NULL on an intercommunicator
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_gatherv_int(const void* send_buffer, MPI_Count send_count,
                                                                     MPI_Datatype send_type, void* recv_buffer,
                                                                     const int recv_counts[], const int recv_displs[],
                                                                     MPI_Datatype recv_type, int root,
                                                                     MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_GATHERV, comm);
    op.array_form = COMMTASK_COUNTS_INT;
    op.send.buffer = send_buffer;
    op.send.count = send_count;
    op.send.type = send_type;
    op.recv.buffer = recv_buffer;
    op.recv.counts = recv_counts;
    op.recv.displs = recv_displs;
    op.recv.type = recv_type;
    op.peer = root;
    return op;
}

/** Scatter with a count for each rank. Counts and displacements are int, as in MPI-3.1.
 *  @param send_buffer  the send buffer; MPI_IN_PLACE where MPI allows it
 *  @param send_counts  number of elements for each rank
 *  @param send_displs  displacement of the block for each rank, in elements
 *  @param send_type  datatype of one element sent
 *  @param recv_buffer  the receive buffer
 *  @param recv_count  number of elements
 *  @param recv_type  datatype of one element received
 *  @param root  rank of the root; MPI_ROOT or MPI_PROC_NULL on an intercommunicator
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_scatterv_int(const void* send_buffer, const int send_counts[],
                                                                      const int send_displs[], MPI_Datatype send_type,
                                                                      void* recv_buffer, MPI_Count recv_count,
                                                                      MPI_Datatype recv_type, int root,
                                                                      MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_SCATTERV, comm);
    op.array_form = COMMTASK_COUNTS_INT;
    op.send.buffer = send_buffer;
    op.send.counts = send_counts;
    op.send.displs = send_displs;
    op.send.type = send_type;
    op.recv.buffer = recv_buffer;
    op.recv.count = recv_count;
    op.recv.type = recv_type;
    op.peer = root;
    return op;
}

/** Allgather with a count for each rank. Counts and displacements are int, as in MPI-3.1.
 *  @param send_buffer  the send buffer; MPI_IN_PLACE where MPI allows it
 *  @param send_count  number of elements
 *  @param send_type  datatype of one element sent
 *  @param recv_buffer  the receive buffer
 *  @param recv_counts  number of elements from each rank
 *  @param recv_displs  displacement of the block from each rank, in elements
 *  @param recv_type  datatype of one element received
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_allgatherv_int(const void* send_buffer, MPI_Count send_count,
                                                                        MPI_Datatype send_type, void* recv_buffer,
                                                                        const int recv_counts[],
                                                                        const int recv_displs[], MPI_Datatype recv_type,
                                                                        MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_ALLGATHERV, comm);
    op.array_form = COMMTASK_COUNTS_INT;
    op.send.buffer = send_buffer;
    op.send.count = send_count;
    op.send.type = send_type;
    op.recv.buffer = recv_buffer;
    op.recv.counts = recv_counts;
    op.recv.displs = recv_displs;
    op.recv.type = recv_type;
    return op;
}

/** Alltoall with counts for each rank. Counts and displacements are int, as in MPI-3.1.
 *  @param send_buffer  the send buffer; MPI_IN_PLACE where MPI allows it
 *  @param send_counts  number of elements for each rank
 *  @param send_displs  displacement of the block for each rank, in elements
 *  @param send_type  datatype of one element sent
 *  @param recv_buffer  the receive buffer
 *  @param recv_counts  number of elements from each rank
 *  @param recv_displs  displacement of the block from each rank, in elements
 *  @param recv_type  datatype of one element received
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_alltoallv_int(const void* send_buffer, const int send_counts[],
                                                                       const int send_displs[], MPI_Datatype send_type,
                                                                       void* recv_buffer, const int recv_counts[],
                                                                       const int recv_displs[], MPI_Datatype recv_type,
                                                                       MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_ALLTOALLV, comm);
    op.array_form = COMMTASK_COUNTS_INT;
    op.send.buffer = send_buffer;
    op.send.counts = send_counts;
    op.send.displs = send_displs;
    op.send.type = send_type;
    op.recv.buffer = recv_buffer;
    op.recv.counts = recv_counts;
    op.recv.displs = recv_displs;
    op.recv.type = recv_type;
    return op;
}

/** Alltoall with counts and datatypes for each rank. Counts and displacements are int, as in
 *  MPI-3.1.
 *  @param send_buffer  the send buffer; MPI_IN_PLACE where MPI allows it
 *  @param send_counts  number of elements for each rank
 *  @param send_displs  displacement of the block for each rank, in bytes
 *  @param send_types  datatype of the elements for each rank
 *  @param recv_buffer  the receive buffer
 *  @param recv_counts  number of elements from each rank
 *  @param recv_displs  displacement of the block from each rank, in bytes
 *  @param recv_types  datatype of the elements from each rank
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op
commtask_op_alltoallw_int(const void* send_buffer, const int send_counts[], const int send_displs[],
                          const MPI_Datatype send_types[], void* recv_buffer, const int recv_counts[],
                          const int recv_displs[], const MPI_Datatype recv_types[], MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_ALLTOALLW, comm);
    op.array_form = COMMTASK_COUNTS_INT;
    op.send.buffer = send_buffer;
    op.send.counts = send_counts;
    op.send.displs = send_displs;
    op.send.types = send_types;
    op.recv.buffer = recv_buffer;
    op.recv.counts = recv_counts;
    op.recv.displs = recv_displs;
    op.recv.types = recv_types;
    return op;
}

/** Reduce-scatter with a count for each rank. Counts and displacements are int, as in MPI-3.1.
 *  @param send_buffer  the contribution; MPI_IN_PLACE where MPI allows it
 *  @param recv_buffer  the result
 *  @param recv_counts  number of elements of each rank's block
 *  @param type  datatype of one element
 *  @param reduction  the reduction operation
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_reduce_scatter_int(const void* send_buffer, void* recv_buffer,
                                                                            const int recv_counts[], MPI_Datatype type,
                                                                            MPI_Op reduction,
                                                                            MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_REDUCE_SCATTER, comm);
    op.array_form = COMMTASK_COUNTS_INT;
    op.send.buffer = send_buffer;
    op.recv.buffer = recv_buffer;
    op.recv.counts = recv_counts;
    op.recv.type = type;
    op.reduction = reduction;
    return op;
}

/** Neighbor allgather with a count for each neighbor. Counts and displacements are int, as in
 *  MPI-3.1.
 *  @param send_buffer  the send buffer
 *  @param send_count  number of elements
 *  @param send_type  datatype of one element sent
 *  @param recv_buffer  the receive buffer
 *  @param recv_counts  number of elements from each neighbor
 *  @param recv_displs  displacement of the block from each neighbor, in elements
 *  @param recv_type  datatype of one element received
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_neighbor_allgatherv_int(
    const void* send_buffer, MPI_Count send_count, MPI_Datatype send_type, void* recv_buffer, const int recv_counts[],
    const int recv_displs[], MPI_Datatype recv_type, MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_NEIGHBOR_ALLGATHERV, comm);
    op.array_form = COMMTASK_COUNTS_INT;
    op.send.buffer = send_buffer;
    op.send.count = send_count;
    op.send.type = send_type;
    op.recv.buffer = recv_buffer;
    op.recv.counts = recv_counts;
    op.recv.displs = recv_displs;
    op.recv.type = recv_type;
    return op;
}

/** Neighbor alltoall with counts for each neighbor. Counts and displacements are int, as in
 *  MPI-3.1.
 *  @param send_buffer  the send buffer
 *  @param send_counts  number of elements for each neighbor
 *  @param send_displs  displacement of the block for each neighbor, in elements
 *  @param send_type  datatype of one element sent
 *  @param recv_buffer  the receive buffer
 *  @param recv_counts  number of elements from each neighbor
 *  @param recv_displs  displacement of the block from each neighbor, in elements
 *  @param recv_type  datatype of one element received
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op
commtask_op_neighbor_alltoallv_int(const void* send_buffer, const int send_counts[], const int send_displs[],
                                   MPI_Datatype send_type, void* recv_buffer, const int recv_counts[],
                                   const int recv_displs[], MPI_Datatype recv_type, MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_NEIGHBOR_ALLTOALLV, comm);
    op.array_form = COMMTASK_COUNTS_INT;
    op.send.buffer = send_buffer;
    op.send.counts = send_counts;
    op.send.displs = send_displs;
    op.send.type = send_type;
    op.recv.buffer = recv_buffer;
    op.recv.counts = recv_counts;
    op.recv.displs = recv_displs;
    op.recv.type = recv_type;
    return op;
}

/** Neighbor alltoall with counts and datatypes for each neighbor. Counts and displacements are int,
 *  as in MPI-3.1.
 *  @param send_buffer  the send buffer
 *  @param send_counts  number of elements for each neighbor
 *  @param send_displs  displacement of the block for each neighbor, in bytes
 *  @param send_types  datatype of the elements for each neighbor
 *  @param recv_buffer  the receive buffer
 *  @param recv_counts  number of elements from each neighbor
 *  @param recv_displs  displacement of the block from each neighbor, in bytes
 *  @param recv_types  datatype of the elements from each neighbor
 *  @param comm  the communicator
 *  @return the operation, for commtask_post. */
static inline COMMTASK_NODISCARD commtask_op commtask_op_neighbor_alltoallw_int(
    const void* send_buffer, const int send_counts[], const MPI_Aint send_displs[], const MPI_Datatype send_types[],
    void* recv_buffer, const int recv_counts[], const MPI_Aint recv_displs[], const MPI_Datatype recv_types[],
    MPI_Comm comm) COMMTASK_NOEXCEPT {
    commtask_op op = commtask_op_make_(COMMTASK_OP_NEIGHBOR_ALLTOALLW, comm);
    op.array_form = COMMTASK_COUNTS_INT;
    op.send.buffer = send_buffer;
    op.send.counts = send_counts;
    op.send.displs = send_displs;
    op.send.types = send_types;
    op.recv.buffer = recv_buffer;
    op.recv.counts = recv_counts;
    op.recv.displs = recv_displs;
    op.recv.types = recv_types;
    return op;
}

#ifdef __cplusplus
}
#endif
#endif
