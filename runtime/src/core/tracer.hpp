// SPDX-License-Identifier: Apache-2.0
//
// Where threads write the records of a trace. Each thread has chunks of its own out of a common room, so writing takes no lock
// and no atomic instruction but for a new chunk, every 511 records; the room is bounded, and what finds none is counted. The
// memory belongs to a file (report/trace_file.hpp), so what was written outlives the process, however that ends.
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

/// Who gives the room: asked before chunks are used for the first time.
class trace_room {
public:
    /// Any thread. @return false if there is no room for them: nobody asks again
    [[nodiscard]] virtual bool reserve(std::size_t first_chunk, std::size_t count) noexcept = 0;

protected:
    ~trace_room() = default;
};

/// One trace. Of a program that runs on it is never destroyed, and its memory is never given back, since a thread may be about
/// to write when it ends.
class tracer final : public activity_observer {
public:
    /// @param chunks  zeroed; the first one is the header, whose fields but those of counting are the caller's
    tracer(std::span<trace::chunk> chunks, trace_room& room, bool keeps_newest);
    tracer(const tracer&) = delete;
    tracer& operator=(const tracer&) = delete;
    ~tracer();

    /// The trace in force, or null.
    [[nodiscard]] static tracer* current() noexcept { return current_.load(std::memory_order_acquire); }
    /// From here on it is the one in force; it begins with the texts that are known.
    void begin() noexcept;
    /// No trace is in force.
    static void end() noexcept { current_.store(nullptr, std::memory_order_release); }

    // Any thread, its own records --------------------------------------------------------------------------------------

    void write(const trace::record& made) noexcept {
        if (trace::record* const slot = take_slot()) put(*slot, made);
    }

    /// About now, without a look at the clock: when the calling thread wrote its last record.
    [[nodiscard]] std::uint64_t last_time_ns() noexcept;

    /// What the calling thread does for a lane from now on; nothing is written if it does so already. Of who is no worker only that
    /// it drives is kept apart from the rest: the records of tasks say what it started and ended; and who drives lanes in turns, each
    /// for a moment, drives trace::every_lane.
    void thread_does(std::uint8_t lane, activity now) noexcept override;

    /// An identifier for a task that the calling thread makes.
    [[nodiscard]] std::uint64_t new_id() noexcept;

    /// The compute task that the calling thread runs; 0: none.
    [[nodiscard]] std::uint64_t running_compute() noexcept;
    void set_running_compute(std::uint64_t id) noexcept;

    /// The communication task whose end the calling thread has seen last; 0: none.
    [[nodiscard]] std::uint64_t last_ended() noexcept;
    void set_last_ended(std::uint64_t id) noexcept;

    /// The calling thread is the worker of a lane, or a helper (trace::helper_lane). Before it writes anything.
    void begin_worker(int lane) noexcept override { begin_thread(lane); }

    // Any thread, with a lock: what belongs to nobody -------------------------------------------------------------------

    /// The number of a text; the same in every trace of the process. 0 without memory.
    [[nodiscard]] static std::uint32_t number_of(std::string_view text) noexcept;

    void write_common(const trace::record& made) noexcept;

    /// Nobody gets a chunk any more. @return how many were used
    std::size_t close() noexcept;

private:
    struct place;
    static place& mine() noexcept;

    [[nodiscard]] trace::record* take_slot() noexcept;
    [[nodiscard]] trace::record* take_slow(place& of) noexcept;
    static void put(trace::record& slot, const trace::record& made) noexcept;
    void begin_thread(int lane) noexcept;
    [[nodiscard]] trace::record* next_chunk(place& of) noexcept;
    [[nodiscard]] trace::chunk* take_chunk(bool is_early) noexcept;
    void make_room(std::size_t needed) noexcept;
    void write_text(std::uint32_t number, std::string_view text) noexcept;
    [[nodiscard]] trace::file_header& header() noexcept {
        return *reinterpret_cast<trace::file_header*>(chunks_.data());
    }

    static std::atomic<tracer*> current_;

    const std::uint64_t epoch_; ///< Tells the threads' places of this trace from those of an earlier one.
    const std::span<trace::chunk> chunks_;
    trace_room& room_;
    const bool keeps_newest_;
    std::atomic<std::size_t> n_chunks_;   ///< How many there may be; falls when there is no room.
    std::atomic<std::size_t> n_ready_{1}; ///< So many have room behind them: the header, and what was asked for.
    std::mutex room_lock_;
    std::mutex common_;
    const std::unique_ptr<place> nobody_; ///< Where the common records go; under the lock.
};

} // namespace commtask::detail
