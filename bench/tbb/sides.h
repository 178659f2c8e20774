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

/// Receives that are outstanding together, each of a node of its own, then sent and completed.
struct many_receives {
    double build_us = 0;    ///< Per node, with its successor: making both and the edge.
    double start_us = 0;    ///< Per receive: put, posted, in flight.
    double complete_us = 0; ///< Per message: sent, received, the successor run.
    double node_bytes = 0;  ///< Memory of a node and its successor, with the pending operation.
};
[[nodiscard]] many_receives measure_many_receives(std::size_t n_receives);
/// Cancels a graph with as many receives that nothing matches; until wait_for_all() returns, in us per receive.
[[nodiscard]] double measure_cancel(std::size_t n_receives);
/// The same receives and sends by MPI alone, in us per message.
[[nodiscard]] double measure_many_receives_of_mpi(std::size_t n_receives);

/// Processor time of all threads but the worker while a graph waits for `duration` for one message, as a fraction of
/// one core. The worker spins on a core that nobody else may use.
[[nodiscard]] double measure_idle_graph(std::chrono::milliseconds duration);

/// Gives a worker without work the time to fall asleep: its core is needed for something else.
inline void let_the_other_core_rest() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

} // namespace commtask::bench
