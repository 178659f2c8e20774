// SPDX-License-Identifier: Apache-2.0
//
// Messages from other nodes ring no doorbell here. So a sender announces a large one to the leader of the receiver's node, by a small
// message on a communicator of the library's own, and the leader rings the receiver. Without a free slot an announcement waits, at most one for
// each receiver. An announcement that MPI refuses is dropped: its receiver looks later by itself.
#pragma once

#include "doorbell/doorbells.hpp"
#include "doorbell/node_ringer.hpp"

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

namespace commtask::detail {

/// Where the receiver of a message is announced to. As the ranks exchange it.
struct far_place {
    static constexpr std::int32_t nobody = -1;
    std::int32_t leader = nobody; ///< Rank in MPI_COMM_WORLD; nobody: its node has none.
    std::uint32_t place = 0;      ///< The receiver's on its node.
};

class announcements final : public announcer {
public:
    /// @param tag  of this commtask_init: announcements of an earlier one are not received
    /// @param world  by rank in MPI_COMM_WORLD
    /// @param rings  of the leader's first lane, which listens; null: this lane does not
    announcements(MPI_Comm comm, int tag, const std::vector<far_place>& world, const doorbells* rings);
    announcements(const announcements&) = delete;
    announcements& operator=(const announcements&) = delete;
    /// Withdraws the receives, if end() has not been called: no lane has worked.
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
    const std::vector<far_place>& world_;
    const doorbells* rings_;           ///< Null also after MPI has refused a receive.
    std::vector<std::uint8_t> unsent_; ///< By rank in MPI_COMM_WORLD, whether it has one.
    std::vector<std::int32_t> order_;  ///< The ranks that have one, first come first.
    std::size_t n_unsent_ = 0;
    std::array<MPI_Request, n_slots> sending_;
    std::array<MPI_Request, n_slots> receiving_;
    std::array<std::uint32_t, n_slots> sent_{};
    std::array<std::uint32_t, n_slots> received_{};
};

} // namespace commtask::detail
