// SPDX-License-Identifier: Apache-2.0
//
// What a lane tells the other ranks of its node, and by notices those of other nodes, and what its worker shows them before it
// sleeps, or a poster while it does. Without bells nothing of this runs: a task that starts or ends pays for one look at a pointer.
#include "core/lane.hpp"
#include "core/lane_driving.hpp"
#include "core/node_news.hpp"

#include <algorithm>
#include <utility>

namespace commtask::detail {

/// MPI has it, or will have it with the others that the transport has gathered.
void lane::tell_of_start(task& started) noexcept {
    if (transport_->has_gathered()) {
        if (n_untold_ < untold_.size()) {
            untold_[n_untold_++] = &started;
            return;
        }
        transport_->start_gathered();
    }
    tell_of_gathered();
    static_cast<void>(ring_neighbors(started, moment::start));
    if (notices_) announce(started);
    show_of_poster(started);
}

void lane::tell_of_gathered() noexcept {
    for (std::size_t i = 0, n = std::exchange(n_untold_, 0); i < n; ++i) {
        static_cast<void>(ring_neighbors(*untold_[i], moment::start));
        if (notices_) announce(*untold_[i]);
        show_of_poster(*untold_[i]);
    }
    if (notices_ && !notices_->is_empty()) flush_notices();
}

/// @return how many workers it has woken
unsigned lane::ring_neighbors(const task& which, moment at) noexcept {
    const node_peers* const peers = which.queue->node.get();
    if (peers == nullptr) return 0;
    operation_news mine = news_awaited_by(which.op, *peers);
    if (at == moment::start && !is_told_at_start(mine)) return 0;
    // What it has received says whom it came from; before, that is nobody's rank.
    for (awaited_news& entry : mine.entries) {
        const bool is_from_any = entry.what == news::message && entry.peer == awaited_news::any;
        if (is_from_any && which.run.open_parts == 0 && which.result.error == 0) entry.peer = which.result.source;
    }
    const unsigned n_woken = ring_for(mine, *peers, *settings_.node);
    n_rung_ += n_woken;
    return n_woken;
}

void lane::ring_at_end(const task& ended) noexcept {
    static_cast<void>(ring_neighbors(ended, moment::end));
    if (notices_) count_announced(ended);
}

/// Before MPI has it, since its call may wait for an answer of the target's. A worker that is rung too early naps shortly first.
void lane::ring_target_of(const task& which) noexcept {
    if ((which.flags() & flag_is_call) != 0) return; // its rank is the window's, its queue another communicator's
    if (const node_peers* const peers = which.queue->node.get())
        n_rung_ += ring_target(which.op, *peers, *settings_.node);
}

/// An entry of a task that is in flight, for the lane's line.
lane::shown_news lane::show(const task& which) const noexcept {
    const node_peers* const peers = which.queue->node.get();
    operation_news its = peers == nullptr ? operation_news{} : news_awaited_by(which.op, *peers);
    const bool is_far = its.is_only_far && is_rung_by_watcher(which);
    for (const awaited_news& entry : its.all()) my_line().add(entry);
    return {is_far ? foreseen::all : its.how, is_far};
}

/// What is in flight, entry by entry in the lane's line.
lane::shown_news lane::show_awaited() noexcept {
    struct writer final : in_flight_visitor {
        const lane& mine;
        shown_news all{foreseen::all, false};
        explicit writer(const lane& its) noexcept : mine(its) {}
        void visit(const task& which) noexcept override {
            const shown_news its = mine.show(which);
            all = {std::min(all.how, its.how), all.is_far || its.is_far};
        }
        void visit_unseen() noexcept override { all.how = foreseen::nothing; }
    } shown{*this};
    is_line_whole_ = true;
    n_shows_beside_drivers_ = 0;
    my_line().begin();
    if (is_watcher_) my_line().add({0, news::sleeper}); // who is about to need it must find it, whatever else it awaits
    transport_->each_in_flight(shown);
    if (attends_windows()) {
        // Whatever else is in flight: it naps no longer than it would out of sight, since who accesses them otherwise rings nobody.
        my_line().add(any_access);
        shown.all.how = foreseen::ends;
    }
    if (has_put_away() || (shown.all.is_far && is_far_message_near())) shown.all.how = foreseen::nothing;
    return shown.all;
}

// A poster beside a worker that sleeps in sight -----------------------------------------------------------------------------

/// With the baton, before it issues anything. The watcher's line is its worker's alone, which sleeps without a bound.
void lane::begin_poster_shows() noexcept {
    is_left_to_nap_ = false;
    if (is_watcher_ || !wake_up.approx_is_in_sight()) return;
    const bool is_line_old = transport_->in_flight() == 0; // what it has is over
    // A thread has driven since the worker fell asleep, and hidden it. It may have started anything.
    const bool is_beside_driver = !my_line().is_asleep();
    if (is_beside_driver && !is_line_old) return;
    is_left_to_nap_ = is_beside_driver && ++n_shows_beside_drivers_ > tuning::shows_beside_drivers;
    if (is_left_to_nap_) return;
    poster_shows_ = true;
    poster_has_shown_all_ = true;
    if (!is_line_old) return;
    my_line().begin();
    if (attends_windows()) my_line().add(any_access);
}

/// Whether nothing stands still if nobody looks at it before the worker's nap is over, but for who waits for it, and then looks himself: a
/// small message of the node, at whose end nothing is called.
bool lane::needs_nobody(const task& started) const noexcept {
    const node_peers* const peers = started.queue->node.get();
    if (peers == nullptr || !ends_unheard(started)) return false;
    if (news_awaited_by(started.op, *peers).how != foreseen::all) return false;
    return transport_->largest_message_bytes(started.op) <= tuning::woken_for_bytes;
}

void lane::show_of_poster(const task& started) noexcept {
    if (started.run.open_parts == 0) return; // it has ended already
    is_line_whole_ = is_line_whole_ && poster_shows_;
    is_left_to_nap_ = is_left_to_nap_ && needs_nobody(started);
    if (!poster_shows_) return;
    const shown_news its = show(started);
    if (its.is_far) ask_watcher();
    poster_has_shown_all_ = poster_has_shown_all_ && its.how == foreseen::all;
}

/// With the baton, once it has issued everything. What a neighbour did before it could see the line is looked for here; what ends with a
/// callback is left to a driver, since that may be the program's.
/// @return whether the worker may sleep on
bool lane::end_poster_shows() noexcept {
    if (!std::exchange(poster_shows_, false)) return is_left_to_nap_ && !has_put_away();
    is_line_whole_ = is_line_whole_ && poster_has_shown_all_;
    if (transport_->in_flight() == 0) return !has_put_away();
    if (!poster_has_shown_all_) {
        if (!my_line().is_asleep()) release_watcher(); // as below; one that sleeps releases it itself
        return false;
    }
    if (!bell::show(word_in_sight())) {
        release_watcher(); // the worker is awake, and may have done so before it was asked
        return false;
    }
    const driving_scope driving{*this};
    begin_pass();
    leaves_ends_ = true;
    transport_->poll(*this);
    leaves_ends_ = false;
    end_pass();
    return !has_put_away() && !is_announced();
}

void lane::show_watcher() const noexcept {
    my_line().begin();
    my_line().add({0, news::sleeper});
}

/// Whether it receives what is announced if it is large. Small messages are not, so that a receive without room for a large one must
/// be looked after. The watcher itself is always awake for its own.
bool lane::is_rung_by_watcher(const task& which) const noexcept {
    return which.run.n_watched > 0 && settings_.node->has_watcher() && !settings_.node->am_watcher();
}

/// Before the worker sleeps in sight, and now and then while nothing moves: who has a message open with this rank, and sleeps, may
/// have something to do for it, if this rank has gone on with it since.
void lane::ring_for_what_is_open() noexcept {
    struct ringer final : in_flight_visitor {
        lane& mine;
        explicit ringer(lane& its) noexcept : mine(its) {}
        void visit(const task& which) noexcept override {
            if (operation_of(which.op.kind).ordered_in == order_class::messages)
                static_cast<void>(mine.ring_neighbors(which, moment::start));
        }
    } all{*this};
    transport_->each_in_flight(all);
}

/// One that was killed in its sleep would keep the watcher awake for ever.
void lane::look_after_sleepers() noexcept {
    const std::uint64_t now = now_ns();
    if (now - looked_after_sleepers_ns_ < tuning::look_for_ended_ns) return;
    looked_after_sleepers_ns_ = now;
    settings_.node->forget_ended();
}

/// A pass has ended nothing. What a message's other end must do next it may have done.
void lane::look_after_open_messages() noexcept {
    if (notices_ && !notices_->is_empty()) flush_notices();
    if (must_watch()) look_after_sleepers();
    const std::size_t n_open = transport_->in_flight();
    if (n_open == 0) return;
    const std::uint64_t now = now_ns();
    if (!pace_.may_ring(now)) return;
    pace_.rings(now, n_open);
    ring_for_what_is_open();
}

/// Large messages to other nodes, to the watchers there; and how many are awaited that may be announced.
void lane::announce(task& started) noexcept {
    const node_peers* const peers = started.queue->node.get();
    if (peers == nullptr) return;
    transport_->each_message(started.op, [&](const message_shape& each) {
        if (each.bytes <= settings_.announced->more_than_bytes) return;
        const std::int32_t far_rank = peers->far_rank_of(each.peer);
        if (each.is_received) {
            if (far_rank >= 0 || each.peer == MPI_ANY_SOURCE) ++started.run.n_watched;
        } else if (const far_place* const to = settings_.announced->find(far_rank)) {
            notices_->add(to->watcher, {to->place, 1, peers->context, peers->me, each.tag});
        }
    });
}

/// The mirror of announce(): what has been received, of another node and large, is no longer under way. What a door has started, or a
/// probe has found, is not counted: its status does not say that a message was received.
void lane::count_announced(const task& ended) noexcept {
    const node_peers* const peers = ended.queue->node.get();
    const operation_traits& kind = operation_of(kind_of(ended.op));
    const task_result& got = ended.result;
    if (peers == nullptr || !settings_.node->has_watcher() || got.error != 0 || got.is_canceled) return;
    const bool is_one = kind.receives && kind.has_recv_side && got.bytes > settings_.announced->more_than_bytes &&
                        peers->far_rank_of(got.source) >= 0;
    const std::uint32_t n_received = kind.has_sources ? ended.run.n_watched : is_one ? 1 : 0;
    settings_.node->announced_to_me().fetch_sub(static_cast<std::int32_t>(n_received), std::memory_order_relaxed);
}

void lane::flush_notices() noexcept {
    if (notice_carrier* const carrier = transport_->notices()) notices_->flush(*carrier);
}

} // namespace commtask::detail
