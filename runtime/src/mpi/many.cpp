// SPDX-License-Identifier: Apache-2.0
//
// Operations of many messages: the table has one request per message, all of one task. If one
// message fails, the others are not canceled, since the ranks at their other ends wait for them. If
// MPI fails to start a message, the task fails: its started receives are canceled, and its
// remaining messages are not started.
#include "mpi/many.hpp"

#include "core/operation_kind.hpp"
#include "mpi/errors.hpp"
#include "mpi/status_fields.hpp"
#include "mpi/transport.hpp"

#include <algorithm>
#include <cstring>

namespace commtask::detail {
namespace {

[[nodiscard]] int start_receive(const one_message& from, MPI_Comm comm, MPI_Request* request) noexcept {
    return COMMTASK_MPI_CALL(fits_int(from.count.value), Irecv, from.buffer, from.count, from.type, from.peer, from.tag,
                             comm, request);
}

[[nodiscard]] int start_send(const one_message& to, MPI_Comm comm, MPI_Request* request) noexcept {
    return COMMTASK_MPI_CALL(fits_int(to.count.value), Isend, to.buffer, to.count, to.type, to.peer, to.tag, comm,
                             request);
}

/// @return `code`, or an error if MPI has returned success without a request
[[nodiscard]] int code_with_request(int code, MPI_Request request) noexcept {
    return code == MPI_SUCCESS && request == MPI_REQUEST_NULL ? MPI_ERR_OTHER : code;
}

} // namespace

/// Also used for operations of one or two messages.
void mpi_transport::show_messages(const commtask_op& op, message_visitor& visitor) const noexcept {
    const auto bytes_of = [](MPI_Datatype type, MPI_Count count) -> std::int64_t {
        MPI_Count element = 0;
        return count > 0 && MPI_Type_size_x(type, &element) == MPI_SUCCESS ? element * count : 0;
    };
    const errors_return errors;
    const operation_traits& kind = operation_of(kind_of(op));
    if (!kind.has_dests) {
        const bool receives = kind.has_recv_side && (kind.has_source || kind.takes_message);
        // Without a source, which only the mprobe knows.
        const int source = kind.has_source ? op.source : MPI_ANY_SOURCE;
        if (kind.has_dest) visitor.visit({false, op.peer, op.send_tag, payload_bytes(op)});
        if (receives) visitor.visit({true, source, op.recv_tag, bytes_of(op.recv.type, op.recv.count)});
        return;
    }
    for (const bool receives : {true, false}) {
        static_cast<void>(visit_messages(op, receives, [&](const one_message& each) {
            visitor.visit({receives, each.peer, each.tag, bytes_of(each.type, each.count.value)});
            return MPI_SUCCESS;
        }));
    }
}

std::size_t mpi_transport::count_requests(const commtask_op& op) noexcept {
    const operation_traits& kind = operation_of(op.kind);
    if (!kind.has_dests) return started_requests{}.requests.size();
    return dests_of(op).size() + (kind.has_sources ? sources_of(op).size() : 0);
}

/// @param queues  the receives must be queued behind an ordered mprobe
start_result mpi_transport::start_many(task& which, bool queues) noexcept {
    start_gathered();
    const commtask_op& op = which.op;
    const errors_return errors;
    std::memset(which.mpi_status, 0, sizeof(MPI_Status));
    std::uint32_t n_receives = 0;
    const std::size_t first = requests_.size();
    const auto add = [&](MPI_Request request, std::uint32_t part) {
        requests_.push_back(request);
        parts_.push_back({&which, part});
    };
    int code = visit_messages(op, true, [&](const one_message& from) {
        MPI_Request request = MPI_REQUEST_NULL;
        const int refused =
            queues ? MPI_SUCCESS : code_with_request(errors.code_of(start_receive(from, op.comm, &request)), request);
        if (refused == MPI_SUCCESS) add(request, n_receives++);
        return refused;
    });
    std::uint32_t n_sends = 0;
    if (code == MPI_SUCCESS) {
        code = visit_messages(op, false, [&](const one_message& to) {
            MPI_Request request = MPI_REQUEST_NULL;
            const int refused = code_with_request(errors.code_of(start_send(to, op.comm, &request)), request);
            if (refused == MPI_SUCCESS) add(request, is_send_part | n_sends++);
            return refused;
        });
    }
    if (code != MPI_SUCCESS) {
        take_error(which, code);
        const auto end_of_receives = static_cast<std::ptrdiff_t>(first + n_receives);
        for (std::size_t i = first; i < first + n_receives && !queues; ++i) MPI_Cancel(&requests_[i]);
        if (queues) {
            requests_.erase(requests_.begin() + static_cast<std::ptrdiff_t>(first),
                            requests_.begin() + end_of_receives);
            parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(first), parts_.begin() + end_of_receives);
        }
    }
    which.run.open_parts = static_cast<std::uint32_t>(requests_.size() - first);
    which.run.status_request_at = static_cast<std::uint32_t>(first);
    count_in_flight();
    if (which.run.open_parts == 0) return code == MPI_SUCCESS ? start_result::completed : start_result::failed;
    if (queues && n_receives > 0 && code == MPI_SUCCESS) unmatched_.push(which);
    return start_result::started;
}

/// A persistent request for each message, in the order of start_many().
int mpi_transport::make_many(const commtask_op& op, kept_requests& kept) noexcept {
    const errors_return errors;
    if (!kept.make_room(count_requests(op))) return MPI_ERR_NO_MEM;
    const auto add = [&](int refused, MPI_Request request) {
        refused = code_with_request(errors.code_of(refused), request);
        if (refused == MPI_SUCCESS) kept.add(request);
        return refused;
    };
    const int code = visit_messages(op, true, [&](const one_message& from) {
        MPI_Request request = MPI_REQUEST_NULL;
        const int refused = COMMTASK_MPI_CALL(fits_int(from.count.value), Recv_init, from.buffer, from.count, from.type,
                                              from.peer, from.tag, op.comm, &request);
        return add(refused, request);
    });
    kept.n_receives = kept.count;
    if (code != MPI_SUCCESS) return code;
    return visit_messages(op, false, [&](const one_message& to) {
        MPI_Request request = MPI_REQUEST_NULL;
        const int refused = COMMTASK_MPI_CALL(fits_int(to.count.value), Send_init, to.buffer, to.count, to.type,
                                              to.peer, to.tag, op.comm, &request);
        return add(refused, request);
    });
}

void mpi_transport::one_of_many_ended(started_part ended, const MPI_Status& status, int error) noexcept {
    task& which = *ended.of;
    if (error != MPI_SUCCESS && error != MPI_ERR_PENDING) take_error(which, error);
    if (!is_receive(ended)) return;
    if (was_canceled(status)) {
        which.result.is_canceled = true;
    } else if (const std::int64_t bytes = length_of(status); bytes >= 0) {
        which.result.bytes += bytes;
    }
}

/// A receive whose message has arrived completes. The task is canceled if any message had not
/// arrived.
void mpi_transport::withdraw_many(const task& which) noexcept {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const bool is_its = parts_[i].of == &which && is_receive(parts_[i]);
        if (is_its && requests_[i] != MPI_REQUEST_NULL) MPI_Cancel(&requests_[i]);
    }
}

/// Starts the queued receives. @return an MPI error code; the requests of receives that MPI did not
/// start remain null
int mpi_transport::start_queued_receives(const task& which) noexcept {
    const errors_return errors;
    std::uint32_t part = 0;
    return visit_messages(which.op, true, [&](const one_message& from) {
        const auto is_it = [&](const started_part& each) { return each.of == &which && each.part == part; };
        const auto at = std::find_if(parts_.begin(), parts_.end(), is_it) - parts_.begin();
        MPI_Request& request = requests_[static_cast<std::size_t>(at)];
        ++part;
        return code_with_request(errors.code_of(start_receive(from, which.op.comm, &request)), request);
    });
}

/// Removes the receives that were never started from the table, and all but one of them from the
/// parts that the task waits for.
/// @return whether there were any; the caller then reports the remaining one
bool mpi_transport::drop_queued_receives(task& which) noexcept {
    std::uint32_t n_dropped = 0;
    for (std::size_t i = parts_.size(); i > 0; --i) {
        if (parts_[i - 1].of != &which || requests_[i - 1] != MPI_REQUEST_NULL) continue;
        remove(i - 1);
        ++n_dropped;
    }
    if (n_dropped > 0) which.run.open_parts -= n_dropped - 1;
    return n_dropped > 0;
}

} // namespace commtask::detail
