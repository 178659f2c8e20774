// SPDX-License-Identifier: Apache-2.0
//
// TAMPI's nonblocking functions: each binds an operation of commtask, or a request of the program,
// to the calling task. The worker starts the operation, so that compute threads do not contend in
// MPI.
#include "state.hpp"

#include <TAMPI.h>
#include <commtask/omp.h>

#include <cstdio>

using namespace commtask::tampi;

namespace {

int hold(const commtask_op& operation, MPI_Status* status = MPI_STATUS_IGNORE) noexcept {
    commtask_omp_options options = COMMTASK_OMP_OPTIONS_INIT;
    options.mpi_status = status != MPI_STATUS_IGNORE ? status : nullptr;
    // The error handler prints a refusal.
    return commtask_omp_bind_operation(&operation, &options) == COMMTASK_OK ? MPI_SUCCESS : MPI_ERR_OTHER;
}

} // namespace

extern "C" {

int TAMPI_Iwait(MPI_Request* request, MPI_Status* status) { return TAMPI_Iwaitall(1, request, status); }

int TAMPI_Iwaitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    int code = MPI_SUCCESS;
    if (!is_wanted) {
        return code; // as in TAMPI: without tasks, the program waits for its requests itself
    }
    for (int i = 0; i < count && code == MPI_SUCCESS; ++i) {
        MPI_Status* const status = statuses != MPI_STATUSES_IGNORE ? &statuses[i] : MPI_STATUS_IGNORE;
        code = requests[i] == MPI_REQUEST_NULL ? PMPI_Wait(&requests[i], status) // the empty status
                                               : hold(commtask_op_attach(&requests[i], MPI_COMM_WORLD), status);
    }
    return code;
}

int TAMPI_Isend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    return hold(commtask_op_send(buffer, count, type, dest, tag, comm));
}

int TAMPI_Issend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    return hold(commtask_op_ssend(buffer, count, type, dest, tag, comm));
}

int TAMPI_Irsend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    return hold(commtask_op_rsend(buffer, count, type, dest, tag, comm));
}

int TAMPI_Ibsend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    return hold(commtask_op_bsend(buffer, count, type, dest, tag, comm));
}

int TAMPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
    return hold(commtask_op_recv(buffer, count, type, source, tag, comm), status);
}

int TAMPI_Ibarrier(MPI_Comm comm) { return hold(commtask_op_barrier(comm)); }

int TAMPI_Ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    return hold(commtask_op_bcast(buffer, count, type, root, comm));
}

int TAMPI_Igather(const void* send, int send_count, MPI_Datatype send_type, void* recv, int recv_count,
                  MPI_Datatype recv_type, int root, MPI_Comm comm) {
    return hold(commtask_op_gather(send, send_count, send_type, recv, recv_count, recv_type, root, comm));
}

int TAMPI_Igatherv(const void* send, int send_count, MPI_Datatype send_type, void* recv, const int recv_counts[],
                   const int displs[], MPI_Datatype recv_type, int root, MPI_Comm comm) {
    return hold(commtask_op_gatherv_int(send, send_count, send_type, recv, recv_counts, displs, recv_type, root, comm));
}

int TAMPI_Iscatter(const void* send, int send_count, MPI_Datatype send_type, void* recv, int recv_count,
                   MPI_Datatype recv_type, int root, MPI_Comm comm) {
    return hold(commtask_op_scatter(send, send_count, send_type, recv, recv_count, recv_type, root, comm));
}

int TAMPI_Iscatterv(const void* send, const int send_counts[], const int displs[], MPI_Datatype send_type, void* recv,
                    int recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm) {
    return hold(
        commtask_op_scatterv_int(send, send_counts, displs, send_type, recv, recv_count, recv_type, root, comm));
}

int TAMPI_Iallgather(const void* send, int send_count, MPI_Datatype send_type, void* recv, int recv_count,
                     MPI_Datatype recv_type, MPI_Comm comm) {
    return hold(commtask_op_allgather(send, send_count, send_type, recv, recv_count, recv_type, comm));
}

int TAMPI_Iallgatherv(const void* send, int send_count, MPI_Datatype send_type, void* recv, const int recv_counts[],
                      const int displs[], MPI_Datatype recv_type, MPI_Comm comm) {
    return hold(commtask_op_allgatherv_int(send, send_count, send_type, recv, recv_counts, displs, recv_type, comm));
}

int TAMPI_Ialltoall(const void* send, int send_count, MPI_Datatype send_type, void* recv, int recv_count,
                    MPI_Datatype recv_type, MPI_Comm comm) {
    return hold(commtask_op_alltoall(send, send_count, send_type, recv, recv_count, recv_type, comm));
}

int TAMPI_Ialltoallv(const void* send, const int send_counts[], const int send_displs[], MPI_Datatype send_type,
                     void* recv, const int recv_counts[], const int recv_displs[], MPI_Datatype recv_type,
                     MPI_Comm comm) {
    return hold(commtask_op_alltoallv_int(send, send_counts, send_displs, send_type, recv, recv_counts, recv_displs,
                                          recv_type, comm));
}

int TAMPI_Ialltoallw(const void* send, const int send_counts[], const int send_displs[],
                     const MPI_Datatype send_types[], void* recv, const int recv_counts[], const int recv_displs[],
                     const MPI_Datatype recv_types[], MPI_Comm comm) {
    return hold(commtask_op_alltoallw_int(send, send_counts, send_displs, send_types, recv, recv_counts, recv_displs,
                                          recv_types, comm));
}

int TAMPI_Ireduce(const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
    return hold(commtask_op_reduce(send, recv, count, type, op, root, comm));
}

int TAMPI_Iallreduce(const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return hold(commtask_op_allreduce(send, recv, count, type, op, comm));
}

int TAMPI_Ireduce_scatter(const void* send, void* recv, const int recv_counts[], MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm) {
    return hold(commtask_op_reduce_scatter_int(send, recv, recv_counts, type, op, comm));
}

int TAMPI_Ireduce_scatter_block(const void* send, void* recv, int recv_count, MPI_Datatype type, MPI_Op op,
                                MPI_Comm comm) {
    return hold(commtask_op_reduce_scatter_block(send, recv, recv_count, type, op, comm));
}

int TAMPI_Iscan(const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return hold(commtask_op_scan(send, recv, count, type, op, comm));
}

int TAMPI_Iexscan(const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return hold(commtask_op_exscan(send, recv, count, type, op, comm));
}
}
