// SPDX-License-Identifier: Apache-2.0
//
// commtask for oneTBB programs: flow-graph nodes that perform MPI operations; wait() inside any
// task, which lets the thread run other tasks; and an arena that leaves the communication worker
// its core. The implementation uses the C++ interface (commtask.hpp) and oneTBB's public interface,
// version 2021.5 or newer.
//
// Threads: nodes, wait() and arenas may be used wherever oneTBB allows its own. No function given
// to a node runs on the worker, except the function of a request_node that starts a request. Call
// commtask_init before the first use of oneTBB, so that oneTBB's threads stay off the worker's
// core.
// Names: oneTBB is the global namespace tbb, this is commtask::tbb. With `using namespace
// commtask`, `tbb` would be ambiguous; write `namespace ct = commtask::tbb;` instead.
#pragma once

#include <commtask/cpp20.hpp>

#if __cplusplus >= 202002L
#include <commtask/commtask.hpp>
#include <commtask/tbb_arena.hpp>
#include <commtask/tbb_listen.hpp>
#include <commtask/tbb_node.hpp>
#include <commtask/tbb_order.hpp>
#include <commtask/tbb_plan.hpp>
#include <commtask/tbb_progress.hpp>
#include <commtask/tbb_trace.hpp>
#include <commtask/tbb_wait.hpp>
#endif
