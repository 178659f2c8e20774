// SPDX-License-Identifier: Apache-2.0
//
// Who waits for whom. Edges are added by the worker of the successor, which takes that cost off the submitter; a task's end
// is announced by whoever ends it, the worker or the thread that signals an event. Both may happen at once, on different
// lanes: the list of successors is closed by one exchange, and an edge that comes too late finds it closed.
#pragma once

#include "core/task.hpp"
#include "core/task_pool.hpp"

#include <cstdint>
#include <new>

namespace commtask::detail::graph {

/// Submitter. Room for the edges of a task; kept with the slot, so it is allocated once per slot and size.
/// @return false without memory
[[nodiscard]] inline bool make_room_for_edges(task& slot, std::uint32_t count) noexcept {
    if (count == 0 || count <= slot.edge_capacity) return true; // without edges their line is not even loaded
    slot.predecessors.reset(new (std::nothrow) task*[count]());
    slot.edges.reset(new (std::nothrow) edge[count]());
    const bool has_room = slot.predecessors != nullptr && slot.edges != nullptr;
    slot.edge_capacity = has_room ? count : 0;
    return has_room;
}

/// Submitter, after begin_operation() and with extras that have room for it: the task waits for one more.
inline void add_predecessor(task& successor, task& predecessor) noexcept {
    predecessor.life.take_reference();
    successor.predecessors[successor.extras.n_predecessors++] = &predecessor;
    // One more than there are until they are all linked. relaxed: the inbox publishes it.
    successor.waiting_for.store(successor.extras.n_predecessors + 1, std::memory_order_relaxed);
}

/// Adds the edges from `successor`'s predecessors, and drops the references that the submitter took on those that have ended
/// already. The worker of `successor` only, once.
/// @return whether nothing is left to wait for: the caller then moves it on.
[[nodiscard]] inline bool link_predecessors(task& successor) noexcept {
    // The edges of a member of a plan are there already. acq_rel: as below.
    if (successor.is_member()) return successor.waiting_for.fetch_sub(1, std::memory_order_acq_rel) == 1;
    const std::uint32_t count = successor.extras.n_predecessors;
    std::uint32_t gone = 1; // the one that kept the count above zero while edges were missing
    for (std::uint32_t i = 0; i < count; ++i) {
        task& predecessor = *successor.predecessors[i];
        edge& link = successor.edges[i];
        link.is_after_event = predecessor.is_event();
        // relaxed: published with the edge.
        link.successor.store(&successor, std::memory_order_relaxed);
        // acquire: partner of the exchange in finish(); what the predecessor did is visible to its successor.
        edge* first = predecessor.successors.load(std::memory_order_acquire);
        do {
            if (is_closed(first)) break;
            link.next = first;
            // acq_rel: publishes the edge; partner of the exchange in finish().
        } while (!predecessor.successors.compare_exchange_weak(first, &link, std::memory_order_acq_rel,
                                                               std::memory_order_acquire));
        if (!is_closed(first)) continue;
        if (first == closed_badly()) successor.marks.fetch_or(mark_predecessor_failed, std::memory_order_relaxed);
        link.successor.store(nullptr, std::memory_order_relaxed);
        task_pool::drop(&predecessor);
        ++gone;
    }
    // acq_rel: sees the marks of predecessors that ended meanwhile; partner of the same in finish().
    return successor.waiting_for.fetch_sub(gone, std::memory_order_acq_rel) == gone;
}

/// Any thread: a held member need not wait for that any more.
struct ready_answer {
    bool was_held;       ///< It was the first to say so.
    bool waits_for_none; ///< And nothing else is left: the caller moves the member on.
};
[[nodiscard]] inline ready_answer make_ready(task& member) noexcept {
    // acq_rel: what the thread wrote is sent; partner of the same in finish() and link_predecessors().
    const std::uint32_t before = member.waiting_for.fetch_and(~waits_for_ready, std::memory_order_acq_rel);
    return {(before & waits_for_ready) != 0, before == waits_for_ready};
}

/// Ends a task: nobody can follow it any more, its state becomes final, `n_references` of the caller are dropped, and
/// then its successors are told. `move_on(task&)` is called for each that waits for nothing more.
/// @param others_add_edges  false where the caller's lane is the only one: then nobody else links a successor to a task
template <typename MoveOn>
void finish(task& ended, task_state state, std::uint32_t n_references, MoveOn&& move_on,
            bool others_add_edges = true) noexcept {
    const bool is_completed = state == task_state::completed;
    edge* const closed = is_completed ? closed_well() : closed_badly();
    edge* link;
    if (others_add_edges) {
        // acq_rel: publishes what the task did to late edges, and sees the edges that came in time.
        link = ended.successors.exchange(closed, std::memory_order_acq_rel);
    } else {
        // relaxed: published by the end of the life. A locked instruction less: who waits pulls the line away between two.
        link = ended.successors.load(std::memory_order_relaxed);
        ended.successors.store(closed, std::memory_order_relaxed);
    }
    // Waiting threads come before successors. Each edge has a reference of its own, so the slot lasts.
    if (ended.life.finish(state, n_references)) task_pool::release(&ended);
    std::uint32_t released = 0;
    while (link != nullptr) {
        edge* const next = link->next; // the successor's slot may be reused once it is counted down
        task& successor = *link->successor.load(std::memory_order_relaxed);
        link->successor.store(nullptr, std::memory_order_relaxed);
        if (!is_completed) successor.marks.fetch_or(mark_predecessor_failed, std::memory_order_relaxed);
        if (successor.waiting_for.fetch_sub(1, std::memory_order_acq_rel) == 1) move_on(successor);
        link = next;
        ++released;
    }
    if (released > 0) task_pool::drop(&ended, released);
}

/// Any thread: one of an event's signals; the last one ends it. `move_on` as for finish().
/// @return false if the event has had all of them
template <typename MoveOn>
[[nodiscard]] bool signal(task& event, MoveOn&& move_on) noexcept {
    std::uint32_t missing = event.waiting_for.load(std::memory_order_relaxed);
    do {
        if (missing == 0) return false;
        // acq_rel: what every signalling thread did before is visible to the successors; partner of itself.
    } while (!event.waiting_for.compare_exchange_weak(missing, missing - 1, std::memory_order_acq_rel));
    if (missing == 1) finish(event, task_state::completed, 1, move_on);
    return true;
}

} // namespace commtask::detail::graph
