// SPDX-License-Identifier: Apache-2.0
//
// Writes the records of a trace. Each thread has its own chunks of a common memory. So a write
// takes no lock, and needs an atomic instruction only for a new chunk, every 511 records. The
// memory is bounded; records without room are counted. The memory is a mapped file
// (report/trace_file.hpp), so records survive any end of the process.
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

/// Provides the memory of chunks, before they are used for the first time.
class trace_room {
public:
    /// Any thread.
    /// @return false if there is no memory for the chunks; then the tracer does not call again
    [[nodiscard]] virtual bool reserve(std::size_t first_chunk, std::size_t count) noexcept = 0;

protected:
    ~trace_room() = default;
};

/// One trace. Never destroyed while the program runs, and its memory is never freed: a thread may
/// be about to write when the trace ends.
class tracer final : public activity_observer {
public:
    /// @param chunks  zeroed; the first chunk is the header, in which the caller writes all fields
    /// except the counters
    tracer(std::span<trace::chunk> chunks, trace_room& room, bool keeps_newest);
    tracer(const tracer&) = delete;
    tracer& operator=(const tracer&) = delete;
    ~tracer();

    /// The current trace, or null. acquire: partner of the release in begin().
    [[nodiscard]] static tracer* current() noexcept { return current_.load(std::memory_order_acquire); }
    /// Makes this trace the current one, and writes all texts known so far.
    void begin() noexcept;
    /// Ends the current trace.
    static void end() noexcept { current_.store(nullptr, std::memory_order_release); }

    // Any thread, its own records -----------------------------------------------------------------

    void write(const trace::record& made) noexcept {
        if (trace::record* const slot = take_slot()) put(*slot, made);
    }

    /// The time of the calling thread's last record: approximately now, without reading the clock.
    [[nodiscard]] std::uint64_t last_time_ns() noexcept;

    /// Records the calling thread's activity on a lane, if it changes. For a thread that is no
    /// worker, only progress is distinguished from everything else: the records of tasks tell which
    /// tasks it started and completed. A thread that quickly alternates between lanes is recorded
    /// with trace::every_lane.
    void thread_does(std::uint8_t lane, activity now) noexcept override;

    /// A new identifier for a task of the calling thread.
    [[nodiscard]] std::uint64_t new_id() noexcept;

    /// The compute task that the calling thread executes; 0: none.
    [[nodiscard]] std::uint64_t running_compute() noexcept;
    void set_running_compute(std::uint64_t id) noexcept;

    /// The communication task whose end the calling thread has observed last; 0: none.
    [[nodiscard]] std::uint64_t last_ended() noexcept;
    void set_last_ended(std::uint64_t id) noexcept;

    /// Declares the calling thread a worker of a lane, or a helper (trace::helper_lane), before the
    /// thread writes anything.
    void begin_worker(int lane) noexcept override { begin_thread(lane); }

    // Any thread, with a lock: records of no thread -----------------------------------------------

    /// The number of a text, which is the same in every trace of the process; 0 without memory.
    [[nodiscard]] static std::uint32_t number_of(std::string_view text) noexcept;

    void write_common(const trace::record& made) noexcept;

    /// Closes the trace: no thread gets another chunk.
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

    /// Distinguishes the threads' buffers of this trace from those of an earlier trace.
    const std::uint64_t epoch_;
    const std::span<trace::chunk> chunks_;
    trace_room& room_;
    const bool keeps_newest_;
    /// The largest number of chunks; reduced if there is no memory.
    std::atomic<std::size_t> n_chunks_;
    /// The number of chunks whose memory is allocated, including the header.
    std::atomic<std::size_t> n_ready_{1};
    std::mutex room_lock_;
    std::mutex common_;
    /// The buffer of the common records; guarded by `common_`.
    const std::unique_ptr<thread_buffer> common_buffer_;
};

} // namespace commtask::detail
