// SPDX-License-Identifier: Apache-2.0
//
// What is measured of the oneTBB face, one function per figure; main.cpp puts them into a table. All run on the compute
// thread, which is pinned to its core; the worker has another.
#pragma once

#include <chrono>
#include <cstddef>
#include <thread>

#include "harness/alternate.h"

namespace commtask::bench {

/// Appends times in us from MPI's completion to the first instruction of a node's successor, ...
void sample_node(int n_samples, round_samples& out);
/// ... of a task behind wait(), ...
void sample_wait(int n_samples, round_samples& out);
/// ... of the successor of an async_node whose thread spins in MPI on `core`, ...
void sample_thread_in_wait(int core, int n_samples, round_samples& out);
/// ... and of the successor of a node that tests and puts itself back into the graph until the message is there.
void sample_polling_task(int n_samples, round_samples& out);

/// Gives a worker without work the time to fall asleep: its core is needed for something else.
inline void let_the_other_core_rest() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

} // namespace commtask::bench
