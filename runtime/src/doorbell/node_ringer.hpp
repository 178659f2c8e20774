// SPDX-License-Identifier: Apache-2.0
//
// Whose doorbells a lane rings, when an operation of its starts and when it has ended: the ranks at the other ends of a message, the
// target of an access to a window, and for a collective, at its end, all ranks of the node in its communicator.
#pragma once

#include "core/node_observer.hpp"
#include "core/transport.hpp"
#include "doorbell/doorbells.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace commtask::detail {

/// Announces messages to other nodes: announcements.hpp. The progress thread of its lane calls it.
class announcer {
public:
    virtual ~announcer() = default;
    /// A message to this rank of MPI_COMM_WORLD has started.
    virtual void add(std::int32_t world_rank) noexcept = 0;
    /// Sends what MPI takes now, and rings for what has come. @return how many workers it has woken
    virtual unsigned poll() noexcept = 0;
    [[nodiscard]] virtual bool has_unsent() const noexcept = 0;
    /// Once nobody makes progress. @return false if MPI has not sent everything: then it must stay where it is
    [[nodiscard]] virtual bool end() noexcept = 0;
};

class node_ringer final : public node_observer {
public:
    /// @param announced_bytes  messages of more than these to other nodes are announced
    node_ringer(const doorbells& bells, const transport& below, std::size_t lane, std::int64_t announced_bytes) noexcept
        : bells_(bells), below_(below), lane_(lane), announced_bytes_(announced_bytes) {}
    node_ringer(const node_ringer&) = delete;
    node_ringer& operator=(const node_ringer&) = delete;
    ~node_ringer() = default;

    /// Before the lane works.
    void announce_by(std::unique_ptr<announcer> told) noexcept { announced_ = std::move(told); }
    /// Once nobody makes progress.
    void end() noexcept;

    void starting(const task& which) noexcept override;
    void started(task& which) noexcept override;
    void ended(const task& which) noexcept override;
    void polled() noexcept override;
    [[nodiscard]] bool has_unsent() const noexcept override { return announced_ && announced_->has_unsent(); }
    [[nodiscard]] bool is_rung_for_all() const noexcept override { return n_not_rung_ == 0; }
    void arming() noexcept override;
    [[nodiscard]] bool must_listen() const noexcept override {
        return lane_ == 0 && bells_.am_leader() && bells_.is_any_armed();
    }
    [[nodiscard]] std::uint64_t n_rung() const noexcept override { return n_rung_; }

private:
    [[nodiscard]] bool is_rung_for(const task& which) const noexcept;
    void announce(const task& started) noexcept;

    const doorbells& bells_;
    const transport& below_;
    const std::size_t lane_;
    const std::int64_t announced_bytes_;
    std::unique_ptr<announcer> announced_; ///< Null: messages to other nodes are not announced.
    std::uint64_t n_rung_ = 0;
    std::atomic<std::uint32_t> n_not_rung_{
        0}; ///< In flight, and no rank rings for them. Written by the progress thread.
};

/// Rings the ranks of the node that may wait for an operation which MPI has just been given, or has ended.
/// @return how many workers it has woken
unsigned ring_for(const commtask_op& op, bool has_ended, const node_peers& peers, const doorbells& bells) noexcept;

} // namespace commtask::detail
