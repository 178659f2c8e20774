// SPDX-License-Identifier: Apache-2.0
//
// Applies a placement to the threads of this process. Compute threads are kept off the workers'
// cores by narrower masks for the threads that exist. Threads that start later inherit the mask,
// and libomp takes its places from the mask of the thread that first enters it. Threads with
// another mask were bound elsewhere, and are left as they are.
#pragma once

#include "base/cpu_set.hpp"
#include "node/placement.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <system_error>

namespace commtask::detail {

/// The CPUs on which a thread of this process may run; 0 is the calling thread. No value if there
/// is no such thread.
[[nodiscard]] std::optional<cpu_set> thread_cpus(int thread_id = 0);

[[nodiscard]] std::error_code set_thread_cpus(const cpu_set& cpus, int thread_id = 0);

/// The CPUs that the launcher gave this process: the CPUs of the calling thread or, once an OpenMP
/// runtime may have bound the calling thread to one core, the CPUs of all threads together.
[[nodiscard]] cpu_set process_cpus();

/// Keeps the threads of this process off some CPUs until `restore`. Not thread-safe: one thread
/// uses an object.
class process_narrowing {
public:
    /// Moves every thread whose mask is exactly `from` to `to`.
    process_narrowing(cpu_set from, cpu_set to);
    process_narrowing(const process_narrowing&) = delete;
    process_narrowing& operator=(const process_narrowing&) = delete;
    ~process_narrowing() { restore(); }

    /// Gives the mask `to` to every thread whose mask is still exactly the narrowed one. `to` is
    /// the narrowed mask from then on.
    void change_to(cpu_set to);

    /// Gives the old mask back to every thread whose mask is still exactly the narrowed one.
    void restore();

    /// The last error of the system, if any. The other threads were moved all the same.
    [[nodiscard]] std::error_code failure() const { return failure_; }

private:
    void move_all(const cpu_set& from, const cpu_set& to);

    cpu_set from_;
    cpu_set to_;
    bool is_narrowed_ = false; ///< Also false if there is nothing to narrow.
    std::error_code failure_;
};

/// Call it first on the thread of a worker. Binds the thread to its lane's CPU; a worker that
/// shares its core gets the rank's compute CPUs, whatever mask it inherited.
[[nodiscard]] std::error_code bind_worker(const rank_placement& placement, std::size_t lane);

/// Call it after the narrowing. Returns a sentence of advice if an LLVM OpenMP runtime had read the
/// mask before, so that its threads can run on the worker's core. Does not start an OpenMP runtime.
[[nodiscard]] std::optional<std::string> openmp_started_too_early(const rank_placement& placement);

} // namespace commtask::detail
