// SPDX-License-Identifier: Apache-2.0
//
// Waiting for a graph on the core that the worker has to share. There oneTBB's waiting thread spins while the worker wants the core, and
// each message that the worker puts into the graph wakes another thread of oneTBB, which wants it too. Here the thread that waits makes
// MPI's calls itself where it has nothing to compute, in a task of the graph, and takes what has come. The price is that only one
// thread may wait.
#pragma once

#include <commtask/commtask.h>
#include <commtask/tbb_graph.hpp>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/task_arena.h>

namespace commtask::tbb {

/// Waits as graph.wait_for_all() does. In an arena of one thread whose core the worker shares the waiting thread drives MPI meanwhile;
/// elsewhere it is that function. For one thread at a time, while nobody calls the graph's own wait_for_all().
/// @param graph  the graph; the calling thread is in its arena.
/// @throws operation_failed  and what else graph.wait_for_all() throws.
/// @blocking Until all that the graph has to do is done, its nodes' operations too.
inline void wait_for_all(::tbb::flow::graph& graph) {
    if (commtask_is_worker_shared() == 0 || ::tbb::this_task_arena::max_concurrency() > 1) {
        graph.wait_for_all();
    } else {
        frontend::graph_side::of(graph)->wait_driving();
    }
}

/// In a function of a node, after it has computed for long: where the worker has no core of its own messages move now, and what waits
/// for one runs next. Elsewhere it does nothing.
/// @param graph  the node's.
/// @blocking No: some passes over what is in flight.
inline void progress(::tbb::flow::graph& graph) { static_cast<void>(frontend::graph_side::of(graph)->drive_in_task()); }

} // namespace commtask::tbb
