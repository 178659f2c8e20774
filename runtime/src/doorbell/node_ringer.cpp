// SPDX-License-Identifier: Apache-2.0
//
// A doorbell tells neither which operation has completed nor for which one the other rank waits. So
// the operation that this rank starts or completes determines the ranks to ring. If it does not
// tell its peers, all ranks of the node are rung, and may poll in vain.
#include "doorbell/node_ringer.hpp"

#include "core/comm_queue.hpp"

#include <mpi.h>

#include <utility>

namespace commtask::detail {
namespace {

/// Adds without a locked instruction, since one thread at a time writes the counter.
void add(std::atomic<std::uint32_t>& to, std::uint32_t by) noexcept {
    to.store(to.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

} // namespace

/// Whether other ranks' doorbells announce the operation: a message whose peers are on this node,
/// or a receive whose message another node announces. No rank knows the steps of a collective.
bool node_ringer::is_rung_for(const task& which) const noexcept {
    const commtask_op& op = which.op;
    const operation_traits& kind = operation_of(kind_of(op));
    const node_peers* const peers = which.queue->node.get();
    const bool is_plain = kind.is_message() && (kind.has_send_side || kind.has_recv_side) && !kind.takes_file &&
                          !kind.takes_window && !kind.takes_message;
    if (peers == nullptr || !is_plain) return false;
    const bool is_announced = announced_ && doorbells_.has_leader() && !doorbells_.am_leader() && !kind.has_send_side &&
                              below_.largest_message_bytes(op) > announced_bytes_;
    const auto is_rung = [&](int rank) {
        if (rank == MPI_PROC_NULL || (rank == MPI_ANY_SOURCE && (peers->are_all || is_announced))) return true;
        return peers->find(rank) != nullptr || (is_announced && peers->remote_rank_of(rank) >= 0);
    };
    if ((kind.has_dest && !is_rung(op.peer)) || (kind.has_source && !is_rung(op.source))) return false;
    for (int i = 0; kind.has_dests && i < op.peer; ++i) {
        if (!is_rung(op.dests[i])) return false;
    }
    for (int i = 0; kind.has_sources && i < op.source; ++i) {
        if (!is_rung(op.sources[i])) return false;
    }
    return true;
}

void node_ringer::count_in_flight(const task& which, std::uint32_t by) noexcept {
    add(which.run.is_rung_for ? n_rung_for_ : n_not_rung_, by);
}

void node_ringer::starting(const task& which) noexcept {
    const operation_traits& kind = operation_of(kind_of(which.op));
    const node_peers* const peers = which.queue->node.get();
    // For a call that the interposer has made a task, `peer` is a rank of the window, and the queue
    // is another communicator's.
    if (peers == nullptr || !kind.takes_window || !kind.has_target || (which.flags() & flag_is_call) != 0) return;
    // Rings before MPI's call, which may wait for the target.
    if (const node_peers::neighbor* const target = peers->find(which.op.peer))
        n_rung_ += doorbells_.ring_any(target->node_rank);
}

void node_ringer::started(task& which, bool is_gathered) noexcept {
    if (which.run.open_parts > 0) {
        which.run.is_rung_for = is_rung_for(which);
        count_in_flight(which, 1);
    }
    if (const node_peers* const peers = which.queue->node.get()) {
        visit_waiting_ranks(which.op, *peers, [&](std::size_t node_rank) {
            if (!is_gathered) {
                n_rung_ += doorbells_.ring(node_rank);
                return;
            }
            to_ring_[node_rank] = 1;
            has_to_ring_ = true;
        });
    }
    if (announced_) announce(which);
}

void node_ringer::started_gathered() noexcept {
    if (!has_to_ring_) return;
    has_to_ring_ = false;
    for (std::size_t node_rank = 0; node_rank < to_ring_.size(); ++node_rank) {
        if (std::exchange(to_ring_[node_rank], 0) != 0) n_rung_ += doorbells_.ring(node_rank);
    }
}

void node_ringer::ended(const task& which) noexcept {
    count_in_flight(which, static_cast<std::uint32_t>(-1));
    const node_peers* const peers = which.queue->node.get();
    if (peers == nullptr) return;
    commtask_op op = which.op;
    // The source of the received message.
    if (op.source == MPI_ANY_SOURCE && which.result.error == 0) op.source = which.result.source;
    visit_waiting_ranks(op, *peers, [&](std::size_t node_rank) { n_rung_ += doorbells_.ring(node_rank); });
}

void node_ringer::polled() noexcept {
    if (announced_) n_rung_ += announced_->poll();
}

void node_ringer::armed() noexcept {
    if (announced_ && doorbells_.has_leader()) static_cast<void>(doorbells_.ring_leader());
}

void node_ringer::announce(const task& started) noexcept {
    const node_peers* const peers = started.queue->node.get();
    if (peers == nullptr) return;
    below_.each_message(started.op, [&](const message_shape& each) {
        if (!each.is_received && each.bytes > announced_bytes_) announced_->add(peers->remote_rank_of(each.peer));
    });
}

void node_ringer::end() noexcept {
    // Not destroyed: MPI may still read from it.
    if (announced_ && !announced_->end()) static_cast<void>(announced_.release());
    announced_.reset();
}

} // namespace commtask::detail
