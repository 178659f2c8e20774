// SPDX-License-Identifier: Apache-2.0
//
// The trace file of a rank. The rank's threads write to it as mapped memory, so a process that
// crashes, is killed or calls _exit keeps the records that it has written. The file has its maximum
// length from the start, but uses disk space only as it is written.
#pragma once

#include "core/tracer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace commtask::detail {

/// The contents of a file's header.
struct trace_plan {
    std::string folder;
    std::size_t most_mib = 64;
    bool keeps_newest = false;
    int rank = 0;
    int n_ranks = 1;
    int session = 1;
    std::uint64_t run = 0; ///< Agreed on by all ranks; 0: not agreed on.
    std::string mpi;
    unsigned n_lanes = 1;
    bool worker_is_reserved = false;
    int worker_cpu = -1;
};

class trace_file final : private trace_room {
public:
    /// Creates the folder and the file. The result is never destroyed, and neither is its tracer.
    /// @param why  an error message, if the result is null
    [[nodiscard]] static trace_file* open(const trace_plan& plan, std::string& why);

    [[nodiscard]] tracer& records() noexcept { return *tracer_; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    /// From here on no thread takes a new chunk; a thread that has one may continue to write to it.
    void close(trace::file_state state) noexcept;
    /// Called if the library does not start, so that the file has no contents. Must precede
    /// close(), if that is called.
    void remove(bool will_be_closed) noexcept;

    /// Precondition: close(). The number of records for which there was no space, and whether the
    /// disk was full.
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

    static trace_file* latest_; ///< Links all files of the process, since none is destroyed.

    trace_file* const before_;
    const std::string path_;
    /// A thread that reserves chunks may run concurrently with close().
    std::mutex descriptor_lock_;
    int descriptor_; ///< -1: closed.
    trace::chunk* const chunks_;
    const std::size_t n_chunks_;
    std::unique_ptr<tracer> tracer_;
    std::atomic<bool> is_disk_full_{false};
};

} // namespace commtask::detail
