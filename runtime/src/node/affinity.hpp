// SPDX-License-Identifier: Apache-2.0
//
// Carries a placement out on the threads of this process. Compute threads are kept off the workers' cores by narrowing
// the masks of the threads that exist: what they start later inherits it, and libomp takes its places from the mask of
// the thread that first enters it. Threads that somebody has bound elsewhere are left as they are.
#pragma once

#include "base/cpu_set.hpp"
#include "node/placement.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <system_error>

namespace commtask::detail {

/// The CPUs on which a thread of this process may run; 0 is the calling thread. Nothing if there is no such thread.
[[nodiscard]] std::optional<cpu_set> thread_cpus(int thread_id = 0);

[[nodiscard]] std::error_code set_thread_cpus(const cpu_set& cpus, int thread_id = 0);

/// The CPUs that the launcher gave this process: those of the calling thread; or, once an OpenMP runtime may have bound
/// the calling thread to one core, those of all threads together.
[[nodiscard]] cpu_set process_cpus();

/// Keeps the threads of this process off some CPUs until `restore`. Not thread-safe: one owner.
class process_narrowing {
public:
    /// Moves every thread whose mask is exactly `from` to `to`.
    process_narrowing(cpu_set from, cpu_set to);
    process_narrowing(const process_narrowing&) = delete;
    process_narrowing& operator=(const process_narrowing&) = delete;
    ~process_narrowing() { restore(); }

    /// Moves every thread whose mask is still exactly the narrowed one to another one, which is the narrowed one from now on.
    void change_to(cpu_set to);

    /// Gives every thread whose mask is still exactly the narrowed one the old one back.
    void restore();

    /// The last refusal of the system, if any; the other threads were moved all the same.
    [[nodiscard]] std::error_code failure() const { return failure_; }

private:
    void move_all(const cpu_set& from, const cpu_set& to);

    cpu_set from_;
    cpu_set to_;
    bool is_narrowed_ = false; ///< Also false if there is nothing to narrow.
    std::error_code failure_;
};

/// To be called first on the thread of a worker: binds it to its lane's CPU; a worker that shares gets the rank's
/// compute CPUs, whatever mask it inherited from the thread that created it.
[[nodiscard]] std::error_code bind_worker(const rank_place& place, std::size_t lane);

/// After the narrowing: a sentence of advice if an LLVM OpenMP runtime had read the mask before, so that its threads can
/// land on the worker's core. Does not start an OpenMP runtime that has not started.
[[nodiscard]] std::optional<std::string> openmp_started_too_early(const rank_place& place);

} // namespace commtask::detail
