// SPDX-License-Identifier: Apache-2.0
// The chain of hops as a list of items (tiles, packs and messages, each with what it waits for) and the mode that carries it out. Every
// mode gets the same items; who talks to MPI, when, and what waits for what is the runner's (common/runner.hpp).
#pragma once

#include "bad.hpp"
#include "common/runner.hpp"
#include "stencil.hpp"

#include <commtask/commtask.hpp>

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <mpi.h>
#include <optional>
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

/// One application of D in a chain.
struct hop {
    int parity;   ///< Of the sites that are written.
    int from, to; ///< Numbers of the arrays that it reads and writes, the first part of the names of dependences.
    std::function<std::optional<hop_step>()> step; ///< Asked by each item; nothing: the item does nothing.
    std::function<void(int)> then{};               ///< After the tile of that number was computed.
};

/// Hops and what a program adds to them, again and again, in a mode.
class chain {
public:
    /// @param add_round  adds the stages of a round; is called twice
    chain(mode which, stencil& on, const exchange_options& options, const std::function<void(chain&)>& add_round);
    chain(const chain&) = delete;
    chain& operator=(const chain&) = delete;

    /// For `add_round`: adds the items of a hop to this stage. Gives the items of the tiles, in the order of the tiles.
    std::vector<int> add(const hop& of);
    /// For `add_round`, and for what is beside hops.
    miniapp::item_list& items() { return items_; }

    phase_times run(int n_stages) { return runner_->run(n_stages); }
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
        std::vector<int> receivers{}, senders{}; ///< Items that start them.
    };
    /// Items that used the buffers of a direction last.
    struct buffer_users {
        std::vector<int> senders, readers;
    };

    std::vector<face> faces(int parity) const;
    void record(plans& made, const std::vector<face>& all);
    plans* plans_of_next_hop(const std::vector<face>& all);

    stencil& on_;
    exchange_options options_;
    const mode_description& how_;
    std::deque<plans> plans_; ///< Of the hops of a round; none: each message is posted by itself.
    std::size_t n_hops_ = 0;  ///< Of the round so far.
    std::array<std::array<buffer_users, n_directions>, 2> users_; ///< Of the buffers of each parity.
    miniapp::item_list items_;
    std::unique_ptr<miniapp::runner> runner_;
};

/// The chain that is timed: D_eo, then D_oe.
class exchange {
public:
    exchange(mode which, stencil& on, const exchange_options& options);

    /// D from odd sites to even ones, then back, and so on; `out` may be `in`. On return all is done and no message is under way.
    phase_times run(const field& in, field& out, int n_hops, double scale);
    void barrier() { chain_.barrier(); }
    int compute_threads() const { return chain_.compute_threads(); }
    int cores() const { return chain_.cores(); }
    double message_seconds() const { return chain_.message_seconds(); }

private:
    const field* in_ = nullptr; ///< Of the run, as are the next two.
    field* out_ = nullptr;
    double scale_ = 1;
    chain chain_;
};

} // namespace dslash
