// SPDX-License-Identifier: Apache-2.0
//
// What MPI refuses is let go: a notice that is lost costs naps, and a watcher that cannot hear any more rings for nothing. Sends are
// small enough for MPI to take them at once, so that no rank waits for a watcher.
#include "mpi/notices.hpp"

#include "mpi/errors.hpp"

#include <algorithm>

namespace commtask::detail {

static_assert(sizeof(notice) == 20, "ranks send it as it is");

mpi_notices::mpi_notices(MPI_Comm comm, int tag, const node_bells* bells) noexcept
    : comm_(comm), tag_(tag), bells_(bells), sent_{}, received_{} {
    sending_.fill(MPI_REQUEST_NULL);
    receiving_.fill(MPI_REQUEST_NULL);
    for (std::size_t slot = 0; bells_ != nullptr && slot < receiving_.size(); ++slot) {
        if (!receive(slot)) bells_ = nullptr;
    }
}

bool mpi_notices::end() noexcept {
    const errors_come_back errors;
    for (MPI_Request& each : receiving_) {
        if (each == MPI_REQUEST_NULL) continue;
        MPI_Cancel(&each);
        MPI_Wait(&each, MPI_STATUS_IGNORE);
    }
    int are_sent = 0;
    MPI_Testall(static_cast<int>(sending_.size()), sending_.data(), &are_sent, MPI_STATUSES_IGNORE);
    return are_sent != 0;
}

bool mpi_notices::receive(std::size_t slot) noexcept {
    return MPI_Irecv(received_[slot].data(), static_cast<int>(sizeof(batch)), MPI_BYTE, MPI_ANY_SOURCE, tag_, comm_,
                     &receiving_[slot]) == MPI_SUCCESS;
}

bool mpi_notices::try_send(std::int32_t watcher, std::span<const notice> told) noexcept {
    const errors_come_back errors;
    for (std::size_t slot = 0; slot < sending_.size(); ++slot) {
        int has_ended = 1;
        if (sending_[slot] != MPI_REQUEST_NULL) MPI_Test(&sending_[slot], &has_ended, MPI_STATUS_IGNORE);
        if (has_ended == 0) continue;
        std::ranges::copy(told, sent_[slot].begin());
        static_cast<void>(MPI_Isend(sent_[slot].data(), static_cast<int>(told.size_bytes()), MPI_BYTE, watcher, tag_,
                                    comm_, &sending_[slot]));
        return true;
    }
    return false;
}

void mpi_notices::look() noexcept {
    if (bells_ == nullptr) return;
    const errors_come_back errors;
    // As long as something comes: a slot that is filled first is also the first to be found.
    for (;;) {
        int slot = MPI_UNDEFINED;
        int has_come = 0;
        MPI_Status status{};
        if (MPI_Testany(static_cast<int>(receiving_.size()), receiving_.data(), &slot, &has_come, &status) !=
                MPI_SUCCESS ||
            has_come == 0 || slot == MPI_UNDEFINED) {
            return;
        }
        int n_bytes = 0;
        MPI_Get_count(&status, MPI_BYTE, &n_bytes);
        const auto at = static_cast<std::size_t>(slot);
        const auto n = std::min(static_cast<std::size_t>(std::max(n_bytes, 0)) / sizeof(notice), received_[at].size());
        for (std::size_t i = 0; i < n; ++i) n_rung_ += ring_for_notice(received_[at][i], *bells_);
        if (!receive(at)) bells_ = nullptr;
    }
}

} // namespace commtask::detail
