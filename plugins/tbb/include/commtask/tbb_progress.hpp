// SPDX-License-Identifier: Apache-2.0
//
// Waiting for a graph if the worker shares the core of the waiting thread. In graph.wait_for_all(),
// the waiting thread of oneTBB spins while the worker needs the core, and each message that the
// worker puts into the graph wakes another thread of oneTBB. In wait_for_all(graph), the waiting
// thread makes progress itself, in a task of the graph, when it has nothing to compute. Only one
// thread may wait.
#pragma once

#include <commtask/commtask.h>
#include <commtask/tbb_graph.hpp>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/task_arena.h>

namespace commtask::tbb {

/// Waits as graph.wait_for_all() does.
/// In an arena of one thread whose core the worker shares, the waiting thread makes progress
/// meanwhile; elsewhere the call is graph.wait_for_all(). One thread at a time may wait, and no
/// thread may call the graph's own wait_for_all() meanwhile.
/// @param graph  the graph; the calling thread is in its arena.
/// @throws operation_failed  and the exceptions of graph.wait_for_all().
/// @blocking Until all work of the graph is done, including its nodes' operations.
inline void wait_for_all(::tbb::flow::graph& graph) {
    if (commtask_is_worker_shared() == 0 || ::tbb::this_task_arena::max_concurrency() > 1) {
        graph.wait_for_all();
    } else {
        frontend::graph_side::of(graph)->wait_with_progress();
    }
}

/// Makes progress if the worker is shared, and lets successors of completed operations run next;
/// otherwise it does nothing. Call it in a function of a node, after a long computation.
/// @param graph  the graph of the node.
/// @blocking No.
inline void progress(::tbb::flow::graph& graph) {
    static_cast<void>(frontend::graph_side::of(graph)->progress_in_task());
}

} // namespace commtask::tbb
