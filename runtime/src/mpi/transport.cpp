// SPDX-License-Identifier: Apache-2.0
//
// MPI_Testsome reports an error either in a status (MPI_ERR_IN_STATUS) or as the result of the
// call. In the second case the requests of the window are tested one by one, so that the error
// finds its task. A status has MPI_ERROR only in the first case, or if MPI returns success for a
// failed request (mpi/errors.hpp). An MPI that does not set MPI_ERROR leaves the zero that was
// there before.
#include "mpi/transport.hpp"

#include "core/handed_over.hpp"
#include "mpi/counts.hpp"
#include "mpi/errors.hpp"
#include "mpi/kept_lists.hpp"
#include "mpi/one_sided.hpp"
#include "mpi/persistent.hpp"
#include "mpi/status_fields.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <ranges>
#include <span>
#include <utility>

namespace commtask::detail {

mpi_transport::mpi_transport(std::size_t test_window)
    : window_(test_window), indices_(test_window), statuses_(test_window), ended_(test_window) {
    constexpr std::size_t expected_in_flight = 256; // more is allocated on demand, and kept
    requests_.reserve(expected_in_flight);
    parts_.reserve(expected_in_flight);
}

mpi_transport::~mpi_transport() {
    if (never_ == MPI_REQUEST_NULL) return;
    const errors_come_back errors;
    MPI_Grequest_complete(never_);
    MPI_Request_free(&never_);
}

void mpi_transport::take_error(task& which, int error) noexcept {
    if (which.result.error != 0) return; // the first error counts
    which.result.error = error;
    MPI_Error_class(error, &which.result.error_class);
}

static void take_length(task& which, const MPI_Status& status) noexcept {
    if (const std::int64_t bytes = length_of(status); bytes >= 0) which.result.bytes = bytes;
}

void mpi_transport::take_status(task& which, const MPI_Status& status) noexcept {
    std::memcpy(which.mpi_status, &status, sizeof status);
    // The request of a user-defined operation may be a receive: only MPI knows, and its status says
    // so.
    const operation_traits& kind = operation_of(kind_of(which.op));
    if (!kind.may_receive) return;
    if (kind.has_length_only) return take_length(which, status);
    if (kind.has_source && which.op.source == MPI_PROC_NULL) {
        // MPICH 4.0 does not write the status of a receive from MPI_PROC_NULL.
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
    take_length(which, status);
}

/// Removes the null requests of operations that failed.
/// @return whether there were any
[[nodiscard]] static bool drop_nulls(started_requests& started) noexcept {
    const auto first = started.requests.begin();
    const auto end = std::remove(first, first + started.count, MPI_REQUEST_NULL);
    return std::exchange(started.count, static_cast<int>(end - first)) > started.count;
}

/// Called before MPI: a request that MPI has started must find a place in the table.
bool mpi_transport::has_room_for_requests(const commtask_op& op) noexcept {
    const std::size_t needed = requests_.size() + count_requests(op);
    if (needed <= requests_.capacity()) return true;
    try {
        parts_.reserve(2 * needed);
        requests_.reserve(2 * needed);
    } catch (const std::bad_alloc&) {
        return false;
    }
    return true;
}

/// Whether MPI may advance the operation only in a test of its request alone.
[[nodiscard]] static bool is_polled_alone(const operation_traits& kind) noexcept {
    return kind.takes_file && kind.ordered_in == order_class::collectives;
}

/// A test of all requests together would advance the operation in any order with others of its
/// file. So the table gets a null request, and the request itself is stored where the task's status
/// will be.
static void put_aside(task& which, MPI_Request& request) noexcept {
    static_assert(sizeof request <= sizeof which.mpi_status);
    std::memcpy(which.mpi_status, static_cast<const void*>(&request), sizeof request);
    request = MPI_REQUEST_NULL;
}

start_result mpi_transport::start(task& which) noexcept {
    if (computes(which.op)) {
        if (which.is_member()) which.modes = which.member->of->running().modes;
        reductions_in_flight::begin(which.modes);
    }
    const operation_traits& kind = operation_of(which.op.kind);
    const bool makes_requests =
        !is_probe(kind) && (kind.family != operation_family::custom || kind.takes_request || kind.takes_start_function);
    const auto fail = [&](int error) {
        take_error(which, error);
        return start_result::failed;
    };
    // The request of an attach is not freed on failure: MPI may not allow to free it.
    if (makes_requests && !has_room_for_requests(which.op)) return fail(MPI_ERR_NO_MEM);
    if (kind.takes_window && windows_ != nullptr) {
        if (windows_->start_elsewhere(which, *this)) {
            std::memset(which.mpi_status, 0, sizeof(MPI_Status));
            which.run.open_parts = 1;
            ++n_elsewhere_;
            count_in_flight();
            return start_result::started;
        }
        if (windows_->has_lost(which)) return fail(MPI_ERR_WIN); // MPI may have reused the handle
    }
    started_requests started;
    started.holds_receive = !unmatched_.is_empty() && must_hold(which);
    if (which.is_member() && !started.holds_receive && is_kept(which.op)) {
        int error = MPI_SUCCESS;
        if (const kept_requests* const kept = requests_for(*which.member, error)) return gather(which, *kept);
        return fail(error);
    }
    if (kind.has_dests) return start_many(which, started.holds_receive);
    start_gathered();
    const errors_come_back errors;
    int code = errors.code_of(start_operation(which, started));
    const bool may_lack_requests = mpi_error_handling::codes_get_lost() && !started.holds_receive;
    if (may_lack_requests && drop_nulls(started) && code == MPI_SUCCESS) code = MPI_ERR_OTHER;
    std::memset(which.mpi_status, 0, sizeof(MPI_Status));
    if (code != MPI_SUCCESS) take_error(which, code);
    if (started.is_probing) {
        which.run.open_parts = 1;
        unmatched_.push(which);
        ++n_probes_;
        count_in_flight();
        return start_result::started;
    }
    if (started.count == 0) return code == MPI_SUCCESS ? start_result::completed : start_result::failed;
    if (started.count == 1 && kind.has_dest && !kind.may_receive && early_ends_.is_worth_a_look(which.op.send.count)) {
        int has_ended = 0;
        code = errors.code_of(MPI_Test(&started.requests[0], &has_ended, MPI_STATUS_IGNORE));
        early_ends_.saw(which.op.send.count, has_ended != 0);
        if (code != MPI_SUCCESS) return fail(code);
        if (has_ended != 0) return start_result::completed;
    }
    const auto n_requests = static_cast<std::uint32_t>(started.count);
    which.run.open_parts = n_requests + started.n_later_steps;
    which.run.status_request_at = static_cast<std::uint32_t>(requests_.size());
    for (std::uint32_t part = 0; part < n_requests; ++part) {
        requests_.push_back(started.requests[part]);
        parts_.push_back({&which, part});
    }
    if (started.holds_receive) unmatched_.push(which);
    if (is_polled_alone(kind)) {
        put_aside(which, requests_.back());
        polled_alone_.push(which);
    }
    count_in_flight();
    return start_result::started;
}

bool mpi_transport::may_start_on_submitter(const task& which) const noexcept {
    const operation_traits& kind = operation_of(which.op.kind);
    return !kind.makes_comm && !may_block(which.op) && (kind.family != operation_family::custom || kind.takes_request);
}

void mpi_transport::poll(completion_sink& sink) noexcept {
    has_made_progress_ = false;
    start_gathered();
    if (has_refused_) report_refused(sink);
    if (!unmatched_.is_empty()) poll_unmatched(sink);
    if (!polled_alone_.is_empty()) poll_alone(sink);
    if (n_elsewhere_ > 0) poll_threads(sink);
    const std::size_t count = requests_.size();
    has_polled_all_ = count <= window_;
    if (count == 0) return;
    if (has_polled_all_) return test(0, count, sink);
    // The newest half window: a program often waits next for the operation that it started last.
    const std::size_t newest = std::max<std::size_t>(window_ / 2, 1);
    test(count - newest, newest, sink);
    if (cursor_ >= requests_.size()) cursor_ = 0;
    const std::size_t further = std::min(window_, requests_.size() - cursor_);
    cursor_ += further;
    if (further > 0) test(cursor_ - further, further, sink);
}

void mpi_transport::poll_one(task& which, completion_sink& sink) noexcept {
    start_gathered();
    if (has_status_request(which)) test(which.run.status_request_at, 1, sink);
}

void mpi_transport::test(std::size_t first, std::size_t count, completion_sink& sink) noexcept {
    if (must_test_one_by_one(first, count)) return test_one_by_one(first, count, sink);
    int n_ended = 0;
    const errors_come_back errors;
    // With statuses even if no caller reads them: without statuses MPI_ERR_IN_STATUS would not say
    // which request failed.
    const int code = errors.code_of(
        MPI_Testsome(static_cast<int>(count), &requests_[first], &n_ended, indices_.data(), statuses_.data()));
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) {
        int error_class = MPI_SUCCESS;
        MPI_Error_class(code, &error_class);
        if (error_class != MPI_ERR_IN_STATUS) return test_one_by_one(first, count, sink);
    }
    // MPI_UNDEFINED: all requests are null, of receives queued behind a probe.
    if (n_ended != MPI_UNDEFINED) has_made_progress_ = true;
    if (n_ended == MPI_UNDEFINED || n_ended <= 0) return;
    const bool is_said_by_status = code != MPI_SUCCESS || mpi_error_handling::codes_get_lost();
    const std::span<ended_request> ended{ended_.data(), static_cast<std::size_t>(n_ended)};
    for (std::size_t i = 0; i < ended.size(); ++i) {
        ended[i] = {indices_[i], {}, &statuses_[i]};
        if (!is_said_by_status) statuses_[i].MPI_ERROR = MPI_SUCCESS;
    }
    // The MPIs in use return the indices in ascending order, but MPI does not require it.
    if (!std::ranges::is_sorted(ended, {}, &ended_request::index)) std::ranges::sort(ended, {}, &ended_request::index);
    report_ended(first, ended, code, sink);
}

/// Uses MPI_Testall on one request, which writes the error of the request into its status whatever
/// the call returns.
void mpi_transport::test_one_by_one(std::size_t first, std::size_t count, completion_sink& sink) noexcept {
    std::size_t n_ended = 0;
    int worst = MPI_SUCCESS;
    for (std::size_t i = 0; i < count; ++i) {
        MPI_Request& request = requests_[first + i];
        if (request == MPI_REQUEST_NULL) continue; // a receive queued behind a probe
        int has_ended = 0;
        MPI_Status& status = statuses_[n_ended];
        status = MPI_Status{};
        status.MPI_ERROR = MPI_SUCCESS;
        const errors_come_back errors;
        const int code = errors.code_of(MPI_Testall(1, &request, &has_ended, &status));
        has_made_progress_ = true;
        if (code == MPI_SUCCESS && has_ended == 0) continue;
        if (code != MPI_SUCCESS) {
            worst = code;
            if (status.MPI_ERROR == MPI_SUCCESS) status.MPI_ERROR = code;
        }
        ended_[n_ended++] = {static_cast<int>(i), {}, &status};
    }
    report_ended(first, {ended_.data(), n_ended}, worst, sink);
}

/// @param ended  in ascending order; the statuses have the errors of their requests
/// @param code  of the MPI call that returned the statuses
void mpi_transport::report_ended(std::size_t first, std::span<ended_request> ended, int code,
                                 completion_sink& sink) noexcept {
    // All requests are removed before the first is reported. Removal goes from the back, since the
    // last request of the table moves into the gap.
    for (ended_request& each : ended | std::views::reverse) {
        const std::size_t index = first + static_cast<std::size_t>(each.index);
        each.whose = parts_[index];
        note_if_lost(index, code);
        remove(index);
    }
    for (const ended_request& each : ended) {
        request_ended(each.whose, *each.status, each.status->MPI_ERROR, sink);
        // If MPI does not write the status of the next request, that request must not get this one.
        *each.status = MPI_Status{};
    }
}

void mpi_transport::request_ended(started_part ended, const MPI_Status& status, int error,
                                  completion_sink& sink) noexcept {
    task& which = *ended.of;
    const operation_traits& kind = operation_of(which.op.kind);
    if (kind.has_dests) {
        one_of_many_ended(ended, status, error);
        return sink.part_ended(which, ended.part);
    }
    if (kind.has_steps) return step_ended(ended, status, error, sink);
    if (is_polled_alone(kind)) {
        static_cast<void>(polled_alone_.take_first([&](const task& each) { return &each == &which; }));
    }
    if (error != MPI_SUCCESS && error != MPI_ERR_PENDING) {
        take_error(which, error);
        // The other half of a sendrecv must not wait for ever for a message that will not come.
        if (which.run.open_parts > 1) withdraw(which);
    }
    if (ended.part == 0) {
        take_status(which, status);
        // Only receives, and sends to the rank itself, are withdrawn. Open MPI leaves the canceled
        // flag undefined in the statuses of its file operations.
        const bool was_withdrawn =
            kind.family == operation_family::send && (which.marks.load(std::memory_order_relaxed) & mark_cancel) != 0;
        which.result.is_canceled = (kind.waits_for_message || was_withdrawn) && was_canceled(status);
        // For a group of partitions: both sides have divided the partitions into the same groups if
        // the sizes agree.
        const std::int64_t expected = which.is_member() ? which.member->expected_bytes : -1;
        if (expected >= 0 && !which.result.is_canceled && which.result.error == 0 && which.result.bytes != expected) {
            take_error(which, MPI_ERR_COUNT);
        }
    }
    sink.part_ended(which, ended.part);
}

/// A step has ended: starts the next one, or ends the operation.
void mpi_transport::step_ended(started_part ended, const MPI_Status& status, int error,
                               completion_sink& sink) noexcept {
    task& which = *ended.of;
    if (error != MPI_SUCCESS && error != MPI_ERR_PENDING) take_error(which, error);
    which.result.is_canceled = operation_of(which.op.kind).waits_for_message && was_canceled(status);
    if (windows_->has_lost(which)) take_error(which, MPI_ERR_WIN); // MPI may have reused the handle
    const bool is_well = which.result.error == 0 && !which.result.is_canceled;
    const bool goes_on = is_well && which.run.open_parts > 1 && start_next(which);
    if (is_well && which.run.open_parts == 1) {
        const errors_come_back errors;
        if (const int code = errors.code_of(end_steps(which.op)); code != MPI_SUCCESS) take_error(which, code);
    }
    if (!goes_on) which.run.open_parts = 1; // the steps after a failed step never begin
    sink.part_ended(which, ended.part);
}

/// @return whether MPI has the next step in flight; otherwise the task's result has the error
bool mpi_transport::start_next(task& which) noexcept {
    MPI_Request next = MPI_REQUEST_NULL;
    int code = MPI_ERR_NO_MEM;
    if (has_room_for_requests(which.op)) {
        const errors_come_back errors;
        code = errors.code_of(start_next_step(which.op, &next));
        if (code == MPI_SUCCESS && next == MPI_REQUEST_NULL) code = MPI_ERR_OTHER;
    }
    if (code != MPI_SUCCESS) {
        take_error(which, code);
        return false;
    }
    which.run.status_request_at = static_cast<std::uint32_t>(requests_.size());
    requests_.push_back(next);
    parts_.push_back({&which, 0});
    count_in_flight();
    return true;
}

/// The operations of further files are polled when one of these operations has ended.
static constexpr std::size_t most_files_in_a_poll = 16;

/// Polls the oldest operation of each file. The steps of an operation are collectives, which come
/// in one order on all ranks; operations of two files have no collective in common.
void mpi_transport::poll_alone(completion_sink& sink) noexcept {
    std::array<task*, most_files_in_a_poll> oldest{};
    std::size_t n_files = 0;
    for (task* each = polled_alone_.first(); each != nullptr && n_files < oldest.size(); each = each->next_in_list) {
        const auto has_its_file = [each](const task* other) { return file_of(other->op) == file_of(each->op); };
        if (std::ranges::none_of(std::span{oldest}.first(n_files), has_its_file)) oldest[n_files++] = each;
    }
    for (task* const each : std::span{oldest}.first(n_files)) {
        // A completion calls the program, which may abandon another operation of the list.
        if (!polled_alone_.has(*each)) continue;
        MPI_Request request = MPI_REQUEST_NULL;
        std::memcpy(static_cast<void*>(&request), each->mpi_status, sizeof request);
        int has_ended = 0;
        MPI_Status status{};
        const errors_come_back errors;
        const int code = errors.code_of(MPI_Test(&request, &has_ended, &status));
        has_made_progress_ = true;
        if (code == MPI_SUCCESS && has_ended == 0) continue;
        const std::size_t at = each->run.status_request_at;
        const started_part whose = parts_[at];
        remove(at);
        request_ended(whose, status, code, sink);
    }
}

/// Reports the operations that threads of windows have completed.
void mpi_transport::poll_threads(completion_sink& sink) noexcept {
    while (task* const ended = windows_->take_ended(*this)) {
        --n_elsewhere_;
        count_in_flight();
        sink.part_ended(*ended, 0);
    }
}

/// A probe for a message would not do: MPICH makes no further progress if it searches only in this
/// process, or finds a message.
void mpi_transport::make_progress() noexcept {
    const errors_come_back errors;
    if (never_ == MPI_REQUEST_NULL) {
        MPI_Grequest_start([](void* /*state*/, MPI_Status* /*status*/) { return MPI_SUCCESS; },
                           [](void* /*state*/) { return MPI_SUCCESS; },
                           [](void* /*state*/, int /*is_over*/) { return MPI_SUCCESS; }, nullptr, &never_);
    }
    int is_over = 0;
    if (never_ != MPI_REQUEST_NULL) MPI_Test(&never_, &is_over, MPI_STATUS_IGNORE);
}

void mpi_transport::remove(std::size_t index) noexcept {
    requests_[index] = requests_.back();
    parts_[index] = parts_.back();
    if (parts_[index].part == 0) parts_[index].of->run.status_request_at = static_cast<std::uint32_t>(index);
    requests_.pop_back();
    parts_.pop_back();
    count_in_flight();
}

/// Whether the request that gives the status of a started task is still in the table, at
/// `status_request_at`.
bool mpi_transport::has_status_request(const task& which) const noexcept {
    const std::size_t at = which.run.status_request_at;
    return at < parts_.size() && parts_[at].of == &which && parts_[at].part == 0;
}

void mpi_transport::withdraw(task& which) noexcept {
    start_gathered();
    if (unmatched_.has(which)) {
        which.result.is_canceled = true; // the next poll ends it
        return;
    }
    const operation_traits& kind = operation_of(which.op.kind);
    if (kind.has_sources) return withdraw_many(which);
    // Only operations that wait for a message are canceled: MPI gives no promise for sends, and
    // collectives cannot be canceled at all. The exception is a send of this rank to itself, which
    // may be only in a list of MPICH's own, and stay there for ever. An mprobe that is not in the
    // list has ended in this poll, and is about to be reported.
    if (!(kind.waits_for_message || is_to_itself(which.op)) || !has_status_request(which)) return;
    // Null: the request completed in the same test as the task whose callback withdraws this one,
    // and is about to be reported. Refused: the request is not active, and is about to be reported
    // too.
    const std::size_t at = which.run.status_request_at;
    if (requests_[at] != MPI_REQUEST_NULL && !parts_[at].is_refused) MPI_Cancel(&requests_[at]);
}

void mpi_transport::abandon(task& which) noexcept {
    start_gathered();
    if (n_elsewhere_ > 0 && windows_->forget(which)) {
        --n_elsewhere_;
        return count_in_flight();
    }
    const bool was_unmatched = unmatched_.take_first([&](const task& each) { return &each == &which; }) != nullptr;
    if (was_unmatched && is_probe(operation_of(which.op.kind))) --n_probes_;
    static_cast<void>(polled_alone_.take_first([&](const task& each) { return &each == &which; }));
    std::uint32_t n_left = which.run.open_parts;
    if (has_status_request(which)) {
        abandon_request(which.run.status_request_at);
        --n_left;
    }
    // The send of a sendrecv, and most messages of an operation of many: no task knows the index of
    // their requests.
    for (std::size_t i = parts_.size(); i > 0 && n_left > 0; --i) {
        if (parts_[i - 1].of != &which) continue;
        abandon_request(i - 1);
        --n_left;
    }
    count_in_flight();
    which.run.scratch = nullptr; // not freed: MPI may still read it
}

/// For an operation that receives: whether this request is a receive.
bool mpi_transport::is_receive(const started_part& of) noexcept {
    return operation_of(of.of->op.kind).has_dests ? (of.part & is_send_part) == 0 : of.part == 0;
}

void mpi_transport::abandon_request(std::size_t index) noexcept {
    const operation_traits& kind = operation_of(parts_[index].of->op.kind);
    MPI_Request& abandoned = requests_[index];
    const bool is_active = abandoned != MPI_REQUEST_NULL && !parts_[index].is_refused;
    if (kind.waits_for_message && is_receive(parts_[index]) && is_active) {
        // A canceled unmatched receive completes at once; MPI_Finalize would wait for a freed one.
        MPI_Cancel(&abandoned);
        int has_ended = 0;
        MPI_Test(&abandoned, &has_ended, MPI_STATUS_IGNORE);
    }
    // MPI does not allow to free the requests of one-sided operations.
    const bool can_be_freed = kind.ordered_in == order_class::messages && kind.family != operation_family::one_sided;
    if (abandoned != MPI_REQUEST_NULL && can_be_freed) MPI_Request_free(&abandoned);
    remove(index);
}

std::int64_t mpi_transport::given_bytes(const commtask_op& op) const noexcept {
    const errors_come_back errors; // of an invalid datatype: the start reports it
    return payload_bytes(op);
}

void mpi_transport::clean_up(task& which) noexcept {
    if (computes(which.op)) which.result.flags = reductions_in_flight::end(which.modes);
    std::free(std::exchange(which.run.scratch, nullptr));
}

} // namespace commtask::detail
