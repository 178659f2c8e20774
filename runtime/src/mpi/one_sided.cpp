// SPDX-License-Identifier: Apache-2.0
//
// Starts one-sided operations. All that need the target have a request, except flush, flush_all and
// compare-and-swap. MPI has no request-based form of these three, so they block the progress thread
// until the target has replied; a target with passive-target progress replies at once. A fetch of
// one element uses MPI_Rget_accumulate. A notification is an empty message on the window's own
// communicator. After a put it is sent when a flush has completed the put at the target; after a
// get, as soon as the data have arrived.
#include "mpi/one_sided.hpp"

#include "core/operation_traits.hpp"
#include "mpi/counts.hpp"
#include "mpi/operations.hpp"

namespace commtask::detail {
namespace {

[[nodiscard]] int start_reading(const commtask_op& op, MPI_Request* request) noexcept {
    const one_count here{op.recv.count};
    const one_count there{op.send.count};
    return COMMTASK_MPI_CALL(fits_int(here.value) && fits_int(there.value), Rget, const_cast<void*>(op.recv.buffer),
                             here, op.recv.type, op.peer, displacement_of(op.send), there, op.send.type, window_of(op),
                             request);
}

[[nodiscard]] int start_writing(const commtask_op& op, MPI_Request* request) noexcept {
    const one_count here{op.send.count};
    const one_count there{op.recv.count};
    return COMMTASK_MPI_CALL(fits_int(here.value) && fits_int(there.value), Rput, op.send.buffer, here, op.send.type,
                             op.peer, displacement_of(op.recv), there, op.recv.type, window_of(op), request);
}

[[nodiscard]] int start_combining(const commtask_op& op, MPI_Request* request) noexcept {
    const one_count here{op.send.count};
    const one_count there{op.recv.count};
    return COMMTASK_MPI_CALL(fits_int(here.value) && fits_int(there.value), Raccumulate, op.send.buffer, here,
                             op.send.type, op.peer, displacement_of(op.recv), there, op.recv.type, op.reduction,
                             window_of(op), request);
}

/// The contribution and the result have the same count and datatype.
[[nodiscard]] int start_fetching(const commtask_op& op, MPI_Request* request) noexcept {
    const one_count here{op.recv.count};
    const one_count there{op.send.count};
    return COMMTASK_MPI_CALL(fits_int(here.value) && fits_int(there.value), Rget_accumulate, op.send.buffer, here,
                             op.recv.type, const_cast<void*>(op.recv.buffer), here, op.recv.type, op.peer,
                             displacement_of(op.send), there, op.send.type, op.reduction, window_of(op), request);
}

[[nodiscard]] int compare_and_swap(const commtask_op& op) noexcept {
    const int code = MPI_Compare_and_swap(op.send.buffer, op.recv.displs, const_cast<void*>(op.recv.buffer),
                                          op.recv.type, op.peer, displacement_of(op.send), window_of(op));
    return code == MPI_SUCCESS && op.peer != MPI_PROC_NULL ? MPI_Win_flush_local(op.peer, window_of(op)) : code;
}

[[nodiscard]] int flush(const commtask_op& op) noexcept {
    return op.peer == MPI_PROC_NULL ? MPI_SUCCESS : MPI_Win_flush(op.peer, window_of(op));
}

[[nodiscard]] int start_notifying(const commtask_op& op, MPI_Request* request) noexcept {
    return MPI_Isend(nullptr, 0, MPI_BYTE, op.peer, op.send_tag, op.comm, request);
}

[[nodiscard]] int start_awaiting(const commtask_op& op, MPI_Request* request) noexcept {
    return MPI_Irecv(nullptr, 0, MPI_BYTE, op.source, op.recv_tag, op.comm, request);
}

} // namespace

int start_one_sided(const commtask_op& op, started_requests& started) noexcept {
    MPI_Request* const request = &started.requests[0];
    int code = MPI_SUCCESS;
    switch (op.kind) {
    case COMMTASK_OP_PUT_NOTIFY: started.n_later_steps = 1; [[fallthrough]];
    case COMMTASK_OP_PUT: code = start_writing(op, request); break;
    case COMMTASK_OP_GET_NOTIFY: started.n_later_steps = 1; [[fallthrough]];
    case COMMTASK_OP_GET: code = start_reading(op, request); break;
    case COMMTASK_OP_ACCUMULATE: code = start_combining(op, request); break;
    case COMMTASK_OP_GET_ACCUMULATE:
    case COMMTASK_OP_FETCH_AND_OP: code = start_fetching(op, request); break;
    case COMMTASK_OP_AWAIT_NOTIFY:
        started.n_later_steps = static_cast<std::uint32_t>(op.recv.count - 1);
        code = start_awaiting(op, request);
        break;
    case COMMTASK_OP_COMPARE_AND_SWAP: return compare_and_swap(op);
    case COMMTASK_OP_FLUSH: return flush(op);
    case COMMTASK_OP_FLUSH_ALL: return MPI_Win_flush_all(window_of(op));
    case COMMTASK_OP_WIN_SYNC: return MPI_Win_sync(window_of(op));
    default: return MPI_ERR_INTERN;
    }
    if (code == MPI_SUCCESS) started.count = 1;
    return code;
}

int call_one_sided(const commtask_op& op) noexcept {
    const one_count ns{op.send.count};
    const one_count nr{op.recv.count};
    const bool fits = fits_int(ns.value) && fits_int(nr.value);
    void* const into = const_cast<void*>(op.recv.buffer);
    MPI_Win const window = window_of(op);
    switch (op.kind) {
    case COMMTASK_OP_PUT:
        return COMMTASK_MPI_CALL(fits, Put, op.send.buffer, ns, op.send.type, op.peer, displacement_of(op.recv), nr,
                                 op.recv.type, window);
    case COMMTASK_OP_GET:
        return COMMTASK_MPI_CALL(fits, Get, into, nr, op.recv.type, op.peer, displacement_of(op.send), ns, op.send.type,
                                 window);
    case COMMTASK_OP_ACCUMULATE:
        return COMMTASK_MPI_CALL(fits, Accumulate, op.send.buffer, ns, op.send.type, op.peer, displacement_of(op.recv),
                                 nr, op.recv.type, op.reduction, window);
    case COMMTASK_OP_GET_ACCUMULATE:
        return COMMTASK_MPI_CALL(fits, Get_accumulate, op.send.buffer, nr, op.recv.type, into, nr, op.recv.type,
                                 op.peer, displacement_of(op.send), ns, op.send.type, op.reduction, window);
    case COMMTASK_OP_FETCH_AND_OP:
        return MPI_Fetch_and_op(op.send.buffer, into, op.recv.type, op.peer, displacement_of(op.send), op.reduction,
                                window);
    case COMMTASK_OP_COMPARE_AND_SWAP:
        return MPI_Compare_and_swap(op.send.buffer, op.recv.displs, into, op.recv.type, op.peer,
                                    displacement_of(op.send), window);
    case COMMTASK_OP_FLUSH: return flush(op);
    case COMMTASK_OP_FLUSH_ALL: return MPI_Win_flush_all(window);
    case COMMTASK_OP_WIN_SYNC: return MPI_Win_sync(window);
    case COMMTASK_OP_WIN_FENCE: return MPI_Win_fence(assertion_of(op), window);
    case COMMTASK_OP_WIN_POST: return MPI_Win_post(group_of(op), assertion_of(op), window);
    case COMMTASK_OP_WIN_START: return MPI_Win_start(group_of(op), assertion_of(op), window);
    case COMMTASK_OP_WIN_COMPLETE: return MPI_Win_complete(window);
    case COMMTASK_OP_WIN_WAIT: return MPI_Win_wait(window);
    case COMMTASK_OP_WIN_LOCK: return MPI_Win_lock(lock_type_of(op), op.peer, assertion_of(op), window);
    case COMMTASK_OP_WIN_UNLOCK: return MPI_Win_unlock(op.peer, window);
    case COMMTASK_OP_WIN_LOCK_ALL: return MPI_Win_lock_all(assertion_of(op), window);
    case COMMTASK_OP_WIN_UNLOCK_ALL: return MPI_Win_unlock_all(window);
    default: return MPI_ERR_INTERN;
    }
}

int start_next_step(const commtask_op& op, MPI_Request* request) noexcept {
    switch (op.kind) {
    case COMMTASK_OP_PUT_NOTIFY:
        if (const int code = flush(op); code != MPI_SUCCESS) return code;
        return start_notifying(op, request);
    case COMMTASK_OP_GET_NOTIFY: return start_notifying(op, request);
    case COMMTASK_OP_AWAIT_NOTIFY: return start_awaiting(op, request);
    default: return MPI_ERR_INTERN;
    }
}

int end_steps(const commtask_op& op) noexcept {
    return op.kind == COMMTASK_OP_AWAIT_NOTIFY ? MPI_Win_sync(window_of(op)) : MPI_SUCCESS;
}

bool may_block(const commtask_op& op) noexcept {
    return op.kind == COMMTASK_OP_COMPARE_AND_SWAP || op.kind == COMMTASK_OP_FLUSH || op.kind == COMMTASK_OP_FLUSH_ALL;
}

} // namespace commtask::detail
