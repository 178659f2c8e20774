// SPDX-License-Identifier: Apache-2.0
//
// Starts messages and user-defined operations. MPI-3.1 has no nonblocking sendrecv: it is a receive
// and a send of one task. The receive is started first, so that a send to the rank itself finds it.
// A sendrecv_replace sends a copy, since the receive overwrites the buffer. The copy is packed, or
// has the gaps of the datatype if the packed bytes do not fit into an int.
#include "core/operation_traits.hpp"
#include "core/plan.hpp"
#include "mpi/counts.hpp"
#include "mpi/errors.hpp"
#include "mpi/operations.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace commtask::detail {
namespace {

/// The operation stores every buffer as const; a buffer that MPI writes was not const in the
/// program's call.
[[nodiscard]] void* writable(const void* buffer) noexcept { return const_cast<void*>(buffer); }

[[nodiscard]] int start_send(const commtask_op& op, const void* buffer, MPI_Count count, MPI_Datatype type,
                             MPI_Request* request) noexcept {
    const one_count n{count};
    const errors_return errors;
    return errors.code_of(
        COMMTASK_MPI_CALL(fits_int(count), Isend, buffer, n, type, op.peer, op.send_tag, op.comm, request));
}

/// Starts the receive of any kind of message, unless it is queued behind a probe.
[[nodiscard]] int start_recv(const commtask_op& op, started_requests& started) noexcept {
    const int code = started.queues_receive ? MPI_SUCCESS : start_queued_receive(op, &started.requests[0]);
    if (code == MPI_SUCCESS) started.count = 1;
    return code;
}

/// The second half of a sendrecv. If the send cannot start, the receive is canceled, and the task
/// has the error.
[[nodiscard]] int add_send(const commtask_op& op, const void* buffer, MPI_Count count, MPI_Datatype type,
                           started_requests& started) noexcept {
    const int code = start_send(op, buffer, count, type, &started.requests[1]);
    if (code == MPI_SUCCESS) {
        started.count = 2;
    } else if (started.queues_receive) {
        started.count = 0;
    } else {
        MPI_Cancel(&started.requests[0]);
    }
    return code;
}

[[nodiscard]] int start_sendrecv(const commtask_op& op, started_requests& started) noexcept {
    if (const int code = start_recv(op, started); code != MPI_SUCCESS) return code;
    return add_send(op, op.send.buffer, op.send.count, op.send.type, started);
}

/// The message that a sendrecv_replace sends, in the task's scratch memory.
struct copied_message {
    const void* buffer = nullptr;
    MPI_Count count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
};

[[nodiscard]] int pack(task& which, copied_message& copied) noexcept {
    const commtask_op& op = which.op;
    const int count = static_cast<int>(op.recv.count);
    int packed_size = 0;
    if (const int code = MPI_Pack_size(count, op.recv.type, op.comm, &packed_size); code != MPI_SUCCESS) return code;
    which.run.scratch = std::malloc(packed_size > 0 ? static_cast<std::size_t>(packed_size) : 1);
    if (which.run.scratch == nullptr) return MPI_ERR_NO_MEM;
    int position = 0;
    const int code = MPI_Pack(op.recv.buffer, count, op.recv.type, which.run.scratch, packed_size, &position, op.comm);
    copied = {which.run.scratch, position, MPI_PACKED};
    return code;
}

[[nodiscard]] int copy_with_gaps(task& which, copied_message& copied) noexcept {
    const commtask_op& op = which.op;
    if (op.recv.count == 0) {
        copied = {nullptr, 0, op.recv.type};
        return MPI_SUCCESS;
    }
    MPI_Count lower = 0;
    MPI_Count extent = 0;
    MPI_Count true_lower = 0;
    MPI_Count true_extent = 0;
    int code = MPI_Type_get_extent_x(op.recv.type, &lower, &extent);
    if (code == MPI_SUCCESS) code = MPI_Type_get_true_extent_x(op.recv.type, &true_lower, &true_extent);
    if (code != MPI_SUCCESS) return code;
    const MPI_Count last = (op.recv.count - 1) * extent; // the extent may be negative
    const MPI_Count first_byte = true_lower + std::min<MPI_Count>(last, 0);
    const auto size = static_cast<std::size_t>(true_extent + std::abs(last));
    which.run.scratch = std::malloc(size);
    if (which.run.scratch == nullptr) return MPI_ERR_NO_MEM;
    // Computed as integers: the buffer may be MPI_BOTTOM, and the offset an absolute address.
    const auto from = reinterpret_cast<std::uintptr_t>(op.recv.buffer) + static_cast<std::uintptr_t>(first_byte);
    std::memcpy(which.run.scratch, reinterpret_cast<const void*>(from), size);
    const auto base = reinterpret_cast<std::uintptr_t>(which.run.scratch) - static_cast<std::uintptr_t>(first_byte);
    copied = {reinterpret_cast<const void*>(base), op.recv.count, op.recv.type};
    return MPI_SUCCESS;
}

[[nodiscard]] int start_sendrecv_replace(task& which, started_requests& started) noexcept {
    // Half of INT_MAX, since packing may add bytes.
    constexpr MPI_Count most_packed_bytes = MPI_Count{1} << 30;
    const commtask_op& op = which.op;
    MPI_Count element = 0;
    if (const int code = MPI_Type_size_x(op.recv.type, &element); code != MPI_SUCCESS) return code;
    const bool can_pack =
        fits_int(op.recv.count) && element <= most_packed_bytes / std::max<MPI_Count>(op.recv.count, 1);
    copied_message copied;
    if (const int code = can_pack ? pack(which, copied) : copy_with_gaps(which, copied); code != MPI_SUCCESS) {
        return code;
    }
    if (const int code = start_recv(op, started); code != MPI_SUCCESS) return code;
    return add_send(op, copied.buffer, copied.count, copied.type, started);
}

} // namespace

bool is_to_itself(const commtask_op& op) noexcept {
    int mine = MPI_PROC_NULL;
    return operation_of(op.kind).family == operation_family::send && MPI_Comm_rank(op.comm, &mine) == MPI_SUCCESS &&
           op.peer == mine;
}

int start_queued_receive(const commtask_op& op, MPI_Request* request) noexcept {
    const one_count n{op.recv.count};
    const errors_return errors;
    return errors.code_of(COMMTASK_MPI_CALL(fits_int(n.value), Irecv, writable(op.recv.buffer), n, op.recv.type,
                                            op.source, op.recv_tag, op.comm, request));
}

int start_message(task& which, started_requests& started) noexcept {
    const commtask_op& op = which.op;
    MPI_Request* const request = &started.requests[0];
    const one_count n{op.send.count};
    const bool fits = fits_int(n.value);
    int code = MPI_SUCCESS;
    switch (op.kind) {
    case COMMTASK_OP_SEND: code = start_send(op, op.send.buffer, op.send.count, op.send.type, request); break;
    case COMMTASK_OP_SSEND:
        code = COMMTASK_MPI_CALL(fits, Issend, op.send.buffer, n, op.send.type, op.peer, op.send_tag, op.comm, request);
        break;
    case COMMTASK_OP_BSEND:
        code = COMMTASK_MPI_CALL(fits, Ibsend, op.send.buffer, n, op.send.type, op.peer, op.send_tag, op.comm, request);
        break;
    case COMMTASK_OP_RSEND:
        code = COMMTASK_MPI_CALL(fits, Irsend, op.send.buffer, n, op.send.type, op.peer, op.send_tag, op.comm, request);
        break;
    case COMMTASK_OP_RECV: return start_recv(op, started);
    case COMMTASK_OP_SENDRECV: return start_sendrecv(op, started);
    case COMMTASK_OP_SENDRECV_REPLACE: return start_sendrecv_replace(which, started);
    case COMMTASK_OP_MPROBE: started.is_probing = true; return MPI_SUCCESS;
    case COMMTASK_OP_MRECV: {
        const one_count m{op.recv.count};
        code = COMMTASK_MPI_CALL(fits_int(m.value), Imrecv, writable(op.recv.buffer), m, op.recv.type,
                                 static_cast<MPI_Message*>(op.result), request);
        break;
    }
    case COMMTASK_OP_PSEND:
    case COMMTASK_OP_PRECV: // all groups of its partitions have ended
        which.member->of->sum_up_groups(*which.member, which.result);
        return MPI_SUCCESS;
    default: return MPI_ERR_INTERN;
    }
    if (code == MPI_SUCCESS) started.count = 1;
    return code;
}

int start_custom(task& which, started_requests& started) noexcept {
    const commtask_op& op = which.op;
    switch (op.kind) {
    case COMMTASK_OP_CALL: return op.call(op.result);
    case COMMTASK_OP_NOOP: return MPI_SUCCESS;
    case COMMTASK_OP_START:
        if (const int code = op.start(&started.requests[0], op.result); code != MPI_SUCCESS) return code;
        break;
    case COMMTASK_OP_ATTACH:
        // The post copied the request into the task, and set the caller's variable to
        // MPI_REQUEST_NULL.
        std::memcpy(&started.requests[0], which.mpi_status, sizeof(MPI_Request));
        break;
    default: return MPI_ERR_INTERN;
    }
    started.count = started.requests[0] == MPI_REQUEST_NULL ? 0 : 1;
    return MPI_SUCCESS;
}

} // namespace commtask::detail
