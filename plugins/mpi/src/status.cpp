// SPDX-License-Identifier: Apache-2.0
//
// Statuses are copied from the memory where the transport stores MPI's statuses. A task that was
// canceled before its start has none: it gets the empty status, marked as canceled.
#include "status.hpp"

#include "api/context.hpp"
#include "core/operation_traits.hpp"
#include "files.hpp"
#include "mpi/one_sided.hpp"
#include "persistent.hpp"
#include "windows.hpp"

namespace commtask::interposer {

void write_status(const detail::task& ended, MPI_Status* status) noexcept {
    if (status == MPI_STATUS_IGNORE || status == nullptr) return; // null is an error in MPI, but must not crash here
    const int error_of_program = status->MPI_ERROR;
    const bool is_canceled = ended.life.state() == detail::task_state::canceled;
    const bool was_seen = ended.run.now == detail::phase::ended;
    const detail::operation_traits& kind = detail::operation_of(ended.op.kind);
    const auto* const kept = kind.takes_start_function ? static_cast<const persistent*>(ended.op.result) : nullptr;
#ifdef MPICH_VERSION
    if (kept != nullptr ? kept->is_send : kind.family == detail::operation_family::send) {
        // MPICH leaves the other fields as the program set them.
        MPI_Status_set_cancelled(status, is_canceled ? 1 : 0);
        return;
    }
#endif
    if (kept != nullptr && kept->ended_at_start) {
        *status = kept->status_at_start;
    } else if (was_seen) {
        std::memcpy(status, ended.mpi_status, sizeof *status);
    } else {
        *status = current.empty_status;
    }
    status->MPI_ERROR = error_of_program;
    if (is_canceled) MPI_Status_set_cancelled(status, 1);
}

error_owner owner_of(const detail::task& ended) noexcept {
    detail::context* const runtime = detail::context::running();
    error_owner owner;
    if (ended.queue == nullptr || runtime == nullptr) return owner;
    const detail::operation_traits& kind = detail::operation_of(ended.op.kind);
    const detail::comm_queue* const known = runtime->comms().find(ended.op.comm);
    const bool is_one_of_several =
        known != nullptr && known->striping() != nullptr && known->striping()->find(ended.queue->number) == ended.queue;
    if (kind.takes_start_function && static_cast<const persistent*>(ended.op.result)->is_orphan) {
        owner.of_freed = static_cast<const persistent*>(ended.op.result)->of_freed;
    } else if (known == ended.queue || is_one_of_several) {
        owner.comm = ended.op.comm;
    } else {
        owner.of_freed = handler_of_freed(ended.op.comm);
    }
    if (kind.takes_window && windows::is_known(detail::window_of(ended.op))) owner.window = detail::window_of(ended.op);
    if (kind.takes_file && files::is_known(detail::file_of(ended.op))) owner.file = detail::file_of(ended.op);
    return owner;
}

} // namespace commtask::interposer
