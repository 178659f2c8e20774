// SPDX-License-Identifier: Apache-2.0
//
// Constants that decide when a thread polls, yields, waits or leaves a task to another thread. No
// constant affects the correctness of results. A choice that a user may want to make is a setting
// instead (config_table.def). Each constant names the benchmark for which it is.
#pragma once

#include <cstddef>
#include <cstdint>

namespace commtask::detail::tuning {

/// Cheap steps in a row before a step that costs a hundred times as much: polls before the clock is
/// read or the core is yielded, attempts to take the progress lock before the worker is woken,
/// tasks taken in before MPI is polled. scripts/bench unblock, scripts/bench post.
inline constexpr unsigned steps_in_a_row = 64;

/// The longest wait of a thread that another thread will wake. A lost wake-up costs this time, and
/// a paused worker and the end of the runtime poll once in this time. Not measured: a bound.
inline constexpr std::uint64_t longest_unwoken_wait_ns = 10'000'000;

// A worker that shares its core: idle_strategy.hpp ------------------------------------------------

/// The worker yields between polls for this time after something has moved, while something is in
/// flight. Otherwise large messages make no progress during waits: scripts/bench exposed.
inline constexpr std::uint64_t active_ns = 5'000'000;

/// A yield that took longer shows that another thread computes on this core. scripts/bench exposed
/// with four ranks on two cores.
inline constexpr std::uint64_t long_yield_ns = 50'000;

/// The worker does not yield for this time after such a yield. Otherwise four ranks on two cores
/// expose 2 to 3 ms of a message: scripts/bench exposed.
inline constexpr std::uint64_t busy_core_ns = 2'000'000;

/// The worker's first wait. Each further wait is twice as long, up to COMMTASK_WAIT_MAX_US.
/// scripts/bench exposed.
inline constexpr std::int64_t first_wait_ns = 5'000;

/// The worker waits this multiple of COMMTASK_WAIT_MAX_US while another thread makes progress.
/// Dslash `omp`.
inline constexpr std::int64_t waits_beside_others = 3;

/// The number of waits of COMMTASK_WAIT_MAX_US with nothing in flight before the worker blocks:
/// until then, a post need not wake a blocked worker. scripts/bench post.
inline constexpr int idle_waits_before_block = 50;

/// The longest wait with something in flight for which other ranks ring; an event without a
/// doorbell is seen only after this wait. Processor time of workers with doorbells: scripts/bench
/// node.
inline constexpr std::int64_t longest_rung_wait_ns = 4'000'000;

/// The time slice that a shared worker asks the operating system for. With a longer slice, a thread
/// that the worker has woken waits for the worker. Dslash `omp`, one core per rank.
inline constexpr std::uint64_t short_turn_ns = 100'000;

// Several lanes: lane_policy.cpp ------------------------------------------------------------------

/// A further lane must reduce the cost of a burst to this share. With a larger share, a core would
/// be used for next to nothing. scripts/bench lanes.
inline constexpr double worth_a_lane = 0.97;

// Posting: task_pool.cpp, inbox.hpp ---------------------------------------------------------------

/// Slots that a thread gets or gives back at once. With fewer slots, the lock is taken more often.
/// scripts/bench post.
inline constexpr std::size_t slots_at_once = 32;

/// How many slots ahead, and how many cells of the ring ahead, are fetched into the submitter's
/// cache. scripts/bench post after long messages.
inline constexpr std::size_t slots_fetched_ahead = 4;
inline constexpr std::uint64_t cells_fetched_ahead = 8;

/// After an operation that did not complete at once, at most so many operations of its size are not
/// tested for immediate completion (mpi/early_ends.hpp). scripts/bench post.
inline constexpr int longest_pause_of_tests = 127;

// The interposer: plugins/mpi/src -----------------------------------------------------------------

/// Calls of MPI by the program between two progress calls of the calling threads. scripts/bench
/// offload.
inline constexpr unsigned calls_between_progress = 8;

/// Turns in which a call polls before it becomes a task, with a yield before each turn but the
/// first. scripts/bench offload.
inline constexpr unsigned turns_in_passing = 16;

/// The number of polls in such a turn is learned: it lies between steps_in_a_row and this.
/// scripts/bench offload, ranks with cores of their own.
inline constexpr unsigned most_polls_of_a_call = 1024;

/// A caller starts messages up to this size itself while the worker is blocked: waking the worker
/// costs as much as sending so many bytes. scripts/bench offload.
inline constexpr int woken_for_bytes = 8 << 10;

// The end -----------------------------------------------------------------------------------------

/// If a thread makes no progress for this time at the end of the runtime or of the job, the library
/// assumes that it does not return.
inline constexpr std::uint64_t patience_at_the_end_ns = 2'000'000'000;

} // namespace commtask::detail::tuning
