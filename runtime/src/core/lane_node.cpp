// SPDX-License-Identifier: Apache-2.0
//
// What a lane tells the other ranks of its node, and what its worker shows them before it sleeps. Without bells nothing of this
// runs: a task that starts or ends pays for one look at a pointer.
#include "core/lane.hpp"
#include "core/node_news.hpp"

#include <utility>

namespace commtask::detail {

/// MPI has it, or will have it with the others that the transport has gathered.
void lane::tell_of_start(const task& started) noexcept {
    if (transport_->has_gathered()) {
        if (n_untold_ < untold_.size()) {
            untold_[n_untold_++] = &started;
            return;
        }
        transport_->start_gathered();
    }
    tell_of_gathered();
    ring_neighbors(started);
}

void lane::tell_of_gathered() noexcept {
    for (std::size_t i = 0, n = std::exchange(n_untold_, 0); i < n; ++i) ring_neighbors(*untold_[i]);
}

void lane::ring_neighbors(const task& which) noexcept {
    const node_peers* const peers = which.queue->node.get();
    if (peers == nullptr) return;
    operation_news mine = news_awaited_by(which.op, *peers);
    // What it has received says whom it came from; before, that is nobody's rank.
    for (awaited_news& entry : mine.entries) {
        const bool is_from_any = entry.what == news::message && entry.peer == awaited_news::any;
        if (is_from_any && which.run.open_parts == 0 && which.result.error == 0) entry.peer = which.result.source;
    }
    n_rung_ += ring_for(mine, *peers, *settings_.node);
}

/// What is in flight, entry by entry in the lane's line.
foreseen lane::show_awaited() noexcept {
    struct writer final : in_flight_visitor {
        node_line line;
        foreseen how = foreseen::all;
        explicit writer(node_line its) noexcept : line(its) {}
        void visit(const task& which) noexcept override {
            const node_peers* const peers = which.queue->node.get();
            const operation_news its = peers == nullptr ? operation_news{} : news_awaited_by(which.op, *peers);
            how = std::min(how, its.how);
            for (const awaited_news& entry : its.all()) line.add(entry);
        }
        void visit_unseen() noexcept override { how = foreseen::nothing; }
    } shown{settings_.node->my_line(settings_.number)};
    shown.line.begin();
    transport_->each_in_flight(shown);
    return has_put_away() ? foreseen::nothing : shown.how;
}

/// Before the worker sleeps in sight: who has a message open with this rank, and sleeps, may have something to do for it, if this
/// rank has gone on with it since.
void lane::ring_for_what_is_open() noexcept {
    struct ringer final : in_flight_visitor {
        lane& mine;
        explicit ringer(lane& its) noexcept : mine(its) {}
        void visit(const task& which) noexcept override {
            if (operation_of(which.op.kind).ordered_in == order_class::messages) mine.ring_neighbors(which);
        }
    } all{*this};
    transport_->each_in_flight(all);
}

} // namespace commtask::detail
