// SPDX-License-Identifier: Apache-2.0
//
// Instantiates and ends runs. If a handle or a waiting task still has a reference to a slot, the
// next run takes a new slot. Steady use without such references allocates nothing.
#include "core/plan.hpp"

#include "core/graph.hpp"
#include "core/operation_traits.hpp"
#include "core/task_pool.hpp"
#include "core/tracer.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace commtask::detail {

void plan::release_members() noexcept {
    if (last_run_ != nullptr) task_pool::drop(std::exchange(last_run_, nullptr));
    for (plan_member& member : members_) {
        for (task* const slot : member.slots) {
            if (slot != nullptr) task_pool::drop(slot);
        }
    }
    members_.clear();
    posted_.clear();
    home_ = nullptr;
}

/// Records the member's queue, and whether the member may have to wait.
/// @return false without memory
bool plan::note_uses(plan_member& member) {
    try {
        const auto same_queue = [&](const queue_use& use) { return use.queue == member.queue; };
        if (home_ == nullptr) {
            home_life_ = member.queue->life();
            home_ = member.queue;
        }
        if (member.queue != home_ && std::none_of(other_queues_.begin(), other_queues_.end(), same_queue)) {
            other_queues_.push_back({member.queue, member.queue->life()});
            has_other_queues_ = true;
            has_other_lanes_ = has_other_lanes_ || member.queue->served_by != home_->served_by;
        }
        if (member.its_turn != nullptr && (member.is_deferred || !member.predecessors.empty())) has_waiting_ = true;
    } catch (const std::bad_alloc&) {
        return false;
    }
    return true;
}

task* plan::add(plan_member&& what) noexcept {
    constexpr std::size_t first_set = 1;
    try {
        if (posted_.size() == posted_.capacity()) posted_.reserve(2 * posted_.size() + 4);
        members_.push_back(std::move(what));
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    plan_member& member = members_.back();
    computes_ = computes_ || operation_of(member.op.kind).computes;
    member.of = this;
    member.index = static_cast<std::uint32_t>(members_.size() - 1);
    member.number = static_cast<std::uint32_t>(posted_.size());
    if (!take_slot(member, first_set) || !note_uses(member)) {
        if (member.slots[first_set] != nullptr) task_pool::release(member.slots[first_set]);
        members_.pop_back();
        return nullptr;
    }
    if (!member.is_group) {
        posted_.push_back(member.index);
        ++n_posted_;
    }
    instantiate(member, first_set);
    // relaxed: published with the plan.
    n_open_.store(static_cast<std::uint32_t>(members_.size()), std::memory_order_relaxed);
    return member.slots[first_set];
}

/// Resets the counts of a run that is not instantiated yet, so that no thread uses them.
void plan::empty_partitions(partition_set& parts, std::size_t set) noexcept {
    if (!parts.sends) return;
    for (std::uint32_t group = 0; group < parts.groups.count(); ++group) {
        // relaxed: published with the run, as below.
        parts.n_unfilled[group][set].store(0, std::memory_order_relaxed);
    }
    for (std::int64_t partition = 0; partition < parts.n_partitions; ++partition) {
        const auto [first, last] = parts.groups_of(partition);
        for (std::uint32_t group = first; group <= last; ++group) {
            parts.n_unfilled[group][set].fetch_add(1, std::memory_order_relaxed);
        }
    }
}

/// @return false without memory
bool plan::take_slot(plan_member& member, std::size_t set) noexcept {
    task*& slot = member.slots[set];
    if (slot != nullptr && slot->life.has_one_reference()) return true;
    task* const fresh = task_pool::acquire();
    if (fresh == nullptr) return false;
    if (!graph::make_room_for_edges(*fresh, static_cast<std::uint32_t>(member.predecessors.size()))) {
        task_pool::release(fresh);
        return false;
    }
    if (slot != nullptr) task_pool::drop(slot);
    fresh->life.begin(1); // The plan's reference.
    slot = fresh;
    return true;
}

/// Instantiates a member's task, as a post and link_predecessors() do for other tasks. Adds the
/// edges with plain stores, since no other thread has the tasks yet.
void plan::instantiate(plan_member& member, std::size_t set) noexcept {
    task& slot = *member.slots[set];
    // Two references: the plan's and the progress engine's.
    slot.begin_operation(member.op, *member.queue, member.flags | flag_has_extras | flag_is_member, 2);
    const auto n_predecessors = static_cast<std::uint32_t>(member.predecessors.size());
    slot.extras = {member.callback, member.callback_argument, member.user_status, nullptr, n_predecessors};
    slot.source = member.source;
    slot.member = &member;
    tracer* const traced = tracer::current();
    slot.trace_id = traced != nullptr ? traced->new_id() : 0;
    if (member.partitions) empty_partitions(*member.partitions, set);
    // Plus one, until the member's lane accepts it. relaxed: published with the plan.
    slot.waiting_for.store((n_predecessors + 1) | (member.is_deferred ? waits_for_ready : 0),
                           std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < n_predecessors; ++i) {
        task& predecessor = *members_[member.predecessors[i]].slots[set];
        edge& link = slot.edges[i];
        predecessor.life.take_reference();
        slot.predecessors[i] = &predecessor;
        link.is_after_event = false;
        link.successor.store(&slot, std::memory_order_relaxed);
        link.next = predecessor.successors.load(std::memory_order_relaxed);
        predecessor.successors.store(&link, std::memory_order_relaxed);
    }
}

/// @return false without memory; then no member is instantiated
bool plan::instantiate_all(std::size_t set) noexcept {
    for (plan_member& member : members_) {
        if (!take_slot(member, set)) return false;
    }
    for (plan_member& member : members_) instantiate(member, set);
    // relaxed: published with the plan.
    n_open_.store(static_cast<std::uint32_t>(members_.size()), std::memory_order_relaxed);
    return true;
}

/// Whether the last run has ended. Reads the state of the run's task first: a thread that has
/// waited for it has that line in its cache. The run's callback runs before that state is final, so
/// n_ended_ is read second.
bool plan::has_ended() const noexcept {
    if (last_run_ == nullptr) return true;
    const task_state state = last_run_->life.state();
    if (state != task_state::open) return state != task_state::abandoned;
    // acquire: partner of the release in end_run().
    return n_ended_.load(std::memory_order_acquire) == n_started_.load(std::memory_order_relaxed);
}

bool plan::try_change() noexcept {
    // acquire: partner of the release in end_change().
    if (is_claimed_.exchange(true, std::memory_order_acquire)) return false;
    if (!has_outlived_runtime() && has_ended()) return true;
    end_change();
    return false;
}

/// Whether no communicator of the plan was freed.
bool plan::are_queues_as_recorded() const noexcept {
    if (home_ != nullptr && home_->life() != home_life_) return false;
    return !has_other_queues_ ||
           std::ranges::all_of(other_queues_, [](const queue_use& use) { return use.queue->life() == use.life; });
}

plan::start_status plan::try_start() noexcept {
    if (!try_change()) return start_status::is_running;
    // The claim ends in take_turns() or take_back_start().
    start_status status = start_status::done;
    if (!are_queues_as_recorded()) status = start_status::comm_was_freed;
    if (status == start_status::done && !is_instantiated()) {
        is_instantiated_.store(instantiate_all(next_set()), std::memory_order_relaxed);
        if (!is_instantiated()) status = start_status::no_memory;
    }
    if (status != start_status::done) end_change();
    return status;
}

/// Whether the run is ready as soon as its lane accepts it. False after a failed or canceled
/// predecessor: then the run's lane posts or cancels the members.
static bool waits_for_nothing(const task& run) noexcept {
    const std::uint32_t n_predecessors = run.has_extras() ? run.extras.n_predecessors : 0;
    return std::all_of(run.predecessors.get(), run.predecessors.get() + n_predecessors,
                       [](const task* each) { return each->life.state() == task_state::completed; });
}

void plan::begin_start(task& run) noexcept {
    // A thread that has waited for the last run has usually released its handle; then no locked
    // instruction is needed.
    if (last_run_ != nullptr) {
        if (last_run_->life.has_one_reference()) {
            task_pool::release(last_run_);
        } else {
            task_pool::drop(last_run_);
        }
    }
    last_run_ = &run;
    run.op.recv.count = has_other_lanes_ && waits_for_nothing(run) ? 1 : 0;
    if (starter_posts_to_other_lanes(run)) running_ = &run;
    // For lists of incomplete tasks, since the run's callback may release the plan.
    run.op.send.count = n_posted_;
    // release: partner of the acquire in started_of().
    n_started_.store(n_started_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void plan::take_back_start() noexcept {
    last_run_ = nullptr;
    // release: partner of the acquire in started_of().
    n_started_.store(n_started_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
    end_change();
}

/// Takes the members' turns if any turn is open, or if a member may have to wait. Otherwise the
/// submission queues keep the order.
void plan::take_turns() noexcept {
    const auto has_open = [](const queue_use& use) { return use.queue->order.has_open(); };
    const bool run_waits = last_run_->has_extras() && last_run_->extras.n_predecessors > 0;
    if (has_waiting_ || run_waits || (home_ != nullptr && home_->order.has_open()) ||
        (has_other_queues_ && std::ranges::any_of(other_queues_, has_open))) {
        for (plan_member& member : members_) {
            if (member.its_turn != nullptr) member.queue->order.take(*member.its_turn);
        }
    }
    end_change(); // Before the post, since the run's callback may start the next run.
}

task* plan::member_ended(const plan_member& member, task_state how) noexcept {
    if (how == task_state::abandoned) return nullptr; // The run will be abandoned too.
    if (how == task_state::failed) {
        std::uint32_t expected = nobody;
        first_failed_.compare_exchange_strong(expected, member.index, std::memory_order_relaxed);
    } else if (how == task_state::canceled) {
        was_canceled_.store(true, std::memory_order_relaxed);
    }
    // acq_rel: partner of itself; the thread that ends the run sees the results of all members.
    return n_open_.fetch_sub(1, std::memory_order_acq_rel) == 1 ? running_ : nullptr;
}

const task* plan::sum_up(task_result& result) noexcept {
    const std::uint32_t failed = first_failed_.load(std::memory_order_relaxed);
    const task* const first = failed != nobody ? &running_of(members_[failed]) : nullptr;
    if (first != nullptr) {
        result.error = first->result.error;
        result.error_class = first->result.error_class;
    }
    result.is_canceled = result.is_canceled || was_canceled_.load(std::memory_order_relaxed);
    if (computes_) {
        for (plan_member& each : members_) result.flags |= running_of(each).result.flags;
    }
    return first;
}

void plan::sum_up_groups(const plan_member& whole, task_result& result) noexcept {
    const partition_set& parts = *whole.partitions;
    for (std::uint32_t group = 0; group < parts.groups.count(); ++group) {
        const task& ended = running_of(members_[parts.first_group + group]);
        if (result.error == 0) {
            result.error = ended.result.error;
            result.error_class = ended.result.error_class;
        }
        result.bytes += ended.result.bytes;
        result.is_canceled = result.is_canceled || ended.life.state() == task_state::canceled;
    }
    result.source = whole.op.source;
    result.tag = whole.op.recv_tag;
}

void plan::end_run() noexcept {
    first_failed_.store(nobody, std::memory_order_relaxed);
    was_canceled_.store(false, std::memory_order_relaxed);
    const std::uint64_t ended = n_ended_.load(std::memory_order_relaxed) + 1;
    // relaxed: published with n_ended_. Stored only if it changes, since the line belongs to the
    // submitters.
    if (!instantiate_all(static_cast<std::size_t>((ended + 1) % 2)))
        is_instantiated_.store(false, std::memory_order_relaxed);
    // release: partner of the acquire in next_set().
    n_ended_.store(ended, std::memory_order_release);
}

} // namespace commtask::detail
