// SPDX-License-Identifier: Apache-2.0
//
// The file of a rank's trace, which is the memory that its threads write to: a process that crashes, is killed or calls _exit
// leaves behind what it had written. It is as long as it may become from the start, but takes room on the disk as it is used.
#pragma once

#include "core/tracer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace commtask::detail {

/// What a file's header says of its rank.
struct trace_plan {
    std::string folder;
    std::size_t most_mib = 64;
    bool keeps_newest = false;
    int rank = 0;
    int n_ranks = 1;
    int session = 1;
    std::uint64_t run = 0; ///< Agreed on by all ranks; 0: not.
    std::string mpi;
    unsigned n_lanes = 1;
    bool worker_is_reserved = false;
    int worker_cpu = -1;
};

class trace_file final : private trace_room {
public:
    /// Makes the folder and the file. The result is never destroyed, as its tracer is not.
    /// @param why  a sentence, if the result is null
    [[nodiscard]] static trace_file* open(const trace_plan& plan, std::string& why);

    [[nodiscard]] tracer& records() noexcept { return *tracer_; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    /// Nobody writes chunks of his own any more; those who have one may write on.
    void close(trace::file_state state) noexcept;
    /// The library does not start: there is nothing to read. Before close(), if that comes.
    void remove(bool will_be_closed) noexcept;

    /// After close(): how many records there was no room for, and whether the disk had none.
    [[nodiscard]] std::uint64_t n_lost() const noexcept { return header().n_dropped; }
    [[nodiscard]] bool is_disk_full() const noexcept { return is_disk_full_.load(std::memory_order_relaxed); }

private:
    trace_file(std::string path, int descriptor, trace::chunk* chunks, std::size_t n_chunks) noexcept
        : before_(std::exchange(latest_, this)), path_(std::move(path)), descriptor_(descriptor), chunks_(chunks),
          n_chunks_(n_chunks) {}
    [[nodiscard]] bool reserve(std::size_t first_chunk, std::size_t count) noexcept override;
    void introduce(const trace_plan& plan);
    [[nodiscard]] trace::file_header& header() const noexcept {
        return *reinterpret_cast<trace::file_header*>(chunks_);
    }

    static trace_file* latest_; ///< All that there were stay.

    trace_file* const before_;
    const std::string path_;
    std::mutex descriptor_lock_; ///< A thread that makes room may meet the end.
    int descriptor_;             ///< -1: closed.
    trace::chunk* const chunks_;
    const std::size_t n_chunks_;
    std::unique_ptr<tracer> tracer_;
    std::atomic<bool> is_disk_full_{false};
};

} // namespace commtask::detail
