// SPDX-License-Identifier: Apache-2.0
//
// MPI sends an announcement eagerly, since it is small, so no rank waits for a leader. The number
// of announcements in flight is bounded by the slots. A burst of messages to one rank needs only
// one announcement.
#include "doorbell/announcements.hpp"

#include "mpi/errors.hpp"

namespace commtask::detail {

announcements::announcements(MPI_Comm comm, int tag, const std::vector<remote_target>& world, const doorbells* rings)
    : comm_(comm), tag_(tag), world_(world), rings_(rings), unsent_(world.size()), order_(world.size()) {
    sending_.fill(MPI_REQUEST_NULL);
    receiving_.fill(MPI_REQUEST_NULL);
    for (std::size_t slot = 0; rings_ != nullptr && slot < n_slots; ++slot) {
        if (!receive(slot)) rings_ = nullptr;
    }
}

bool announcements::end() noexcept {
    const errors_return errors;
    for (MPI_Request& each : receiving_) {
        if (each == MPI_REQUEST_NULL) continue;
        MPI_Cancel(&each);
        MPI_Wait(&each, MPI_STATUS_IGNORE);
    }
    int are_sent = 0;
    MPI_Testall(static_cast<int>(n_slots), sending_.data(), &are_sent, MPI_STATUSES_IGNORE);
    return are_sent != 0;
}

bool announcements::receive(std::size_t slot) noexcept {
    return MPI_Irecv(&received_[slot], 1, MPI_UINT32_T, MPI_ANY_SOURCE, tag_, comm_, &receiving_[slot]) == MPI_SUCCESS;
}

void announcements::add(std::int32_t world_rank) noexcept {
    const auto rank = static_cast<std::size_t>(world_rank);
    if (world_rank < 0 || rank >= world_.size() || world_[rank].leader == remote_target::nobody || unsent_[rank] != 0)
        return;
    unsent_[rank] = 1;
    order_[n_unsent_++] = world_rank;
}

/// Starts as many announcements as there are free slots.
void announcements::send() noexcept {
    std::size_t n_started = 0;
    for (std::size_t slot = 0; slot < n_slots && n_started < n_unsent_; ++slot) {
        int has_ended = 1;
        if (sending_[slot] != MPI_REQUEST_NULL) MPI_Test(&sending_[slot], &has_ended, MPI_STATUS_IGNORE);
        if (has_ended == 0) continue;
        const auto rank = static_cast<std::size_t>(order_[n_started++]);
        unsent_[rank] = 0;
        sent_[slot] = world_[rank].node_rank;
        MPI_Isend(&sent_[slot], 1, MPI_UINT32_T, world_[rank].leader, tag_, comm_, &sending_[slot]);
    }
    for (std::size_t i = n_started; i < n_unsent_; ++i) order_[i - n_started] = order_[i];
    n_unsent_ -= n_started;
}

unsigned announcements::poll() noexcept {
    if (n_unsent_ == 0 && rings_ == nullptr) return 0;
    const errors_return errors;
    send();
    unsigned n_rung = 0;
    while (rings_ != nullptr) {
        int slot = MPI_UNDEFINED;
        int has_come = 0;
        const int code = MPI_Testany(static_cast<int>(n_slots), receiving_.data(), &slot, &has_come, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS || has_come == 0 || slot == MPI_UNDEFINED) break;
        const auto at = static_cast<std::size_t>(slot);
        if (received_[at] < rings_->world_ranks().size()) n_rung += rings_->ring(received_[at]);
        if (!receive(at)) rings_ = nullptr;
    }
    return n_rung;
}

} // namespace commtask::detail
