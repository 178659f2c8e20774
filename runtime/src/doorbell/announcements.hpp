// SPDX-License-Identifier: Apache-2.0
//
// Announcements of messages between nodes. A message from another node rings no doorbell. So the
// sender announces a large message to the leader of the receiver's node, which rings the receiver's
// doorbell. An announcement is a small message on a communicator of the library. Without a free
// slot it waits, at most one for each receiver. If MPI refuses one, it is dropped, and the receiver
// polls later by itself.
#pragma once

#include "doorbell/doorbells.hpp"
#include "doorbell/node_ringer.hpp"

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

namespace commtask::detail {

/// Where to announce messages to a receiver. The ranks exchange this struct as bytes.
struct remote_target {
    static constexpr std::int32_t nobody = -1;
    /// The leader's rank in MPI_COMM_WORLD; `nobody`: the receiver's node has no leader.
    std::int32_t leader = nobody;
    std::uint32_t node_rank = 0; ///< The receiver's rank among the ranks of its node.
};

class announcements final : public announcer {
public:
    /// @param tag  differs for each commtask_init, so that announcements for an earlier one are
    /// ignored
    /// @param world  indexed by rank in MPI_COMM_WORLD
    /// @param rings  the doorbells, if this lane receives announcements (the leader's first lane);
    /// otherwise null
    announcements(MPI_Comm comm, int tag, const std::vector<remote_target>& world, const doorbells* rings);
    announcements(const announcements&) = delete;
    announcements& operator=(const announcements&) = delete;
    /// Cancels the receives if end() was not called, because the lane never made progress.
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
    /// Indexed by rank in MPI_COMM_WORLD: whether an announcement to that rank waits to be sent.
    std::vector<std::uint8_t> unsent_;
    /// The ranks of `unsent_`, in the order of the announcements.
    std::vector<std::int32_t> order_;
    std::size_t n_unsent_ = 0;
    std::array<MPI_Request, n_slots> sending_;
    std::array<MPI_Request, n_slots> receiving_;
    std::array<std::uint32_t, n_slots> sent_{};
    std::array<std::uint32_t, n_slots> received_{};
};

} // namespace commtask::detail
