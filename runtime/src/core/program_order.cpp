// SPDX-License-Identifier: Apache-2.0
//
// A hash table has all channels without wildcards. A second list has all receives, in which a
// wildcard finds the receives that overlap it. A lock protects the lists; a submitter and the lane
// take it for a few list operations. A program without wildcards never searches the second list.
#include "core/program_order.hpp"

#include "core/operation_traits.hpp"

#include <mpi.h>

#include <new>
#include <utility>

namespace commtask::detail {
namespace {

[[nodiscard]] bool is_wildcard(const channel& at) noexcept {
    return at.kind == channel_kind::receive && (at.peer == MPI_ANY_SOURCE || at.tag == MPI_ANY_TAG);
}

/// Whether two receives can match the same message.
[[nodiscard]] bool overlap(const channel& one, const channel& other) noexcept {
    const auto meet = [](int left, int right, int any) { return left == right || left == any || right == any; };
    return meet(one.peer, other.peer, MPI_ANY_SOURCE) && meet(one.tag, other.tag, MPI_ANY_TAG);
}

/// Calls `visit(channel)` for each channel of an operation.
template <typename Visit>
void visit_channels(const commtask_op& op, std::uint32_t flags, Visit&& visit) noexcept {
    const operation_traits& kind = operation_of(op.kind);
    if (kind.ordered_in == order_class::collectives) return visit(channel{channel_kind::collective, 0, 0});
    if ((flags & COMMTASK_ORDERED) != 0) visit(channel{channel_kind::ordered, 0, 0});
    // Partitions are sent when they are filled, and use tags of their own.
    if (!kind.is_message() || kind.has_partitions) return;
    const auto add = [&](channel_kind which, int peer, int tag) {
        if (peer != MPI_PROC_NULL) visit(channel{which, peer, tag});
    };
    if (kind.has_dest) add(channel_kind::send, op.peer, op.send_tag);
    if (kind.has_source) add(channel_kind::receive, op.source, op.recv_tag);
    for (int i = 0; kind.has_dests && i < op.peer; ++i) add(channel_kind::send, op.dests[i], op.send_tag);
    for (int i = 0; kind.has_sources && i < op.source; ++i) add(channel_kind::receive, op.sources[i], op.send_tag);
}

} // namespace

bool turn::set(const commtask_op& op, std::uint32_t flags, const source_location& where) noexcept {
    std::uint32_t count = 0;
    visit_channels(op, flags, [&](const channel& /*at*/) { ++count; });
    if (count > few_.size() && count > n_many_) {
        many_.reset(new (std::nothrow) link[count]);
        n_many_ = many_ ? count : 0;
        n_links_ = 0;
        if (!many_) return false;
    }
    n_links_ = count;
    link* next = links();
    visit_channels(op, flags, [&](const channel& at) {
        next->at = at;
        next->of = this;
        next->is_listed = false;
        ++next;
    });
    kind_ = op.kind;
    where_ = where;
    return true;
}

turn* program_order::make(const commtask_op& op, std::uint32_t flags, const source_location& where) noexcept {
    const std::lock_guard guard{mutex_};
    return make_locked(op, flags, where);
}

turn* program_order::make_locked(const commtask_op& op, std::uint32_t flags, const source_location& where) noexcept {
    turn* made = free_;
    if (made != nullptr) {
        free_ = made->next_;
        // The lane's core has written these lines last; the prefetch hides the transfer from the
        // next call.
        if (free_ != nullptr) {
            prefetch_for_write(free_);
            prefetch_for_write(free_->few_.data());
        }
    } else {
        try {
            own_.push_back(std::make_unique<turn>());
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
        made = own_.back().get();
        made->index_ = static_cast<std::uint32_t>(own_.size());
    }
    if (made->set(op, flags, where)) return made;
    unmake_locked(*made);
    return nullptr;
}

void program_order::unmake_locked(turn& unused) noexcept {
    unused.next_ = free_;
    free_ = &unused;
}

void program_order::unmake(turn& unused) noexcept {
    const std::lock_guard guard{mutex_};
    unmake_locked(unused);
}

void program_order::take(turn& next) noexcept {
    const std::lock_guard guard{mutex_};
    take_locked(next);
}

void program_order::take_locked(turn& next) noexcept {
    COMMTASK_ASSERT(!next.is_open_);
    next.number_ = ++n_taken_;
    next.n_before_ = 0;
    next.waiting_ = nullptr;
    next.is_open_ = true;
    for (std::uint32_t i = 0; i < next.n_links_; ++i) insert(next.links()[i]);
    // relaxed: see has_open().
    n_open_.store(n_open_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

program_order::ticket program_order::make_and_keep(const commtask_op& op, std::uint32_t flags,
                                                   const source_location& where) noexcept {
    const std::lock_guard guard{mutex_};
    turn* const made = make_locked(op, flags, where);
    if (made == nullptr) return {false, 0};
    if (!made->has_channels()) {
        unmake_locked(*made);
        return {};
    }
    take_locked(*made);
    made->is_kept_ = true;
    return {true, (std::uint64_t{++made->times_used_} << 32U) | made->index_};
}

turn* program_order::use(std::uint64_t ticket) noexcept {
    const std::lock_guard guard{mutex_};
    const auto index = static_cast<std::uint32_t>(ticket);
    if (index == 0 || index > own_.size()) return nullptr;
    turn& its = *own_[index - 1];
    if (!its.is_kept_ || its.times_used_ != ticket >> 32U) return nullptr;
    its.is_kept_ = false;
    return &its;
}

void program_order::take_back_use(turn& unused) noexcept {
    const std::lock_guard guard{mutex_};
    unused.is_kept_ = true;
}

program_order::list& program_order::bucket_of(const channel& at) noexcept {
    if (buckets_.empty()) return few_buckets_;
    std::uint64_t hash =
        (std::uint64_t{static_cast<std::uint32_t>(at.peer)} << 32U) | static_cast<std::uint32_t>(at.tag);
    hash = (hash ^ static_cast<std::uint64_t>(at.kind)) * 0x9E3779B97F4A7C15U; // Fibonacci hashing
    return buckets_[(hash >> 32U) & (buckets_.size() - 1)];
}

/// Doubles the number of buckets, or allocates the first ones. Without memory, the lists grow
/// instead.
void program_order::grow() noexcept {
    std::vector<list> before;
    try {
        before.resize(buckets_.empty() ? first_buckets : 2 * buckets_.size());
    } catch (const std::bad_alloc&) {
        return;
    }
    before.swap(buckets_);
    const auto move_all = [this](list& from) {
        for (link* each = from.first; each != nullptr;) {
            link* const next = each->after;
            list& to = bucket_of(each->at);
            each->before = to.last;
            each->after = nullptr;
            (to.first == nullptr ? to.first : to.last->after) = each;
            to.last = each;
            each = next;
        }
    };
    // Channels in one new bucket were in one old bucket before, so their order does not change.
    for (list& from : before) move_all(from);
    move_all(few_buckets_);
    few_buckets_ = {};
}

program_order::link* program_order::same_channel_before(const link& of) noexcept {
    link* each = of.before;
    while (each != nullptr && each->at != of.at) each = each->before;
    return each;
}

program_order::link* program_order::same_channel_after(const link& of) noexcept {
    link* each = of.after;
    while (each != nullptr && each->at != of.at) each = each->after;
    return each;
}

/// Adds a channel, and counts the turns that its turn waits for. A channel without wildcards waits
/// for the last equal channel, if any, and for each overlapping wildcard. A wildcard waits for each
/// overlapping receive.
void program_order::insert(link& added) noexcept {
    turn& its = *added.of;
    const bool is_wild = is_wildcard(added.at);
    const bool is_receive = added.at.kind == channel_kind::receive;
    if (!is_wild && n_linked_ >= 2 * buckets_.size()) grow();
    list& into = is_wild ? wildcards_ : bucket_of(added.at);
    added.before = into.last;
    added.after = nullptr;
    if (!is_wild) {
        const link* const first = same_channel_before(added);
        // The operation names a rank twice: the first channel stands for both.
        if (first != nullptr && first->of == &its) return;
        if (first != nullptr) ++its.n_before_;
    }
    if (is_receive) {
        const link* each = is_wild ? receives_.first : wildcards_.first;
        for (; each != nullptr; each = is_wild ? each->later : each->after) {
            if (each->of != &its && overlap(each->at, added.at)) ++its.n_before_;
        }
        added.earlier = receives_.last;
        added.later = nullptr;
        (receives_.first == nullptr ? receives_.first : receives_.last->later) = &added;
        receives_.last = &added;
    }
    (into.first == nullptr ? into.first : into.last->after) = &added;
    into.last = &added;
    added.is_listed = true;
    if (!is_wild) ++n_linked_;
}

/// Counts down the turns that `later` waits for.
void program_order::count_down(turn& later, turn*& startable) noexcept {
    COMMTASK_ASSERT(later.n_before_ > 0);
    if (--later.n_before_ > 0 || later.waiting_ == nullptr) return;
    // Appends to the startable turns. A fixed order is not necessary, but keeps tests
    // deterministic.
    later.next_ = nullptr;
    turn** at = &startable;
    while (*at != nullptr) at = &(*at)->next_;
    *at = &later;
}

/// Removes a channel, and counts down the turns that waited for it; see insert().
void program_order::remove(link& gone, turn*& startable) noexcept {
    const bool is_wild = is_wildcard(gone.at);
    const bool is_receive = gone.at.kind == channel_kind::receive;
    list& from = is_wild ? wildcards_ : bucket_of(gone.at);
    link* const next_same = is_wild || same_channel_before(gone) != nullptr ? nullptr : same_channel_after(gone);
    (gone.before == nullptr ? from.first : gone.before->after) = gone.after;
    (gone.after == nullptr ? from.last : gone.after->before) = gone.before;
    gone.is_listed = false;
    if (!is_wild) --n_linked_;
    if (is_receive) {
        link* const behind = gone.later;
        (gone.earlier == nullptr ? receives_.first : gone.earlier->later) = gone.later;
        (gone.later == nullptr ? receives_.last : gone.later->earlier) = gone.earlier;
        // A later receive has counted an earlier wildcard, and a later wildcard has counted an
        // earlier receive.
        link* each = is_wild ? behind : wildcards_.first;
        for (; each != nullptr; each = is_wild ? each->later : each->after) {
            turn& other = *each->of;
            if (&other != gone.of && other.number_ > gone.of->number_ && overlap(each->at, gone.at)) {
                count_down(other, startable);
            }
        }
    }
    if (next_same != nullptr) count_down(*next_same->of, startable);
}

/// Ends a turn: its operation is about to start, or will not start.
void program_order::end(turn& over, turn*& startable) noexcept {
    COMMTASK_ASSERT(over.is_open_);
    over.is_open_ = false;
    over.waiting_ = nullptr;
    for (std::uint32_t i = 0; i < over.n_links_; ++i) {
        if (over.links()[i].is_listed) remove(over.links()[i], startable);
    }
    n_open_.store(n_open_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    if (over.index_ != 0) unmake_locked(over); // Otherwise the turn is a plan's.
}

void program_order::start_all(turn* startable, task_list& started) noexcept {
    while (startable != nullptr) {
        turn& next = *std::exchange(startable, startable->next_);
        task& which = *next.waiting_;
        which.extras.its_turn = nullptr;
        started.push(which);
        end(next, startable);
    }
}

void program_order::arrive(turn& its, task& which, task_list& started) noexcept {
    const std::lock_guard guard{mutex_};
    its.waiting_ = &which;
    if (its.n_before_ > 0) return;
    its.next_ = nullptr;
    start_all(&its, started);
}

void program_order::leave(turn& its, task_list& started) noexcept {
    const std::lock_guard guard{mutex_};
    turn* startable = nullptr;
    end(its, startable);
    start_all(startable, started);
}

std::optional<program_order::blocker> program_order::blocker_of(const turn& its) noexcept {
    const std::lock_guard guard{mutex_};
    const link* found = nullptr;
    const auto note = [&](const link& other) {
        const turn& earlier = *other.of;
        if (&earlier == &its || earlier.number_ > its.number_) return;
        if (found == nullptr || earlier.number_ > found->of->number_) found = &other;
    };
    for (std::uint32_t i = 0; i < its.n_links_; ++i) {
        const link& each = its.links()[i];
        if (!each.is_listed) continue;
        if (!is_wildcard(each.at)) {
            if (const link* const same = same_channel_before(each)) note(*same);
        }
        if (each.at.kind != channel_kind::receive) continue;
        for (const link* other = receives_.first; other != nullptr; other = other->later) {
            if (overlap(other->at, each.at)) note(*other);
        }
    }
    if (found == nullptr) return std::nullopt;
    return blocker{found->of->kind_, found->at, found->of->where_};
}

} // namespace commtask::detail
