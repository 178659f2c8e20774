// SPDX-License-Identifier: Apache-2.0
//
// Starts collectives. A scalar count converts to the parameter of the called function: int, or
// MPI_Count for _c. For arrays the program's form decides. If MPI lacks the large form, the arrays
// are narrowed first.
#include "core/operation_traits.hpp"
#include "mpi/counts.hpp"
#include "mpi/operations.hpp"

namespace commtask::detail {
namespace {

/// Kinds with one count per side.
[[nodiscard]] int start_scalar(const commtask_op& op, MPI_Request* request) noexcept {
    const void* const from = op.send.buffer;
    void* const to = const_cast<void*>(op.recv.buffer);
    const one_count ns{op.send.count};
    const one_count nr{op.recv.count};
    const bool fits = fits_int(ns.value) && fits_int(nr.value);
    switch (op.kind) {
    case COMMTASK_OP_BARRIER: return MPI_Ibarrier(op.comm, request);
    case COMMTASK_OP_BCAST: return COMMTASK_MPI_CALL(fits, Ibcast, to, nr, op.recv.type, op.peer, op.comm, request);
    case COMMTASK_OP_GATHER:
        return COMMTASK_MPI_CALL(fits, Igather, from, ns, op.send.type, to, nr, op.recv.type, op.peer, op.comm,
                                 request);
    case COMMTASK_OP_SCATTER:
        return COMMTASK_MPI_CALL(fits, Iscatter, from, ns, op.send.type, to, nr, op.recv.type, op.peer, op.comm,
                                 request);
    case COMMTASK_OP_ALLGATHER:
        return COMMTASK_MPI_CALL(fits, Iallgather, from, ns, op.send.type, to, nr, op.recv.type, op.comm, request);
    case COMMTASK_OP_ALLTOALL:
        return COMMTASK_MPI_CALL(fits, Ialltoall, from, ns, op.send.type, to, nr, op.recv.type, op.comm, request);
    case COMMTASK_OP_NEIGHBOR_ALLGATHER:
        return COMMTASK_MPI_CALL(fits, Ineighbor_allgather, from, ns, op.send.type, to, nr, op.recv.type, op.comm,
                                 request);
    case COMMTASK_OP_NEIGHBOR_ALLTOALL:
        return COMMTASK_MPI_CALL(fits, Ineighbor_alltoall, from, ns, op.send.type, to, nr, op.recv.type, op.comm,
                                 request);
    case COMMTASK_OP_REDUCE:
        return COMMTASK_MPI_CALL(fits, Ireduce, from, to, nr, op.recv.type, op.reduction, op.peer, op.comm, request);
    case COMMTASK_OP_ALLREDUCE:
        return COMMTASK_MPI_CALL(fits, Iallreduce, from, to, nr, op.recv.type, op.reduction, op.comm, request);
    case COMMTASK_OP_SCAN:
        return COMMTASK_MPI_CALL(fits, Iscan, from, to, nr, op.recv.type, op.reduction, op.comm, request);
    case COMMTASK_OP_EXSCAN:
        return COMMTASK_MPI_CALL(fits, Iexscan, from, to, nr, op.recv.type, op.reduction, op.comm, request);
    case COMMTASK_OP_REDUCE_SCATTER_BLOCK:
        return COMMTASK_MPI_CALL(fits, Ireduce_scatter_block, from, to, nr, op.recv.type, op.reduction, op.comm,
                                 request);
    case COMMTASK_OP_COMM_DUP: return MPI_Comm_idup(op.comm, static_cast<MPI_Comm*>(op.result), request);
    default: return MPI_ERR_INTERN;
    }
}

/// Kinds with arrays of counts, in the form given by `is_int`.
[[nodiscard]] int start_arrays(const commtask_op& op, bool is_int, MPI_Request* request) noexcept {
    const void* const from = op.send.buffer;
    void* const to = const_cast<void*>(op.recv.buffer);
    const one_count ns{op.send.count};
    const one_count nr{op.recv.count};
    const count_array cs{op.send.counts};
    const count_array cr{op.recv.counts};
    const count_array ds{op.send.displs};
    const count_array dr{op.recv.displs};
    switch (op.kind) {
    case COMMTASK_OP_GATHERV:
        return COMMTASK_MPI_CALL(is_int, Igatherv, from, ns, op.send.type, to, cr, dr, op.recv.type, op.peer, op.comm,
                                 request);
    case COMMTASK_OP_SCATTERV:
        return COMMTASK_MPI_CALL(is_int, Iscatterv, from, cs, ds, op.send.type, to, nr, op.recv.type, op.peer, op.comm,
                                 request);
    case COMMTASK_OP_ALLGATHERV:
        return COMMTASK_MPI_CALL(is_int, Iallgatherv, from, ns, op.send.type, to, cr, dr, op.recv.type, op.comm,
                                 request);
    case COMMTASK_OP_NEIGHBOR_ALLGATHERV:
        return COMMTASK_MPI_CALL(is_int, Ineighbor_allgatherv, from, ns, op.send.type, to, cr, dr, op.recv.type,
                                 op.comm, request);
    case COMMTASK_OP_ALLTOALLV:
        return COMMTASK_MPI_CALL(is_int, Ialltoallv, from, cs, ds, op.send.type, to, cr, dr, op.recv.type, op.comm,
                                 request);
    case COMMTASK_OP_NEIGHBOR_ALLTOALLV:
        return COMMTASK_MPI_CALL(is_int, Ineighbor_alltoallv, from, cs, ds, op.send.type, to, cr, dr, op.recv.type,
                                 op.comm, request);
    case COMMTASK_OP_ALLTOALLW:
        return COMMTASK_MPI_CALL(is_int, Ialltoallw, from, cs, ds, op.send.types, to, cr, dr, op.recv.types, op.comm,
                                 request);
    case COMMTASK_OP_NEIGHBOR_ALLTOALLW:
        return COMMTASK_MPI_CALL(is_int, Ineighbor_alltoallw, from, cs, ds, op.send.types, to, cr, dr, op.recv.types,
                                 op.comm, request);
    case COMMTASK_OP_REDUCE_SCATTER:
        return COMMTASK_MPI_CALL(is_int, Ireduce_scatter, from, to, cr, op.recv.type, op.reduction, op.comm, request);
    default: return MPI_ERR_INTERN;
    }
}

} // namespace

int start_collective(task& which, started_requests& started) noexcept {
    int code = MPI_SUCCESS;
    if (!operation_of(which.op.kind).has_arrays()) {
        code = start_scalar(which.op, &started.requests[0]);
    } else {
        bool is_int = which.op.array_form == COMMTASK_COUNTS_INT;
        if (!is_int && !has_large_counts) {
            if (code = narrow_arrays(which.op, which.run.scratch); code != MPI_SUCCESS) return code;
            is_int = true;
        }
        code = start_arrays(which.op, is_int, &started.requests[0]);
    }
    if (code == MPI_SUCCESS) started.count = 1;
    return code;
}

} // namespace commtask::detail
