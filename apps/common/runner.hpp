// SPDX-License-Identifier: Apache-2.0
// A mode: who carries out the items of a list, and who talks to MPI. All modes get the same items, so a difference between
// their results is a mistake of who carries them out, and one between their times is what that brings. A miniapp has a table
// of those that suit it.
#pragma once

#include "common/items.hpp"
#include "common/parsed.hpp"
#include "common/phases.hpp"

#include <memory>

namespace miniapp {

/// Compute threads beside a thread or worker that communicates.
inline int beside_one(int n_cores) { return std::max(1, n_cores - 1); }

class runner {
public:
    virtual ~runner() = default;
    runner(const runner&) = delete;
    runner& operator=(const runner&) = delete;

    /// So many stages, after the last one the first again. On return all is done and no message is under way.
    phase_times run(int n_stages);
    [[nodiscard]] int compute_threads() const { return n_threads_; }

protected:
    /// @param is_graph  what a compute thread does beside items and posting is waiting
    runner(const item_list& on, int compute_threads, bool is_graph);
    /// Writes `post`, and `wait` if it is no graph.
    virtual void carry_out(int n_stages, phase_times& times) = 0;
    [[nodiscard]] const item_list& list() const { return list_; }
    /// Does an item's work on this thread of the team.
    void work(const item& of, int thread) {
        (of.when == part::core ? core_ : other_).add(thread, [&] { of.work(); });
    }

private:
    const item_list& list_;
    int n_threads_;
    bool is_graph_;
    work_times core_, other_;
};

/// The items outlive the runner.
using make_runner = std::unique_ptr<runner>(const item_list& on, int n_cores);
make_runner make_baseline; ///< All cores compute the parts of a stage one after the other, the master posts and waits.
make_runner make_offload;  ///< Baseline's shape on one core less; the worker calls MPI.
make_runner make_omp;      ///< OpenMP tasks, no barrier between stages.
make_runner make_tbb;      ///< A oneTBB flow graph of one round, made once. Where the build has oneTBB.

/// For other modes: messages by MPI's own calls.
class mpi_messages {
public:
    void start(item_list::group some);
    void wait();

private:
    std::vector<MPI_Request> requests_;
    std::vector<const message*> open_;
};

/// For other modes: posts messages of a stage; their tasks come behind those in `tasks`.
void post(item_list::group messages, std::vector<commtask_t>& tasks);

struct mode : mode_facts {
    make_runner* make;
};
/// Baseline, offload, omp and, where the build has oneTBB, tbb.
std::span<const mode> modes();

} // namespace miniapp
