// SPDX-License-Identifier: Apache-2.0
//
// The layout of a trace in memory and in its file. docs/trace-format.md specifies each field.
// Programs that read traces include this header too. All records have one size, so a reader needs
// no parser.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace commtask::detail::trace {

static_assert(std::endian::native == std::endian::little, "a trace is little-endian");

inline constexpr std::uint32_t version = 2;
inline constexpr std::size_t chunk_bytes = 16384;
inline constexpr char magic[8] = {'C', 'T', 'T', 'R', 'A', 'C', 'E', '\0'};

enum class record_type : std::uint8_t {
    none = 0, ///< Not written: the rest of a chunk.
    posted = 1,
    receives_from = 2,
    after = 3,
    posted_in = 4,
    post_returned = 5,
    moved = 6,
    matched = 7,
    signaled = 8,
    wait_begin = 9,
    wait_end = 10,
    also = 11,
    state = 16,
    compute_created = 17,
    compute_begin = 18,
    compute_end = 19,
    region_begin = 20,
    region_end = 21,
    processor = 22,
    text_part = 32,
    thread = 33,
    communicator = 34,
    operation = 35,
    clock = 36,
    chunk = 255,
};

/// A thread's activity on a lane.
enum class thread_state : std::uint8_t {
    none,            ///< The thread does other work.
    issue,           ///< Accepts, starts or completes tasks.
    poll,            ///< Polls MPI; operations are in flight, and none has completed.
    idle,            ///< Polls for submissions; nothing is in flight.
    timed_wait,      ///< In a timed wait.
    blocked,         ///< Blocked until a thread or another rank wakes it.
    others_progress, ///< In a timed wait, since another thread makes progress.
    callback,        ///< In a function of the program.
    paused,          ///< Paused by the program; the worker polls rarely.
};

/// The value of `lane` for a thread of the library that serves no lane: it is in MPI for the
/// program, or waits.
inline constexpr std::int32_t helper_lane = -2;
/// The value of `lane` for a thread that makes progress for several lanes in quick alternation.
inline constexpr std::uint8_t every_lane = 255;

enum posted_flag : std::uint8_t {
    posted_by_interposer = 1,
    posted_in_order = 2,
    posted_after_others = 4,
    posted_with_handler = 8
};
enum after_flag : std::uint8_t { after_its_member = 1 };
enum operation_flag : std::uint8_t {
    sends = 1,
    receives = 2,
    is_collective = 4,
    takes_message_out = 8,
    takes_matched = 16,
    one_sided = 32
};

/// How a task ended.
enum class task_end : std::uint8_t { open, completed, failed, canceled, abandoned = 5 };

/// The owner of a compute task or a region, and how a compute task leaves its thread. Numbers as in
/// commtask/trace.h.
enum class compute_model : std::uint8_t { openmp = 1, onetbb, program, node };
enum class region_owner : std::uint8_t { mpi = 1, openmp, program, onetbb };
inline constexpr std::uint8_t body_is_done = 2;
inline constexpr std::uint8_t is_fulfilled = 3;

/// Packs two signed halves into `record::value`.
[[nodiscard]] constexpr std::uint64_t halves(std::int32_t low, std::int32_t high) noexcept {
    return static_cast<std::uint32_t>(low) | (static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32U);
}
[[nodiscard]] constexpr std::int32_t low_of(std::uint64_t value) noexcept { return static_cast<std::int32_t>(value); }
[[nodiscard]] constexpr std::int32_t high_of(std::uint64_t value) noexcept {
    return static_cast<std::int32_t>(value >> 32U);
}

/// Values for MPI_ANY_SOURCE or MPI_ANY_TAG, and for MPI_PROC_NULL, which differ between
/// implementations.
inline constexpr std::int32_t any = -1;
inline constexpr std::int32_t nobody = -2;

/// The last word of a record, which its writer stores last, so a reader sees the whole record or
/// none.
struct record_tail {
    std::uint32_t detail = 0;
    record_type type = record_type::none;
    std::uint8_t lane = 0;
    std::uint8_t sub = 0;
    std::uint8_t flags = 0;
};

struct record {
    std::uint64_t time_ns;
    std::uint64_t id;
    std::uint64_t value;
    record_tail tail;
};
static_assert(sizeof(record) == 32 && sizeof(record_tail) == 8);

inline constexpr std::size_t records_per_chunk = chunk_bytes / sizeof(record);
inline constexpr std::size_t text_bytes_per_record = offsetof(record, tail);

struct chunk {
    record records[records_per_chunk]; ///< The first record has the number of the thread.
};
static_assert(sizeof(chunk) == chunk_bytes);

struct file_header {
    char magic[8];
    std::uint32_t version;
    std::uint32_t header_bytes;
    std::uint32_t record_bytes;
    std::uint32_t state;
    std::uint32_t n_chunks_used;
    std::uint32_t n_chunks;
    std::uint64_t run;
    std::uint32_t rank;
    std::uint32_t n_ranks;
    std::uint32_t session;
    std::uint32_t pid;
    std::uint64_t begin_ns;
    std::uint64_t begin_realtime_ns;
    std::uint64_t end_ns;
    std::uint64_t clock_domain;
    std::uint32_t keep;
    std::uint32_t n_threads;
    std::uint64_t n_dropped;
    char host[64];
    char mpi[96];
    char program[256];
    std::uint32_t n_lanes;
    std::uint32_t worker_is_reserved;
    std::int32_t worker_cpu;
};
static_assert(offsetof(file_header, run) == 32 && offsetof(file_header, begin_ns) == 56 &&
              offsetof(file_header, keep) == 88 && offsetof(file_header, host) == 104 &&
              offsetof(file_header, n_lanes) == 520);

/// `file_header::state`.
enum class file_state : std::uint32_t { open, ended, abandoned };

/// A post or a poll that took less time has no record of its end: it would be invisible in a
/// picture.
inline constexpr std::uint64_t shortest_ns = 1'000;
/// A thread that alternates between progress and other work, each for less than this time, is
/// recorded as making progress throughout.
inline constexpr std::uint64_t shortest_turn_ns = 20'000;
/// The time between two samples of a worker's processor time; each sample is a system call.
inline constexpr std::uint64_t sampling_ns = 1'000'000;

} // namespace commtask::detail::trace
