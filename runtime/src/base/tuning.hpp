// SPDX-License-Identifier: Apache-2.0
//
// Constants that decide when a thread polls, yields, waits or leaves a task to another thread. None decides which result is right. A
// choice that a user may want to make is a setting instead (config_table.def). Each names the benchmark that it is for.
#pragma once

#include <cstddef>
#include <cstdint>

namespace commtask::detail::tuning {

/// Cheap steps in a row before one that costs a hundred times as much: polls before the clock is read or the core is yielded, tries to
/// take the progress lock before the worker is woken, tasks taken in before MPI is polled. scripts/bench unblock, scripts/bench post.
inline constexpr unsigned steps_in_a_row = 64;

/// The longest wait of a thread that another thread will wake. A wake-up that is lost costs so long, and a paused worker or the end of
/// the runtime polls so seldom. Not measured: a bound.
inline constexpr std::uint64_t longest_unwoken_wait_ns = 10'000'000;

// A worker that shares its core: idle_strategy.hpp --------------------------------------------------------------------

/// The worker yields between polls for so long after something has moved, while something is in flight. Without it large messages
/// stand still in waits: scripts/bench exposed.
inline constexpr std::uint64_t active_ns = 5'000'000;

/// A yield that took more found a thread that computes on this core. scripts/bench exposed with four ranks on two cores.
inline constexpr std::uint64_t long_yield_ns = 50'000;

/// The worker does not yield for so long after such a yield. Without it four ranks on two cores expose 2 to 3 ms of a message:
/// scripts/bench exposed.
inline constexpr std::uint64_t busy_core_ns = 2'000'000;

/// The worker's first wait, each further one being twice as long up to COMMTASK_WAIT_MAX_US. scripts/bench exposed.
inline constexpr std::int64_t first_wait_ns = 5'000;

/// The worker waits so many times COMMTASK_WAIT_MAX_US while another thread makes progress, and with nothing in flight. Dslash `omp`.
inline constexpr std::int64_t waits_beside_others = 3;

/// So many such waits with nothing in flight, before the worker blocks: a post in between wakes no thread. scripts/bench post.
inline constexpr int idle_waits_before_block = 50;

/// The longest wait with something in flight for which other ranks ring; an event without a doorbell is seen after it. Processor time
/// of workers with doorbells: scripts/bench node.
inline constexpr std::int64_t longest_rung_wait_ns = 4'000'000;

/// The scheduler's turn of a worker that asks for short ones. More: a thread that it woke waits for it. Dslash `omp`, one core per rank.
inline constexpr std::uint64_t short_turn_ns = 100'000;

// Several lanes: lane_policy.cpp --------------------------------------------------------------------------------------

/// A further lane must bring the cost of a burst down to this share; more would leave a core to next to nothing. scripts/bench lanes.
inline constexpr double worth_a_lane = 0.95;

// Posting: task_pool.cpp, inbox.hpp -----------------------------------------------------------------------------------

/// Slots that a thread gets or gives back at once. Less: a lock more often. scripts/bench post.
inline constexpr std::size_t slots_at_once = 32;

/// So many slots ahead are fetched into the submitter's cache, and cells of the ring. scripts/bench post after long messages.
inline constexpr std::size_t slots_fetched_ahead = 4;
inline constexpr std::uint64_t cells_fetched_ahead = 8;

/// Operations of a size that are not tested for an immediate end after one that had not ended at once, at most. scripts/bench post.
inline constexpr int longest_pause_of_looks = 127;

// The interposer: plugins/mpi/src -------------------------------------------------------------------------------------

/// Calls into MPI between two progress calls that their threads make. scripts/bench offload.
inline constexpr unsigned calls_between_progress = 8;

/// Turns of a call before it becomes a task, a yield before each but the first. scripts/bench offload.
inline constexpr unsigned turns_in_passing = 16;

/// Polls of such a turn before it yields are learned, between steps_in_a_row and this. scripts/bench offload, ranks with cores of their own.
inline constexpr unsigned most_polls_of_a_call = 1024;

/// A caller starts messages up to this size while the worker blocks: to wake it costs as much as so many bytes. scripts/bench offload.
inline constexpr int woken_for_bytes = 8 << 10;

// The end -------------------------------------------------------------------------------------------------------------

/// A thread that makes no progress for so long, at the end of the runtime or of the job, is taken for one that does not come back.
inline constexpr std::uint64_t patience_at_the_end_ns = 2'000'000'000;

} // namespace commtask::detail::tuning
