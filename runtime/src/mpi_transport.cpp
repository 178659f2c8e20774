// SPDX-License-Identifier: Apache-2.0
//
// Testsome reports an error either in the status (MPI_ERR_IN_STATUS) or for the call; in the second case the window is
// tested request by request, so that the error finds its task. A status has MPI_ERROR only in the first case.
#include "mpi_transport.hpp"

#include "mpi_counts.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace commtask::detail {

mpi_transport::mpi_transport(std::size_t test_window, bool keeps_stats)
    : window_(test_window), keeps_stats_(keeps_stats), indices_(test_window), statuses_(test_window) {
    constexpr std::size_t expected_in_flight = 1024;
    requests_.reserve(expected_in_flight);
    owners_.reserve(expected_in_flight);
}

void mpi_transport::take_error(task& which, int error) noexcept {
    if (which.result.error != 0) return; // the first one counts
    which.result.error = error;
    MPI_Error_class(error, &which.result.error_class);
}

void mpi_transport::take_status(task& which, const MPI_Status& status) noexcept {
    std::memcpy(which.mpi_status, &status, sizeof status);
    // What a door started may be a receive: only MPI knows, and its status says.
    const bool is_door = which.op.kind == COMMTASK_OP_START || which.op.kind == COMMTASK_OP_ATTACH;
    if (!operation_of(which.op.kind).receives && !is_door) return;
    if (!is_door && which.op.kind != COMMTASK_OP_MRECV && which.op.source == MPI_PROC_NULL) {
        // MPICH 4.0 leaves the status of a receive from nobody as it was.
        MPI_Status nobody{};
        nobody.MPI_SOURCE = MPI_PROC_NULL;
        nobody.MPI_TAG = MPI_ANY_TAG;
        std::memcpy(which.mpi_status, &nobody, sizeof nobody);
        which.result.source = MPI_PROC_NULL;
        which.result.tag = MPI_ANY_TAG;
        return;
    }
    which.result.source = status.MPI_SOURCE;
    which.result.tag = status.MPI_TAG;
    MPI_Count bytes = 0;
    if (MPI_Get_elements_x(&status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes != MPI_UNDEFINED) {
        which.result.bytes = bytes;
    }
}

[[nodiscard]] static bool makes_requests(int kind) noexcept {
    return kind != COMMTASK_OP_MPROBE && kind != COMMTASK_OP_CALL && kind != COMMTASK_OP_NOOP;
}

/// So that nothing need be remembered that MPI has started already.
bool mpi_transport::has_room_for_requests() noexcept {
    const std::size_t needed = requests_.size() + started_requests{}.requests.size();
    if (needed <= requests_.capacity()) return true;
    try {
        owners_.reserve(2 * needed);
        requests_.reserve(2 * needed);
    } catch (const std::bad_alloc&) {
        return false;
    }
    return true;
}

start_result mpi_transport::start(task& which) noexcept {
    if (makes_requests(which.op.kind) &&
        !has_room_for_requests()) { // the request of an attach stays with MPI: it may not be one that can be freed
        take_error(which, MPI_ERR_NO_MEM);
        return start_result::failed;
    }
    started_requests started;
    started.holds_receive = !unmatched_.is_empty() && must_hold(which);
    const int code = operation_of(which.op.kind).start(which, started);
    if (which.op.kind != COMMTASK_OP_ATTACH || code != MPI_SUCCESS)
        std::memset(which.mpi_status, 0, sizeof(MPI_Status));
    if (code != MPI_SUCCESS) take_error(which, code);
    if (started.is_probing) {
        unmatched_.push(which);
        ++n_probes_;
        count_in_flight();
        return start_result::started;
    }
    if (keeps_stats_ && code == MPI_SUCCESS) which.sent_bytes = payload_bytes(which.op);
    if (started.count == 0) return code == MPI_SUCCESS ? start_result::completed : start_result::failed;
    which.open_requests = static_cast<std::uint32_t>(started.count);
    for (int i = 0; i < started.count; ++i) {
        if (i == 0) which.request_at = static_cast<std::uint32_t>(requests_.size());
        requests_.push_back(started.requests[static_cast<std::size_t>(i)]);
        owners_.push_back({&which, i == 0});
    }
    if (started.holds_receive) unmatched_.push(which);
    count_in_flight();
    return start_result::started;
}

void mpi_transport::poll(completion_sink& sink) noexcept {
    if (!unmatched_.is_empty()) poll_unmatched(sink);
    const std::size_t count = requests_.size();
    has_polled_all_ = count <= window_;
    if (count == 0) return;
    if (has_polled_all_) return test(0, count, sink);
    // The newest half window: what a program waits for next is often what it started last.
    const std::size_t newest = std::max<std::size_t>(window_ / 2, 1);
    test(count - newest, newest, sink);
    if (cursor_ >= requests_.size()) cursor_ = 0;
    const std::size_t further = std::min(window_, requests_.size() - cursor_);
    cursor_ += further;
    if (further > 0) test(cursor_ - further, further, sink);
}

void mpi_transport::poll_one(task& which, completion_sink& sink) noexcept {
    if (has_status_request(which)) test(which.request_at, 1, sink);
}

void mpi_transport::test(std::size_t first, std::size_t count, completion_sink& sink) noexcept {
    int n_ended = 0;
    const int code =
        MPI_Testsome(static_cast<int>(count), &requests_[first], &n_ended, indices_.data(), statuses_.data());
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) {
        int error_class = MPI_SUCCESS;
        MPI_Error_class(code, &error_class);
        if (error_class != MPI_ERR_IN_STATUS) return test_one_by_one(first, count, sink);
    }
    if (n_ended == MPI_UNDEFINED || n_ended <= 0) return;
    // From the back, since removing a request moves the last one into its place. Insertion sort: mostly one or two.
    for (int i = 1; i < n_ended; ++i) {
        for (int j = i; j > 0 && indices_[static_cast<std::size_t>(j)] > indices_[static_cast<std::size_t>(j - 1)];
             --j) {
            std::swap(indices_[static_cast<std::size_t>(j)], indices_[static_cast<std::size_t>(j - 1)]);
            std::swap(statuses_[static_cast<std::size_t>(j)], statuses_[static_cast<std::size_t>(j - 1)]);
        }
    }
    for (int i = 0; i < n_ended; ++i) {
        const MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
        const int error = code == MPI_SUCCESS ? MPI_SUCCESS : status.MPI_ERROR;
        request_ended(first + static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)]), status, error, sink);
        // An MPI that leaves a status untouched must not show the next request this one's.
        statuses_[static_cast<std::size_t>(i)] = MPI_Status{};
    }
}

void mpi_transport::test_one_by_one(std::size_t first, std::size_t count, completion_sink& sink) noexcept {
    for (std::size_t index = first + count; index > first; --index) {
        if (requests_[index - 1] == MPI_REQUEST_NULL) continue; // a receive that is held
        int has_ended = 0;
        MPI_Status status{};
        const int code = MPI_Test(&requests_[index - 1], &has_ended, &status);
        if (code != MPI_SUCCESS || has_ended != 0) request_ended(index - 1, status, code, sink);
    }
}

void mpi_transport::request_ended(std::size_t index, const MPI_Status& status, int error,
                                  completion_sink& sink) noexcept {
    const owner ended = owners_[index];
    task& which = *ended.of;
    remove(index);
    if (error != MPI_SUCCESS && error != MPI_ERR_PENDING) {
        take_error(which, error);
        // The other half of a sendrecv must not wait for ever for what will not come.
        if (which.open_requests > 1) withdraw(which);
    }
    if (ended.gives_status) {
        take_status(which, status);
        // Only receives are ever withdrawn; Open MPI leaves this undefined in the status of its file operations.
        int was_canceled = 0;
        if (operation_of(which.op.kind).receives) MPI_Test_cancelled(&status, &was_canceled);
        which.result.is_canceled = was_canceled != 0;
    }
    if (--which.open_requests == 0) sink.ended(which);
}

void mpi_transport::remove(std::size_t index) noexcept {
    requests_[index] = requests_.back();
    owners_[index] = owners_.back();
    if (owners_[index].gives_status) owners_[index].of->request_at = static_cast<std::uint32_t>(index);
    requests_.pop_back();
    owners_.pop_back();
    count_in_flight();
}

/// Whether the request that gives a started task's status is still open; then it lies at `request_at`.
bool mpi_transport::has_status_request(const task& which) const noexcept {
    return which.request_at < owners_.size() && owners_[which.request_at].of == &which &&
           owners_[which.request_at].gives_status;
}

void mpi_transport::withdraw(task& which) noexcept {
    if (unmatched_.has(which)) {
        which.result.is_canceled = true; // the next poll ends it
        return;
    }
    // An mprobe that is not there has ended in this look, and is about to be reported.
    if (which.op.kind == COMMTASK_OP_MPROBE) return;
    // Only receives: MPI gives no promise for sends, and collectives cannot be canceled at all.
    if (!operation_of(which.op.kind).receives || !has_status_request(which)) return;
    // Null: it ended in the same look as the task whose callback asks, and is about to be reported.
    if (MPI_Request& asked = requests_[which.request_at]; asked != MPI_REQUEST_NULL) MPI_Cancel(&asked);
}

void mpi_transport::abandon(task& which) noexcept {
    const bool was_unmatched = unmatched_.take_first([&](const task& each) { return &each == &which; }) != nullptr;
    if (was_unmatched && which.op.kind == COMMTASK_OP_MPROBE) --n_probes_;
    std::uint32_t n_left = which.open_requests;
    if (has_status_request(which)) {
        abandon_request(which.request_at);
        --n_left;
    }
    // The send of a sendrecv, which no task knows the place of.
    for (std::size_t i = owners_.size(); i > 0 && n_left > 0; --i) {
        if (owners_[i - 1].of != &which) continue;
        abandon_request(i - 1);
        --n_left;
    }
    count_in_flight();
    which.scratch = nullptr; // MPI may still read it: it is left alone
}

void mpi_transport::abandon_request(std::size_t index) noexcept {
    const operation_entry& kind = operation_of(owners_[index].of->op.kind);
    MPI_Request& abandoned = requests_[index];
    if (kind.receives && owners_[index].gives_status && abandoned != MPI_REQUEST_NULL) {
        // An unmatched receive ends at once; MPI_Finalize would wait for a freed one that is active.
        MPI_Cancel(&abandoned);
        int has_ended = 0;
        MPI_Test(&abandoned, &has_ended, MPI_STATUS_IGNORE);
    }
    if (abandoned != MPI_REQUEST_NULL && kind.ordered_in == order_class::messages) MPI_Request_free(&abandoned);
    remove(index);
}

void mpi_transport::clean_up(task& which) noexcept {
    std::free(which.scratch);
    which.scratch = nullptr;
}

} // namespace commtask::detail
