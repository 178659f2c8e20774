// SPDX-License-Identifier: Apache-2.0
//
// Announcements of messages between nodes. A message from another node rings no doorbell here. So
// the sender announces a large message to the leader of the receiver's node, and the leader rings
// the receiver. The announcement is a small message on a communicator of the library. Without a
// free slot an announcement waits, at most one for each receiver. An announcement that MPI refuses
// is dropped: then its receiver polls later by itself.
#pragma once

#include "doorbell/doorbells.hpp"
#include "doorbell/node_ringer.hpp"

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

namespace commtask::detail {

/// Where to announce a message to a receiver. The ranks exchange this struct as it is.
struct remote_target {
    static constexpr std::int32_t nobody = -1;
    /// The leader's rank in MPI_COMM_WORLD; `nobody`: the receiver's node has no leader.
    std::int32_t leader = nobody;
    std::uint32_t node_rank = 0; ///< The receiver's place on its node.
};

class announcements final : public announcer {
public:
    /// @param tag  the tag of this commtask_init: announcements of an earlier one are not received
    /// @param world  indexed by rank in MPI_COMM_WORLD
    /// @param rings  the doorbells, for the leader's first lane, which receives announcements;
    /// null: this lane receives none
    announcements(MPI_Comm comm, int tag, const std::vector<remote_target>& world, const doorbells* rings);
    announcements(const announcements&) = delete;
    announcements& operator=(const announcements&) = delete;
    /// Withdraws the receives if end() was not called, since no lane has worked.
    ~announcements() override { static_cast<void>(end()); }

    void add(std::int32_t world_rank) noexcept override;
    unsigned poll() noexcept override;
    [[nodiscard]] bool has_unsent() const noexcept override { return n_unsent_ > 0; }
    [[nodiscard]] bool end() noexcept override;

private:
    void send() noexcept;
    [[nodiscard]] bool receive(std::size_t slot) noexcept;

    static constexpr std::size_t n_slots = 8;
    const MPI_Comm comm_;
    const int tag_;
    const std::vector<remote_target>& world_;
    const doorbells* rings_; ///< Also null after MPI has refused a receive.
    /// Indexed by rank in MPI_COMM_WORLD: whether an announcement to that rank is not sent yet.
    std::vector<std::uint8_t> unsent_;
    /// The ranks with an announcement that is not sent yet, in the order of the announcements.
    std::vector<std::int32_t> order_;
    std::size_t n_unsent_ = 0;
    std::array<MPI_Request, n_slots> sending_;
    std::array<MPI_Request, n_slots> receiving_;
    std::array<std::uint32_t, n_slots> sent_{};
    std::array<std::uint32_t, n_slots> received_{};
};

} // namespace commtask::detail
