// SPDX-License-Identifier: Apache-2.0
//
// Threads write the records of a trace here. Each thread has chunks of its own from a common
// memory. So a write takes no lock, and an atomic instruction only for a new chunk, every 511
// records. The memory is bounded; records that find no room are counted. The memory belongs to a
// file (report/trace_file.hpp), so records outlive the process, however it ends.
#pragma once

#include "core/observer.hpp"
#include "core/trace_record.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>

namespace commtask::detail {

/// Provides the memory: called before chunks are used for the first time.
class trace_room {
public:
    /// Any thread.
    /// @return false if there is no memory for the chunks: then no thread asks again
    [[nodiscard]] virtual bool reserve(std::size_t first_chunk, std::size_t count) noexcept = 0;

protected:
    ~trace_room() = default;
};

/// One trace. The trace of a running program is never destroyed, and its memory is never given
/// back: a thread may be about to write when the trace ends.
class tracer final : public activity_observer {
public:
    /// @param chunks  zeroed; the first chunk is the header, in which the caller writes all fields
    /// but the counters
    tracer(std::span<trace::chunk> chunks, trace_room& room, bool keeps_newest);
    tracer(const tracer&) = delete;
    tracer& operator=(const tracer&) = delete;
    ~tracer();

    /// The current trace, or null. acquire: partner of the release in begin().
    [[nodiscard]] static tracer* current() noexcept { return current_.load(std::memory_order_acquire); }
    /// Makes this trace the current one. The trace begins with all known texts.
    void begin() noexcept;
    /// Ends the current trace.
    static void end() noexcept { current_.store(nullptr, std::memory_order_release); }

    // Any thread, its own records -----------------------------------------------------------------

    void write(const trace::record& made) noexcept {
        if (trace::record* const slot = take_slot()) put(*slot, made);
    }

    /// The time of the calling thread's last record: about now, without reading the clock.
    [[nodiscard]] std::uint64_t last_time_ns() noexcept;

    /// Records the calling thread's activity for a lane from now on; nothing is written if the
    /// activity does not change. For a thread that is no worker, only progress is distinguished
    /// from everything else: the records of tasks say which tasks it started and ended. A thread
    /// that makes progress for lanes in turns, for a moment each, is recorded with
    /// trace::every_lane.
    void thread_does(std::uint8_t lane, activity now) noexcept override;

    /// An identifier for a task that the calling thread makes.
    [[nodiscard]] std::uint64_t new_id() noexcept;

    /// The compute task that the calling thread runs; 0: none.
    [[nodiscard]] std::uint64_t running_compute() noexcept;
    void set_running_compute(std::uint64_t id) noexcept;

    /// The communication task whose end the calling thread has seen last; 0: none.
    [[nodiscard]] std::uint64_t last_ended() noexcept;
    void set_last_ended(std::uint64_t id) noexcept;

    /// The calling thread is the worker of a lane, or a helper (trace::helper_lane). Called before
    /// the thread writes anything.
    void begin_worker(int lane) noexcept override { begin_thread(lane); }

    // Any thread, with a lock: records of no thread -----------------------------------------------

    /// The number of a text; the same in every trace of the process. 0 without memory.
    [[nodiscard]] static std::uint32_t number_of(std::string_view text) noexcept;

    void write_common(const trace::record& made) noexcept;

    /// From here on no thread gets a chunk.
    /// @return how many chunks were used
    std::size_t close() noexcept;

private:
    struct thread_buffer;
    static thread_buffer& mine() noexcept;

    [[nodiscard]] trace::record* take_slot() noexcept;
    [[nodiscard]] trace::record* take_slow(thread_buffer& of) noexcept;
    static void put(trace::record& slot, const trace::record& made) noexcept;
    void begin_thread(int lane) noexcept;
    [[nodiscard]] trace::record* next_chunk(thread_buffer& of) noexcept;
    [[nodiscard]] trace::chunk* take_chunk(bool is_early) noexcept;
    void make_room(std::size_t needed) noexcept;
    void write_text(std::uint32_t number, std::string_view text) noexcept;
    [[nodiscard]] trace::file_header& header() noexcept {
        return *reinterpret_cast<trace::file_header*>(chunks_.data());
    }

    static std::atomic<tracer*> current_;

    /// Distinguishes the threads' places of this trace from those of an earlier trace.
    const std::uint64_t epoch_;
    const std::span<trace::chunk> chunks_;
    trace_room& room_;
    const bool keeps_newest_;
    /// The number of chunks that there may be; it falls when there is no memory.
    std::atomic<std::size_t> n_chunks_;
    /// The number of chunks with memory behind them: the header, and the reserved chunks.
    std::atomic<std::size_t> n_ready_{1};
    std::mutex room_lock_;
    std::mutex common_;
    const std::unique_ptr<thread_buffer> common_buffer_; ///< Receives the common records; used with the lock.
};

} // namespace commtask::detail
