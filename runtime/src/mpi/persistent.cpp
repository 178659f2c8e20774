// SPDX-License-Identifier: Apache-2.0
//
// Persistent requests of plans. Each member keeps the requests of its last two pairs of buffers:
// otherwise a program that swaps its buffers would need new requests in every run. Requests of
// members that are started in a row are contiguous, so that one MPI_Startall starts them.
#include "mpi/persistent.hpp"

#include "core/operation_traits.hpp"
#include "mpi/counts.hpp"
#include "mpi/errors.hpp"
#include "mpi/plan_types.hpp"
#include "mpi/transport.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

namespace commtask::detail {
namespace {

[[nodiscard]] int make_send(const commtask_op& op, MPI_Request* request) noexcept {
    const one_count n{op.send.count};
    const bool fits = fits_int(n.value);
    const void* const from = op.send.buffer;
    switch (op.kind) {
    case COMMTASK_OP_SSEND:
        return COMMTASK_MPI_CALL(fits, Ssend_init, from, n, op.send.type, op.peer, op.send_tag, op.comm, request);
    case COMMTASK_OP_BSEND:
        return COMMTASK_MPI_CALL(fits, Bsend_init, from, n, op.send.type, op.peer, op.send_tag, op.comm, request);
    case COMMTASK_OP_RSEND:
        return COMMTASK_MPI_CALL(fits, Rsend_init, from, n, op.send.type, op.peer, op.send_tag, op.comm, request);
    default: return COMMTASK_MPI_CALL(fits, Send_init, from, n, op.send.type, op.peer, op.send_tag, op.comm, request);
    }
}

[[nodiscard]] int make_recv(const commtask_op& op, MPI_Request* request) noexcept {
    const one_count n{op.recv.count};
    return COMMTASK_MPI_CALL(fits_int(n.value), Recv_init, const_cast<void*>(op.recv.buffer), n, op.recv.type,
                             op.source, op.recv_tag, op.comm, request);
}

void free_requests(kept_requests& kept) noexcept {
    const errors_return errors;
    for (std::uint32_t i = 0; i < kept.count; ++i) {
        if (kept.first()[i] != MPI_REQUEST_NULL) MPI_Request_free(&kept.first()[i]);
    }
    kept = {};
}

/// The receive is first, as in start_message().
[[nodiscard]] int make_few(const commtask_op& op, kept_requests& kept) noexcept {
    const bool receives = op.kind == COMMTASK_OP_RECV || op.kind == COMMTASK_OP_SENDRECV;
    const bool sends = op.kind != COMMTASK_OP_RECV;
    const errors_return errors;
    const auto make = [&](int (*how)(const commtask_op&, MPI_Request*)) {
        MPI_Request made = MPI_REQUEST_NULL;
        int code = errors.code_of(how(op, &made));
        // Some MPIs return success after an error.
        if (code == MPI_SUCCESS && made == MPI_REQUEST_NULL) code = MPI_ERR_OTHER;
        if (code == MPI_SUCCESS) kept.add(made);
        return code;
    };
    int code = receives ? make(&make_recv) : MPI_SUCCESS;
    if (code == MPI_SUCCESS && sends) code = make(&make_send);
    return code;
}

} // namespace

bool is_kept(const commtask_op& op) noexcept {
    switch (op.kind) {
    case COMMTASK_OP_SEND:
    case COMMTASK_OP_SSEND:
    case COMMTASK_OP_BSEND:
    case COMMTASK_OP_RSEND:
    case COMMTASK_OP_RECV:
    case COMMTASK_OP_SENDRECV: break;
    case COMMTASK_OP_MULTICAST:
    case COMMTASK_OP_MANY_TO_MANY: return true; // a rank MPI_PROC_NULL of a list has no request
    default: return false;
    }
    // MPICH 4.0 treats a started persistent request with MPI_PROC_NULL as inactive, and never
    // reports it.
    const operation_traits& kind = operation_of(op.kind);
    return !(kind.has_dest && op.peer == MPI_PROC_NULL) && !(kind.has_source && op.source == MPI_PROC_NULL);
}

int mpi_transport::make_requests(const commtask_op& op, kept_requests& kept) noexcept {
    const int code = operation_of(op.kind).has_dests ? make_many(op, kept) : make_few(op, kept);
    if (code != MPI_SUCCESS) {
        free_requests(kept);
        return code;
    }
    kept.are_made = true;
    kept.send_buffer = op.send.buffer;
    kept.recv_buffer = op.recv.buffer;
    return MPI_SUCCESS;
}

const kept_requests* mpi_transport::requests_for(plan_member& member, int& error) noexcept {
    const commtask_op& op = member.op;
    for (std::uint32_t i = 0; i < member.kept.size(); ++i) {
        const kept_requests& kept = member.kept[i];
        if (!kept.are_made || kept.send_buffer != op.send.buffer || kept.recv_buffer != op.recv.buffer) continue;
        member.kept_last = i;
        return &kept;
    }
    if (member.kept[member.kept_last].are_made)
        // Otherwise MPI has freed requests of this pair: the other pair remains.
        member.kept_last ^= 1U;
    kept_requests& made = member.kept[member.kept_last];
    free_requests(made);
    error = make_requests(op, made);
    return error == MPI_SUCCESS ? &made : nullptr;
}

int mpi_transport::prepare(plan_member& recorded) noexcept {
    int error = MPI_SUCCESS;
    if (is_kept(recorded.op)) {
        static_cast<void>(requests_for(recorded, error));
        return error;
    }
    const errors_return errors;
    const operation_traits& kind = operation_of(recorded.op.kind);
    if (kind.counts == count_shape::typed_arrays) return MPI_SUCCESS;
    for (const commtask_side* const side : {&recorded.op.send, &recorded.op.recv}) {
        const bool has_side = side == &recorded.op.send ? kind.has_send_side : kind.has_recv_side;
        MPI_Count bytes = 0;
        if (!has_side || side->type == MPI_Datatype{} || !has_type_here(recorded.op, *recorded.queue, *side)) continue;
        error = errors.code_of(MPI_Type_size_x(side->type, &bytes));
        if (error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
}

void mpi_transport::mark_if_freed(std::size_t index, int code) noexcept {
    const started_part& each = parts_[index];
    if (!each.is_kept || code == MPI_SUCCESS || requests_[index] != MPI_REQUEST_NULL) return;
    plan_member& member = *each.of->member;
    const std::uint32_t part = each.part & ~is_send_part;
    kept_requests& kept = member.kept[member.kept_last];
    if (part >= kept.count) return;
    kept.first()[part] = MPI_REQUEST_NULL;
    kept.are_made = false;
}

bool mpi_transport::must_test_one_by_one(std::size_t first, std::size_t count) const noexcept {
    return mpi_error_handling::statuses_lack_errors() &&
           std::ranges::any_of(std::span{parts_}.subspan(first, count), &started_part::is_kept);
}

void mpi_transport::forget(plan_member& recorded) noexcept {
    for (kept_requests& kept : recorded.kept) free_requests(kept);
}

/// Appends persistent requests to the table, as the last n_gathered_ ones.
start_result mpi_transport::gather(task& which, const kept_requests& kept) noexcept {
    std::memset(which.mpi_status, 0, sizeof(MPI_Status));
    if (kept.count == 0) return start_result::completed; // all peers are MPI_PROC_NULL
    const bool are_many = operation_of(which.op.kind).has_dests;
    which.run.open_parts = kept.count;
    which.run.status_request_at = static_cast<std::uint32_t>(requests_.size());
    for (std::uint32_t part = 0; part < which.run.open_parts; ++part) {
        requests_.push_back(kept.first()[part]);
        parts_.push_back(
            {.of = &which, .part = are_many && part >= kept.n_receives ? part | is_send_part : part, .is_kept = true});
    }
    n_gathered_ += which.run.open_parts;
    count_in_flight();
    return start_result::started;
}

void mpi_transport::start_gathered() noexcept {
    if (n_gathered_ == 0) return;
    const std::size_t count = std::exchange(n_gathered_, 0);
    const std::size_t first = requests_.size() - count;
    const errors_return errors;
    const int code = errors.code_of(MPI_Startall(static_cast<int>(count), &requests_[first]));
    if (code != MPI_SUCCESS) mark_not_started(first, code);
}

/// MPI does not report which requests it has started. A request that it has not started is
/// inactive, so a test reports it complete at once. A request that has completed already is taken
/// for one that was not started: one failure too many in a run that has failed.
void mpi_transport::mark_not_started(std::size_t first, int error) noexcept {
    const errors_return errors;
    for (std::size_t i = first; i < requests_.size(); ++i) {
        int is_over = 0;
        const int code = errors.code_of(MPI_Test(&requests_[i], &is_over, MPI_STATUS_IGNORE));
        if (code == MPI_SUCCESS && is_over == 0) continue;
        mark_if_freed(i, code);
        take_error(*parts_[i].of, error);
        parts_[i].is_refused = true;
        has_refused_ = true;
    }
}

void mpi_transport::report_refused(completion_sink& sink) noexcept {
    has_refused_ = false;
    for (std::size_t i = requests_.size(); i > 0; --i) {
        const started_part refused = parts_[i - 1];
        if (!refused.is_refused) continue;
        remove(i - 1);
        if (refused.of->run.open_parts > 1) withdraw(*refused.of); // as in request_ended()
        sink.part_ended(*refused.of, refused.part);
    }
}

} // namespace commtask::detail
