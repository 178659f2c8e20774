// SPDX-License-Identifier: Apache-2.0
//
// Applies a placement to the threads of this process. Compute threads are kept off the workers'
// cores by narrower affinity masks of the existing threads. Threads that start later inherit the
// mask, and libomp takes its OpenMP places from the mask of the first thread that enters it.
// Threads with another mask were bound by other software, and do not change.
#pragma once

#include "base/cpu_set.hpp"
#include "node/placement.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <system_error>

namespace commtask::detail {

/// The CPUs on which a thread of this process may run; 0: the calling thread. No value if there is
/// no such thread.
[[nodiscard]] std::optional<cpu_set> thread_cpus(int thread_id = 0);

[[nodiscard]] std::error_code set_thread_cpus(const cpu_set& cpus, int thread_id = 0);

/// The CPUs that the launcher gave this process: the mask of the calling thread. If an OpenMP
/// runtime may have bound that thread to one core, the union of the masks of all threads.
[[nodiscard]] cpu_set process_cpus();

/// Keeps the threads of this process off some CPUs until restore(). Not thread-safe.
class process_narrowing {
public:
    /// Sets the mask `to` for every thread whose mask is exactly `from`.
    process_narrowing(cpu_set from, cpu_set to);
    process_narrowing(const process_narrowing&) = delete;
    process_narrowing& operator=(const process_narrowing&) = delete;
    ~process_narrowing() { restore(); }

    /// Sets the mask `to` for every thread that still has the narrowed mask. `to` becomes the
    /// narrowed mask.
    void change_to(cpu_set to);

    /// Restores the old mask for every thread that still has the narrowed mask.
    void restore();

    /// The last system error, if any. The other threads were moved nevertheless.
    [[nodiscard]] std::error_code failure() const { return failure_; }

private:
    void move_all(const cpu_set& from, const cpu_set& to);

    cpu_set from_;
    cpu_set to_;
    bool is_narrowed_ = false; ///< Also false if there is nothing to narrow.
    std::error_code failure_;
};

/// Called first on the thread of a worker. Binds the thread to its lane's CPU, or to the rank's
/// compute CPUs if the worker shares its core.
[[nodiscard]] std::error_code bind_worker(const rank_placement& placement, std::size_t lane);

/// Called after the narrowing.
/// @return a warning if an LLVM OpenMP runtime read the mask before, so that its threads may run on
/// the worker's core. Does not initialize an OpenMP runtime
[[nodiscard]] std::optional<std::string> openmp_started_too_early(const rank_placement& placement);

} // namespace commtask::detail
