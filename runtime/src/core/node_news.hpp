// SPDX-License-Identifier: Apache-2.0
//
// Which operations the ranks of a node tell each other of, as a pure function: what one in flight awaits of its neighbours is the
// mirror of what they are told when it begins and when it ends.
#pragma once

#include "core/handed_over.hpp"
#include "core/nap_plan.hpp"
#include "core/node_bell.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace commtask::detail {

/// What an operation awaits. One of which nobody here knows what it starts rings for all: then nobody rings for it.
struct operation_news {
    std::array<awaited_news, 2> entries{}; ///< A sendrecv has two.
    std::size_t n = 0;
    foreseen how = foreseen::nothing; ///< What the neighbours ring for.
    bool is_only_far = false;         ///< They would ring for each step, but for messages that come from other nodes.

    [[nodiscard]] std::span<const awaited_news> all() const noexcept { return {entries.data(), n}; }
};

namespace node_news {

inline void add(operation_news& to, const node_peers& peers, news what, int peer, int tag) noexcept {
    if (peer == MPI_PROC_NULL) return;
    const bool is_any = peer == MPI_ANY_SOURCE && what == news::message;
    const bool is_near = is_any ? peers.are_all : peers.find(peer) != nullptr;
    // Nobody announces a message of this process to itself, or one of a process outside MPI_COMM_WORLD.
    const bool is_announced =
        what == news::message && (is_any ? peers.is_each_far_known : peers.far_rank_of(peer) >= 0);
    if (!is_near) to.is_only_far = is_announced && (to.how == foreseen::all || to.is_only_far);
    to.entries[to.n++] = {peers.context, what, is_any ? awaited_news::any : peer,
                          tag == MPI_ANY_TAG ? awaited_news::any : tag};
    to.how = is_near ? to.how : foreseen::nothing;
}

} // namespace node_news

/// `peers`: of its communicator.
[[nodiscard]] inline operation_news news_awaited_by(const commtask_op& op, const node_peers& peers) noexcept {
    const operation_traits& kind = operation_of(kind_of(op));
    operation_news made;
    const bool has_buffers = kind.has_send_side || kind.has_recv_side;
    if (kind.ordered_in == order_class::collectives) {
        if (kind.takes_file || kind.takes_window || kind.makes_comm || peers.neighbors.empty()) return made;
        made.entries[made.n++] = {peers.context, news::turn, awaited_news::any, awaited_news::any};
        made.how = peers.are_all ? foreseen::ends : foreseen::nothing;
    } else if (kind.takes_start_function && !peers.neighbors.empty()) {
        for (const news what : {news::message, news::receipt}) {
            made.entries[made.n++] = {peers.context, what, awaited_news::any, awaited_news::any};
        }
    } else if (has_buffers && (kind.has_dest || kind.has_source) && !kind.takes_file && !kind.takes_window) {
        made.how = foreseen::all;
        if (kind.has_source) node_news::add(made, peers, news::message, op.source, op.recv_tag);
        if (kind.has_dest) node_news::add(made, peers, news::receipt, op.peer, op.send_tag);
    }
    return made;
}

/// Whether its start is told, and not its end alone: the start of a collective wakes who then finds nothing.
[[nodiscard]] inline bool is_told_at_start(const operation_news& its) noexcept {
    return its.n == 0 || its.entries[0].what != news::turn;
}

/// What the neighbour at the other end of such an operation awaits. `me`: this process's rank in the communicator.
[[nodiscard]] constexpr awaited_news mirrored(awaited_news entry, std::int32_t me) noexcept {
    if (entry.what != news::turn) entry.what = entry.what == news::message ? news::receipt : news::message;
    entry.peer = me;
    return entry;
}

/// What a worker that attends windows awaits: an access of whichever of them.
inline constexpr awaited_news any_access{0, news::access};

/// Rings the target of an operation on a window: MPI must be called there, too. @return how many workers it has woken
inline unsigned ring_target(const commtask_op& op, const node_peers& peers, const node_bells& bells) noexcept {
    const operation_traits& kind = operation_of(kind_of(op));
    const node_peers::neighbor* const target = kind.takes_window && kind.has_target ? peers.find(op.peer) : nullptr;
    return target == nullptr ? 0 : bells.ring(target->place, any_access);
}

/// Rings those of the neighbours that may wait for it. After MPI has it. @return how many workers it has woken
inline unsigned ring_for(const operation_news& happened, const node_peers& peers, const node_bells& bells) noexcept {
    if (happened.n == 0) return 0;
    // Partner of the fence in bell::sleep_in_sight(): who sleeps is seen here, or it sees the message.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    unsigned n_woken = 0;
    for (const awaited_news& entry : happened.all()) {
        const awaited_news told = mirrored(entry, peers.me);
        if (entry.peer == awaited_news::any) {
            for (const node_peers::neighbor& each : peers.neighbors) n_woken += bells.ring(each.place, told);
        } else if (const node_peers::neighbor* const one = peers.find(entry.peer)) {
            n_woken += bells.ring(one->place, told);
        }
    }
    return n_woken;
}

} // namespace commtask::detail
