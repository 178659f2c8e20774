// SPDX-License-Identifier: Apache-2.0
// The chain of hops as a list of items (tiles, packs and messages, each with what it waits for) and the mode that carries it out. Every
// mode gets the same items; who talks to MPI, when, and what waits for what is the runner's (common/runner.hpp).
#pragma once

#include "bad.hpp"
#include "common/runner.hpp"
#include "stencil.hpp"

#include <commtask/commtask.hpp>

#include <list>
#include <memory>
#include <mpi.h>
#include <vector>

namespace dslash {

/// `internal`: tiles that need no halo; `misc`: packing, faces, barriers, task overhead.
using miniapp::phase_times;

struct exchange_options {
    MPI_Comm comm = MPI_COMM_NULL;
    int n_cores = 1;                 ///< Cores this rank may use, one communication thread included.
    int probe_every = 4;             ///< Mode iprobe: interior tiles between two MPI_Iprobe.
    bad_habit bad = bad_habit::none; ///< Mode offload.
    bool has_plan = true;            ///< Modes offload, omp and tbb: the messages of a hop are plans.
    bool is_bound = false;           ///< Mode omp, without a plan: packing a face and sending it are one task.
    std::vector<MPI_Comm> lanes{};   ///< Modes with a worker: what each cut direction is sent on; none: all on `comm`.
};

/// `plain` is the blocking exchange that the others are checked against.
enum class mode { plain, baseline, iprobe, commself, offload, omp, tbb };

struct mode_description : miniapp::mode_facts {
    mode which;
    std::unique_ptr<miniapp::runner> (*make)(const miniapp::item_list& on, const exchange_options& options);
};
const std::vector<mode_description>& modes();
const mode_description& describe(mode which);

class exchange {
public:
    exchange(mode which, stencil& on, const exchange_options& options);
    exchange(const exchange&) = delete;
    exchange& operator=(const exchange&) = delete;

    /// D from odd sites to even ones, then back, and so on; `out` may be `in`. On return all is done and no message is under way.
    phase_times run(const field& in, field& out, int n_hops, double scale);
    /// All ranks have called it. Usable between runs, whoever owns MPI in this mode.
    void barrier();
    int compute_threads() const { return runner_->compute_threads(); }
    /// Cores in use: compute threads and the communication thread where there is one.
    int cores() const;
    /// Seconds that one hop's messages take when nothing else happens: the yardstick of the overlap column. Mode plain; collective.
    double message_seconds() const { return miniapp::message_seconds(items_, options_.comm); }

private:
    /// Of one direction of a hop.
    struct face {
        int direction;
        miniapp::message receive, send;
    };
    struct plans {
        commtask::plan receives, sends;
        std::size_t first_send = 0;
    };

    hop_step step(int parity) const { return {in_, out_, parity, scale_}; }
    std::vector<face> faces(int parity) const;
    plans& record(const std::vector<face>& all);
    void add_hop(int parity, const std::vector<face>& all, plans* planned);

    stencil& on_;
    exchange_options options_;
    const mode_description& how_;
    const field* in_ = nullptr; ///< Of the run, as are the next two.
    field* out_ = nullptr;
    double scale_ = 1;
    std::list<plans> plans_; ///< Of the parities.
    miniapp::item_list items_;
    std::unique_ptr<miniapp::runner> runner_;
};

} // namespace dslash
