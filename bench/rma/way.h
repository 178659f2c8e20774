// SPDX-License-Identifier: Apache-2.0
//
// The two ways of bench rma to access a window of another rank: by MPI's own calls, in a program that knows nothing of commtask
// and so runs natively, with a progress thread and under commtask-run; and by tasks. What is asked of them is written once.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace commtask::bench::rma {

/// One access, in an epoch of both ranks' lock_all.
enum class kind : std::uint8_t { put, get, accumulate };
inline constexpr std::array operations{kind::put, kind::get, kind::accumulate};
[[nodiscard]] constexpr const char* name_of(kind what) {
    constexpr std::array names{"put", "get", "accumulate"};
    return names[static_cast<std::size_t>(what)];
}

/// Who accesses and who is accessed.
inline constexpr int origin = 0;
inline constexpr int target = 1;

class way {
public:
    way() = default;
    way(const way&) = delete;
    way& operator=(const way&) = delete;
    virtual ~way() = default;

    [[nodiscard]] virtual int rank() const = 0;
    virtual void barrier() = 0;
    /// The origin's value, on both.
    virtual void share(double& value) = 0;
    /// Both ranks, around all accesses.
    virtual void open(MPI_Win window) = 0;
    virtual void close() = 0;

    // The origin: from start() to the end of finish(), when the data are at the target, or here.
    virtual void start(kind what, char* buffer, int bytes) = 0;
    virtual void finish(kind what) = 0;
};

/// Starts MPI, and the runtime if this is the program with tasks; ends them in the destructor.
[[nodiscard]] std::unique_ptr<way> make_way(const std::string& question);

/// Questions that only tasks can answer; false: none of them.
[[nodiscard]] bool ask_more(way& by, const std::string& question, int n_samples, const std::string& json_file);

} // namespace commtask::bench::rma
