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
        (of.when == part::core ? core_ : other_).add(thread, [&] { of.work(thread); });
    }

private:
    const item_list& list_;
    int n_threads_;
    bool is_graph_;
    work_times core_, other_;
};

/// The items outlive the runner.
using make_runner = std::unique_ptr<runner>(const item_list& on, int n_cores);
make_runner make_plain;    ///< One thread, message by message in MPI's own calls, nothing overlapped.
make_runner make_baseline; ///< All cores compute the parts of a stage one after the other, the master posts and waits.
make_runner make_commself; ///< Baseline's shape on one core less, beside a thread that waits inside MPI.
make_runner make_offload;  ///< The same, the worker calls MPI.
make_runner make_omp;      ///< OpenMP tasks, no barrier between stages.
make_runner make_tbb;      ///< A oneTBB flow graph, made once, no barrier either. Where the build has oneTBB.

/// Baseline, whose master calls MPI_Iprobe after every so many of its items of the core.
std::unique_ptr<runner> make_iprobe(const item_list& on, int n_cores, MPI_Comm comm, int every);
using part_order = std::array<part, n_parts>;
inline constexpr part_order usual_order{part::receive, part::prepare, part::send, part::core,
                                        part::edge,    part::unpack,  part::shell};
/// Offload with the parts of a stage in another order.
std::unique_ptr<runner> make_offload_in_order(const item_list& on, int n_cores, const part_order& order);

/// For other modes: messages by MPI's own calls.
class mpi_messages {
public:
    void start(item_list::group some);
    void wait();
    void after_core() {}

private:
    std::vector<MPI_Request> requests_;
    std::vector<const message*> open_;
};

/// For other modes: posts messages of a stage; their tasks come behind those in `tasks`.
void post(item_list::group messages, std::vector<commtask_t>& tasks);

/// Seconds that the messages of a stage take by MPI's own calls when nothing else happens, on average over the stages: the
/// yardstick of the overlap column. Collective.
double message_seconds(const item_list& of, MPI_Comm comm);

struct mode : mode_facts {
    make_runner* make;
};
/// Baseline, offload, omp and, where the build has oneTBB, tbb.
std::span<const mode> modes();

} // namespace miniapp
