// SPDX-License-Identifier: Apache-2.0
//
// Decides which doorbells a lane rings when an operation is started and when it completes: those of
// a message's peers, and of the target of a window access. No rank is armed for a collective, which
// consists of MPI's own messages.
#pragma once

#include "core/node_observer.hpp"
#include "core/operation_kind.hpp"
#include "core/operation_traits.hpp"
#include "core/transport.hpp"
#include "doorbell/doorbells.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <mpi.h>

namespace commtask::detail {

/// Announces messages to other nodes (announcements.hpp). Called by the progress thread of its
/// lane.
class announcer {
public:
    virtual ~announcer() = default;
    /// A message to this rank of MPI_COMM_WORLD was started.
    virtual void add(std::int32_t world_rank) noexcept = 0;
    /// Sends announcements that have a free slot, and rings doorbells for received ones.
    /// @return how many workers the call has woken
    virtual unsigned poll() noexcept = 0;
    [[nodiscard]] virtual bool has_unsent() const noexcept = 0;
    /// Called when no thread makes progress any more.
    /// @return false if MPI is still sending: the object must not be destroyed
    [[nodiscard]] virtual bool end() noexcept = 0;
};

class node_ringer final : public node_observer {
public:
    /// @param announced_bytes  larger messages to other nodes are announced
    /// @throws std::bad_alloc
    node_ringer(const doorbells& all, const transport& below, std::size_t lane, std::int64_t announced_bytes)
        : doorbells_(all), below_(below), lane_(lane), announced_bytes_(announced_bytes),
          to_ring_(all.world_ranks().size()) {}
    node_ringer(const node_ringer&) = delete;
    node_ringer& operator=(const node_ringer&) = delete;
    ~node_ringer() = default;

    /// Called before the lane makes progress.
    void announce_by(std::unique_ptr<announcer> told) noexcept { announced_ = std::move(told); }
    /// Called when no thread makes progress any more.
    void end() noexcept;

    void starting(const task& which) noexcept override;
    void started(task& which, bool is_gathered) noexcept override;
    void started_gathered() noexcept override;
    void ended(const task& which) noexcept override;
    void polled() noexcept override;
    [[nodiscard]] bool has_unsent() const noexcept override { return announced_ && announced_->has_unsent(); }
    [[nodiscard]] bool is_rung_for_all() const noexcept override {
        return n_not_rung_.load(std::memory_order_relaxed) == 0 && n_rung_for_.load(std::memory_order_relaxed) > 0;
    }
    void armed() noexcept override;
    [[nodiscard]] bool must_listen() const noexcept override {
        return lane_ == 0 && doorbells_.am_leader() && doorbells_.is_any_armed();
    }
    [[nodiscard]] std::uint64_t n_rung() const noexcept override { return n_rung_; }

private:
    [[nodiscard]] bool is_rung_for(const task& which) const noexcept;
    void announce(const task& started) noexcept;
    void count_in_flight(const task& which, std::uint32_t by) noexcept;

    const doorbells& doorbells_;
    const transport& below_;
    const std::size_t lane_;
    const std::int64_t announced_bytes_;
    std::unique_ptr<announcer> announced_; ///< Null: messages to other nodes are not announced.
    std::uint64_t n_rung_ = 0;
    /// Indexed by node_rank: whether to ring the rank once the gathered operations are started.
    std::vector<std::uint8_t> to_ring_;
    bool has_to_ring_ = false;
    // Operations in flight that doorbells announce, and all others; written by the progress thread.
    std::atomic<std::uint32_t> n_rung_for_{0};
    std::atomic<std::uint32_t> n_not_rung_{0};
};

/// Calls `visit(node_rank)` for each rank of the node that may wait, with its doorbell armed, for
/// an operation that was just started or completed.
template <typename Visit>
void visit_waiting_ranks(const commtask_op& op, const node_peers& peers, Visit&& visit) noexcept {
    const operation_traits& kind = operation_of(kind_of(op));
    const auto visit_rank = [&](int rank) {
        if (const node_peers::neighbor* const one = peers.find(rank)) visit(one->node_rank);
    };
    // Visits all ranks if the peer is unknown. The program may have freed a list of ranks by the
    // end. The source of a matched probe's message is unknown at the start. Operations inside a
    // function of the program are not known at all.
    const bool is_any = (kind.has_source && op.source == MPI_ANY_SOURCE) || kind.has_dests || kind.has_sources ||
                        kind.takes_message || kind.takes_start_function;
    if (is_any) {
        for (const node_peers::neighbor& each : peers.neighbors) visit(each.node_rank);
    } else if (kind.is_message()) {
        if (kind.has_dest) visit_rank(op.peer);
        if (kind.has_source) visit_rank(op.source);
    }
}

} // namespace commtask::detail
