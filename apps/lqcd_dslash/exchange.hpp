// SPDX-License-Identifier: Apache-2.0
// A mode: how the faces of a chain of hops travel while the tiles are computed. Every mode gets the same chain and the
// same pieces; what differs is who talks to MPI, when, and what waits for what. One file per mode.
#pragma once

#include "bad.hpp"
#include "common/parsed.hpp"
#include "common/phases.hpp"
#include "stencil.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <mpi.h>
#include <span>
#include <string>
#include <vector>

namespace dslash {

/// `internal`: tiles that need no halo; `misc`: packing, faces, barriers, task overhead.
using miniapp::phase_times;

/// The communicator of the messages of each direction.
using halo_comms = std::array<MPI_Comm, n_directions>;

struct exchange_options {
    MPI_Comm comm = MPI_COMM_NULL;
    int n_cores = 1;                 ///< Cores this rank may use, one communication thread included.
    int probe_every = 4;             ///< Mode iprobe: interior tiles between two MPI_Iprobe.
    bad_habit bad = bad_habit::none; ///< Mode offload.
    bool has_plan = true;            ///< Modes offload, omp and tbb: the messages of a hop are plans.
    bool is_held = false;            ///< Mode omp, without a plan: packing a face and sending it are one task.
    std::vector<MPI_Comm> lanes{};   ///< Modes with a worker: what each cut direction is sent on; none: all on `comm`.

    [[nodiscard]] halo_comms messages(const stencil& on) const {
        halo_comms of{};
        of.fill(comm);
        std::size_t next = 0;
        for (int d = 0; d < n_directions && !lanes.empty(); ++d) {
            if (on.face_bytes(d) > 0) of[static_cast<std::size_t>(d)] = lanes[next++];
        }
        return of;
    }
};

class exchange {
public:
    virtual ~exchange() = default;
    /// Applies the steps in order; on return all outputs are complete and no message is under way.
    virtual phase_times run(std::span<const hop_step> steps) = 0;
    /// All ranks have called it. Usable between runs, whoever owns MPI in this mode.
    virtual void barrier() = 0;
    virtual int compute_threads() const = 0;
    /// Cores in use: compute threads and the communication thread where there is one.
    virtual int cores() const { return compute_threads(); }
};

enum class mode { plain, baseline, iprobe, commself, offload, omp, tbb };

/// `plain` is the blocking exchange that the others are checked against.
struct mode_description : miniapp::mode_facts {
    mode which;
    std::unique_ptr<exchange> (*make)(stencil& on, const exchange_options& options);
};
const std::vector<mode_description>& modes();

std::unique_ptr<exchange> make_exchange(mode which, stencil& on, const exchange_options& options);

std::unique_ptr<exchange> make_plain_exchange(stencil& on, const exchange_options& options);
std::unique_ptr<exchange> make_baseline_exchange(stencil& on, const exchange_options& options);
std::unique_ptr<exchange> make_iprobe_exchange(stencil& on, const exchange_options& options);
std::unique_ptr<exchange> make_commself_exchange(stencil& on, const exchange_options& options);
std::unique_ptr<exchange> make_offload_exchange(stencil& on, const exchange_options& options);
std::unique_ptr<exchange> make_omp_exchange(stencil& on, const exchange_options& options);

/// Where the build has the oneTBB face (COMMTASK_BUILD_TBB).
std::unique_ptr<exchange> make_tbb_exchange(stencil& on, const exchange_options& options);

/// Seconds that one hop's messages take when nothing else happens: the yardstick of the overlap column. Collective.
double measure_messages(stencil& on, MPI_Comm comm);

} // namespace dslash
