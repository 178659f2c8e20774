// SPDX-License-Identifier: Apache-2.0
// A mode: who carries out the items of a V-cycle, and who talks to MPI. All modes get the same items, so a difference between
// their results is a mistake of who carries them out, and one between their times is what that brings.
#pragma once

#include "cycle.hpp"

#include <commtask/commtask.h>

#include <mpi.h>
#include <span>

namespace multigrid {

enum class mode { baseline, offload, omp, tbb };

class runner {
public:
    explicit runner(int compute_threads)
        : busy_(static_cast<std::size_t>(compute_threads) + 1), n_threads_(compute_threads) {}
    runner(const runner&) = delete;
    runner& operator=(const runner&) = delete;
    virtual ~runner() = default;
    /// All items of the cycle, once.
    virtual void run() = 0;
    /// Collective: the largest of all ranks.
    virtual double collective_max(double mine);
    int compute_threads() const { return n_threads_; }
    /// Seconds that the compute threads have computed so far, all together.
    double busy_seconds() const;

protected:
    /// Does an item's work on this thread of the team.
    void work(const item& of, int thread);

private:
    struct alignas(64) busy_time {
        double seconds = 0;
    };
    std::vector<busy_time> busy_; // oneTBB may lend an arena of one thread a second one
    int n_threads_;
};

/// The communicators of the lanes; the first serves collectives.
using lane_comms = std::span<const MPI_Comm>;

/// The cycle and the communicators outlive the runner.
std::unique_ptr<runner> make_baseline(const cycle& on, lane_comms lanes, int n_cores);
std::unique_ptr<runner> make_offload(const cycle& on, lane_comms lanes, int n_cores);
std::unique_ptr<runner> make_omp(const cycle& on, lane_comms lanes, int n_cores);
std::unique_ptr<runner> make_tbb(const cycle& on, lane_comms lanes, int n_cores);

struct mode_description {
    mode which;
    const char* name;
    std::unique_ptr<runner> (*make)(const cycle& on, lane_comms lanes, int n_cores);
};
std::span<const mode_description> modes();

/// A message of a cycle as a communication task.
commtask_op operation_of(const message& what, lane_comms lanes);

} // namespace multigrid
