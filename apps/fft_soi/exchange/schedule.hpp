// SPDX-License-Identifier: Apache-2.0
// A schedule: who computes which piece when, who talks to MPI, and what waits for what. All schedules run the same work
// and move the same blocks; one file per schedule. They know nothing of Fourier transforms.
#pragma once

#include "common/parsed.hpp"
#include "common/phases.hpp"
#include "exchange/messages.hpp"
#include "exchange/work.hpp"

#include <memory>
#include <mpi.h>
#include <string>
#include <vector>

namespace tiled {

/// `internal` is producing, before the exchange, and `external` consuming, after it; `misc`: barriers, task overhead, copies.
struct phase_times : miniapp::phase_times {
    traffic sent; ///< What was handed over, counted where it was.
    phase_times& operator+=(const phase_times& other) {
        miniapp::phase_times::operator+=(other);
        sent += other.sent;
        return *this;
    }
};

/// One piece of work on one thread, for the timeline. Seconds since the run began.
struct span {
    enum class kind : unsigned char { produce, consume, wait };
    kind what;
    int worker;
    int number; ///< Piece or segment; of a wait: the segment, or -1 for the halo.
    double begin;
    double end;
};

struct schedule_options {
    MPI_Comm comm = MPI_COMM_NULL;
    int n_cores = 1;       ///< Cores this rank may use, one communication thread included.
    int at_once = 4;       ///< Modes offload, omp, tbb: messages in flight; 0: all.
    int probe_every = 1;   ///< Mode iprobe: pieces between two MPI_Iprobe.
    bool has_plan = false; ///< Modes offload, omp: the messages are plans, and what is ready leaves at once.
    std::vector<MPI_Comm>
        lanes{}; ///< Modes offload, omp, tbb: what messages are sent on in turns; none: all on `comm`.

    [[nodiscard]] message_comms messages() const {
        int n_ranks = 1;
        if (!lanes.empty()) MPI_Comm_size(comm, &n_ranks);
        return {comm, lanes, n_ranks - 1};
    }
};

class schedule {
public:
    virtual ~schedule() = default;
    /// Runs the work once; on return all of it is done and no message is under way. Collective.
    virtual phase_times run(work& of) = 0;
    /// All ranks have called it. Usable between runs, whoever owns MPI in this mode.
    virtual void barrier() = 0;
    /// Threads that call the work; work::produce() gets numbers below this.
    virtual int compute_threads() const = 0;
    /// Cores in use: compute threads and the communication thread where there is one.
    virtual int cores() const { return compute_threads(); }

    /// From now on runs put their spans here, after what is there; null: they do not. Costs two stores per piece.
    void trace_to(std::vector<span>* into) { trace_ = into; }

protected:
    std::vector<span>* trace_ = nullptr;
};

enum class mode { serial, baseline, seg, p2p, persistent, partitioned, iprobe, commself, offload, omp, tbb };

struct mode_description : miniapp::mode_facts {
    mode which;
    std::unique_ptr<schedule> (*make)(const schedule_options& options);
};
/// Those that this build has.
const std::vector<mode_description>& modes();
const mode_description& describe(mode which);

/// Compute threads of a mode on n_cores cores, before there is a schedule.
int compute_threads_of(mode which, int n_cores);
/// With the communication thread where there is one.
int cores_of(mode which, int n_cores);

/// Throws std::invalid_argument if the communicator is null.
std::unique_ptr<schedule> make_schedule(mode which, const schedule_options& options);

std::unique_ptr<schedule> make_serial_schedule(const schedule_options& options);
std::unique_ptr<schedule> make_baseline_schedule(const schedule_options& options);
std::unique_ptr<schedule> make_seg_schedule(const schedule_options& options);
std::unique_ptr<schedule> make_p2p_schedule(const schedule_options& options);
std::unique_ptr<schedule> make_persistent_schedule(const schedule_options& options);
/// Where MPI is MPI 4.
std::unique_ptr<schedule> make_partitioned_schedule(const schedule_options& options);
std::unique_ptr<schedule> make_iprobe_schedule(const schedule_options& options);
std::unique_ptr<schedule> make_commself_schedule(const schedule_options& options);
std::unique_ptr<schedule> make_offload_schedule(const schedule_options& options);
std::unique_ptr<schedule> make_omp_schedule(const schedule_options& options);
/// Where the build has the oneTBB face (COMMTASK_BUILD_TBB).
std::unique_ptr<schedule> make_tbb_schedule(const schedule_options& options);

/// Seconds that the work's messages take when nothing else happens: the yardstick of the overlap column. Collective.
double measure_messages(work& of, MPI_Comm comm);

} // namespace tiled
