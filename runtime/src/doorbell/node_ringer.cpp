// SPDX-License-Identifier: Apache-2.0
//
// A ring tells neither what has happened nor to whom it matters, so it is decided by the operation alone. Where that cannot be known,
// as in a function of the program's, all ranks of the node are rung: they poll once for nothing.
#include "doorbell/node_ringer.hpp"

#include "core/comm_queue.hpp"
#include "core/handed_over.hpp"
#include "core/operation_traits.hpp"

#include <mpi.h>

namespace commtask::detail {
namespace {

/// Whether it is a message, or several, whose other ends are known.
[[nodiscard]] bool is_plain_message(const operation_traits& kind) noexcept {
    return kind.is_message() && (kind.has_send_side || kind.has_recv_side) && !kind.takes_file && !kind.takes_window;
}

/// Calls `visit(rank)` for the other end of each message; MPI_ANY_SOURCE among them.
template <typename Visit>
void visit_peers(const commtask_op& op, const operation_traits& kind, Visit&& visit) noexcept {
    if (kind.has_dest) visit(op.peer);
    if (kind.has_source) visit(op.source);
    for (int i = 0; kind.has_dests && i < op.peer; ++i) visit(op.dests[i]);
    for (int i = 0; kind.has_sources && i < op.source; ++i) visit(op.sources[i]);
}

} // namespace

unsigned ring_for(const commtask_op& op, bool has_ended, const node_peers& peers, const doorbells& bells) noexcept {
    const operation_traits& kind = operation_of(kind_of(op));
    unsigned n_woken = 0;
    const auto ring_all = [&] {
        for (const node_peers::neighbor& each : peers.neighbors) n_woken += bells.ring(each.place);
    };
    if (is_plain_message(kind)) {
        visit_peers(op, kind, [&](int rank) {
            if (rank == MPI_ANY_SOURCE) return ring_all();
            if (const node_peers::neighbor* const one = peers.find(rank)) n_woken += bells.ring(one->place);
        });
    } else if (kind.takes_start_function || (has_ended && kind.ordered_in == order_class::collectives)) {
        ring_all(); // the start of a collective would wake ranks that find nothing yet
    }
    return n_woken;
}

/// A message whose other ends are on this node, or that is announced. Of a collective nobody tells the steps.
bool node_ringer::is_rung_for(const task& which) const noexcept {
    const operation_traits& kind = operation_of(kind_of(which.op));
    const node_peers* const peers = which.queue->node.get();
    if (peers == nullptr || !is_plain_message(kind)) return false;
    bool is_rung = true;
    visit_peers(which.op, kind, [&](int rank) {
        const bool is_near = rank == MPI_ANY_SOURCE ? peers->are_all : peers->find(rank) != nullptr;
        is_rung = is_rung && (rank == MPI_PROC_NULL || is_near);
    });
    if (is_rung || !announced_ || !kind.has_recv_side || kind.has_send_side) return is_rung;
    return below_.largest_message_bytes(which.op) > announced_bytes_;
}

void node_ringer::starting(const task& which) noexcept {
    const operation_traits& kind = operation_of(kind_of(which.op));
    const node_peers* const peers = which.queue->node.get();
    if (peers == nullptr || !kind.takes_window || !kind.has_target) return;
    // Before MPI's call, which may wait for an answer of the target's.
    if (const node_peers::neighbor* const target = peers->find(which.op.peer))
        n_rung_ += bells_.ring_any(target->place);
}

void node_ringer::started(task& which) noexcept {
    if (which.run.open_parts > 0) {
        which.run.is_rung_for = is_rung_for(which);
        // Written by one thread at a time: no locked instruction.
        if (!which.run.is_rung_for)
            n_not_rung_.store(n_not_rung_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    if (const node_peers* const peers = which.queue->node.get()) n_rung_ += ring_for(which.op, false, *peers, bells_);
    if (announced_) announce(which);
}

void node_ringer::ended(const task& which) noexcept {
    if (!which.run.is_rung_for)
        n_not_rung_.store(n_not_rung_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    const node_peers* const peers = which.queue->node.get();
    if (peers == nullptr) return;
    commtask_op op = which.op;
    if (op.source == MPI_ANY_SOURCE && which.result.error == 0) op.source = which.result.source; // whom it came from
    n_rung_ += ring_for(op, true, *peers, bells_);
}

void node_ringer::polled() noexcept {
    if (announced_) n_rung_ += announced_->poll();
}

void node_ringer::arming() noexcept {
    if (announced_ && bells_.has_leader()) static_cast<void>(bells_.ring_leader());
}

void node_ringer::announce(const task& started) noexcept {
    const node_peers* const peers = started.queue->node.get();
    if (peers == nullptr) return;
    below_.each_message(started.op, [&](const message_shape& each) {
        if (!each.is_received && each.bytes > announced_bytes_) announced_->add(peers->far_rank_of(each.peer));
    });
}

void node_ringer::end() noexcept {
    if (announced_ && !announced_->end()) static_cast<void>(announced_.release()); // MPI may still read it
    announced_.reset();
}

} // namespace commtask::detail
