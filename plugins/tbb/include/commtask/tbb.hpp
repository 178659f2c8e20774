// SPDX-License-Identifier: Apache-2.0
//
// commtask for oneTBB programs: nodes of a flow graph that send, receive and reduce; wait() inside any task, which lets
// the thread do other work; and an arena that leaves the communication worker its core. Everything here stands on the
// C++ face (commtask.hpp) and on oneTBB's public interface, 2021.5 or newer.
//
// Threads: nodes, wait() and arenas may be used wherever oneTBB allows its own. No function given to a node runs on the
// worker, except what request_node starts requests with. Put commtask_init before the first use of oneTBB, so that its
// threads stay off the worker's core.
// Names: oneTBB is the global tbb, this is commtask::tbb. `using namespace commtask` would make `tbb` mean both; write
// `namespace ct = commtask::tbb;` instead.
#pragma once

#include <commtask/cpp20.hpp>

#if __cplusplus >= 202002L
#include <commtask/commtask.hpp>
#include <commtask/tbb_arena.hpp>
#include <commtask/tbb_drive.hpp>
#include <commtask/tbb_listen.hpp>
#include <commtask/tbb_node.hpp>
#include <commtask/tbb_order.hpp>
#include <commtask/tbb_plan.hpp>
#include <commtask/tbb_trace.hpp>
#include <commtask/tbb_wait.hpp>
#endif
