// SPDX-License-Identifier: Apache-2.0
//
// Dependences between tasks. The progress thread of the successor's lane adds the edges, so a post
// does not pay for them. The thread that ends a task closes the task's list of successors: a
// progress thread, or the thread that sends an event its last signal. Another lane may add an edge
// at the same time. One atomic exchange closes the list, and a thread that adds an edge too late
// sees that the list is closed.
#pragma once

#include "core/task.hpp"
#include "core/task_pool.hpp"

#include <cstdint>
#include <new>

namespace commtask::detail::graph {

/// Submitter. Allocates memory for the edges of a task. The memory stays with the slot, so a slot
/// allocates only when the number of edges grows.
/// @return false without memory
[[nodiscard]] inline bool make_room_for_edges(task& slot, std::uint32_t count) noexcept {
    // Does not load the line of edge_capacity if there are no edges.
    if (count == 0 || count <= slot.edge_capacity) return true;
    slot.predecessors.reset(new (std::nothrow) task*[count]());
    slot.edges.reset(new (std::nothrow) edge[count]());
    const bool has_room = slot.predecessors != nullptr && slot.edges != nullptr;
    slot.edge_capacity = has_room ? count : 0;
    return has_room;
}

/// Submitter, after begin_operation() and make_room_for_edges(): adds a predecessor.
inline void add_predecessor(task& successor, task& predecessor) noexcept {
    predecessor.life.take_reference();
    successor.predecessors[successor.extras.n_predecessors++] = &predecessor;
    // The number of predecessors plus one, until all edges are added. relaxed: the submission queue
    // publishes it.
    successor.waiting_for.store(successor.extras.n_predecessors + 1, std::memory_order_relaxed);
}

/// Adds the edges from the predecessors of `successor`, and drops the references to predecessors
/// that have ended already. Called once for each task, by the progress thread of the successor's
/// lane.
/// @return whether the task waits for no predecessor
[[nodiscard]] inline bool link_predecessors(task& successor) noexcept {
    // The edges of a plan's member exist already. acq_rel: as in the last line of this function.
    if (successor.is_member()) return successor.waiting_for.fetch_sub(1, std::memory_order_acq_rel) == 1;
    const std::uint32_t count = successor.extras.n_predecessors;
    // The extra one, which keeps the count above zero while edges are added.
    std::uint32_t gone = 1;
    for (std::uint32_t i = 0; i < count; ++i) {
        task& predecessor = *successor.predecessors[i];
        edge& link = successor.edges[i];
        link.is_after_event = predecessor.is_event();
        // relaxed: the edge publishes it.
        link.successor.store(&successor, std::memory_order_relaxed);
        // acquire: partner of the exchange in finish(); the successor sees what the predecessor
        // wrote.
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
    // acq_rel: partner of the fetch_sub in finish(); the marks of ended predecessors are visible.
    return successor.waiting_for.fetch_sub(gone, std::memory_order_acq_rel) == gone;
}

/// The result of make_ready().
struct ready_result {
    bool was_deferred; ///< The call was the first one for the member in its run.
    /// The member waits for nothing else; the caller must release it to its lane.
    bool waits_for_none;
};
[[nodiscard]] inline ready_result make_ready(task& member) noexcept {
    // acq_rel: MPI sends what the calling thread has written; partner of the fetch_sub in finish()
    // and in link_predecessors().
    const std::uint32_t before = member.waiting_for.fetch_and(~waits_for_ready, std::memory_order_acq_rel);
    return {(before & waits_for_ready) != 0, before == waits_for_ready};
}

/// Ends a task: closes its list of successors, makes its state final, drops `n_references`
/// references of the caller, and counts down the successors. Calls `move_on(task&)` for each
/// successor that waits for nothing else.
/// @param others_add_edges  false if there is only one lane: then no other thread adds an edge
template <typename MoveOn>
void finish(task& ended, task_state state, std::uint32_t n_references, MoveOn&& move_on,
            bool others_add_edges = true) noexcept {
    const bool is_completed = state == task_state::completed;
    edge* const closed = is_completed ? closed_well() : closed_badly();
    edge* link;
    if (others_add_edges) {
        // acq_rel: a thread that adds an edge too late sees what the task wrote; this thread sees
        // the edges that were added in time.
        link = ended.successors.exchange(closed, std::memory_order_acq_rel);
    } else {
        // relaxed: life.finish() publishes it. Between two locked instructions, a waiting thread
        // would take the cache line away.
        link = ended.successors.load(std::memory_order_relaxed);
        ended.successors.store(closed, std::memory_order_relaxed);
    }
    // The state becomes final before the successors are released. Each edge has a reference of its
    // own, so the slot is not reused.
    if (ended.life.finish(state, n_references)) task_pool::release(&ended);
    std::uint32_t released = 0;
    while (link != nullptr) {
        edge* const next = link->next; // The successor's slot may be reused once its count is zero.
        task& successor = *link->successor.load(std::memory_order_relaxed);
        link->successor.store(nullptr, std::memory_order_relaxed);
        if (!is_completed) successor.marks.fetch_or(mark_predecessor_failed, std::memory_order_relaxed);
        if (successor.waiting_for.fetch_sub(1, std::memory_order_acq_rel) == 1) move_on(successor);
        link = next;
        ++released;
    }
    if (released > 0) task_pool::drop(&ended, released);
}

/// Any thread. Sends an event one of its signals; the last signal ends the event. `move_on`: as for
/// finish().
/// @return false if the event has had all its signals
template <typename MoveOn>
[[nodiscard]] bool signal(task& event, MoveOn&& move_on) noexcept {
    std::uint32_t missing = event.waiting_for.load(std::memory_order_relaxed);
    do {
        if (missing == 0) return false;
        // acq_rel: partner of itself; the successors see what every signaling thread wrote.
    } while (!event.waiting_for.compare_exchange_weak(missing, missing - 1, std::memory_order_acq_rel));
    if (missing == 1) finish(event, task_state::completed, 1, move_on);
    return true;
}

} // namespace commtask::detail::graph
