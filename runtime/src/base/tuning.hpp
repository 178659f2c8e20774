// SPDX-License-Identifier: Apache-2.0
//
// Constants that decide when a thread polls, yields, waits, or leaves a task to another thread.
// No constant affects the correctness of results. Choices that a user may want to make are settings
// instead (config_table.def). Each constant names its benchmark.
#pragma once

#include <cstddef>
#include <cstdint>

namespace commtask::detail::tuning {

/// The number of cheap steps before a step that costs about a hundred times as much: polls before a
/// thread reads the clock or yields, attempts to take the progress lock before the submitter wakes
/// the worker, tasks accepted before a poll. scripts/bench unblock, scripts/bench post.
inline constexpr unsigned steps_in_a_row = 64;

/// The longest wait of a thread that another thread is expected to wake: a lost wake-up costs this
/// time. Also the interval at which a paused worker and commtask_finalize poll. A bound, not
/// measured.
inline constexpr std::uint64_t longest_unwoken_wait_ns = 10'000'000;

// A worker that shares its core: idle_strategy.hpp ------------------------------------------------

/// How long the worker polls and yields after something has moved, while something is in flight.
/// With less, large messages make no progress during waits. scripts/bench exposed.
inline constexpr std::uint64_t active_ns = 5'000'000;

/// A yield that takes longer shows that another thread computes on this core. scripts/bench exposed
/// with four ranks on two cores.
inline constexpr std::uint64_t long_yield_ns = 50'000;

/// How long the worker does not yield after such a yield. With less, four ranks on two cores expose
/// 2 to 3 ms of a message: scripts/bench exposed.
inline constexpr std::uint64_t busy_core_ns = 2'000'000;

/// The worker's first wait. Each further wait is twice as long, up to COMMTASK_WAIT_MAX_US.
/// scripts/bench exposed.
inline constexpr std::int64_t first_wait_ns = 5'000;

/// The multiple of COMMTASK_WAIT_MAX_US for which the worker waits while another thread makes
/// progress. scripts/bench dslash, mode `omp`.
inline constexpr std::int64_t waits_while_others_progress = 3;

/// The number of waits of COMMTASK_WAIT_MAX_US with nothing in flight before the worker blocks.
/// During these waits, posts need not wake a blocked worker. scripts/bench post.
inline constexpr int idle_waits_before_block = 50;

/// The longest wait while doorbells announce every operation in flight; an event without a doorbell
/// is noticed only afterwards. Saves processor time: scripts/bench node.
inline constexpr std::int64_t longest_rung_wait_ns = 4'000'000;

/// The time slice that a shared worker requests. With a longer slice, a thread that the worker has
/// woken waits for the worker. scripts/bench dslash, mode `omp`, one core per rank.
inline constexpr std::uint64_t short_time_slice_ns = 100'000;

// Several lanes: lane_policy.cpp ------------------------------------------------------------------

/// A further lane must reduce the cost of a burst to this fraction. With a larger fraction, a core
/// would be used for almost no gain. scripts/bench lanes.
inline constexpr double worth_a_lane = 0.97;

// Posting: task_pool.cpp, mpsc_ring.hpp -----------------------------------------------------------

/// The number of slots that a thread exchanges with the store at once. With fewer slots, the lock
/// is taken more often. scripts/bench post.
inline constexpr std::size_t slots_at_once = 32;

/// The numbers of slots and of cells of the ring by which a submitter prefetches ahead.
/// scripts/bench post after long messages.
inline constexpr std::size_t slots_fetched_ahead = 4;
inline constexpr std::uint64_t cells_fetched_ahead = 8;

/// After operations that did not complete at once, the largest number of operations of this size
/// that are not tested for immediate completion (mpi/early_ends.hpp). scripts/bench post.
inline constexpr int most_skipped_tests = 127;

// The interposer: plugins/mpi/src -----------------------------------------------------------------

/// The number of MPI calls of the program between two progress calls of its threads. scripts/bench
/// offload.
inline constexpr unsigned calls_between_progress = 8;

/// The number of turns in which a blocking call polls before it becomes a task, with a yield before
/// each further turn. scripts/bench offload.
inline constexpr unsigned turns_in_passing = 16;

/// The largest number of polls in such a turn. The number is learned, and at least steps_in_a_row.
/// scripts/bench offload, ranks with cores of their own.
inline constexpr unsigned most_polls_of_a_call = 1024;

/// While the worker is blocked, a caller starts messages up to this size itself: waking the worker
/// costs as much as sending so many bytes. scripts/bench offload.
inline constexpr int woken_for_bytes = 8 << 10;

// The end -----------------------------------------------------------------------------------------

/// The time without progress after which a thread is considered stuck, at the end of the runtime or
/// of the job.
inline constexpr std::uint64_t longest_stall_ns = 2'000'000'000;

} // namespace commtask::detail::tuning
