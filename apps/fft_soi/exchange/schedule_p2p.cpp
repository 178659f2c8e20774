// SPDX-License-Identifier: Apache-2.0
// Modes p2p, iprobe and commself: a message per (chunk, segment, peer) as soon as its chunk is made, by MPI_Isend of the
// master. They differ in who makes MPI progress meanwhile: nobody, the master between pieces, or a thread inside MPI.
#include "common/self_progress.hpp"
#include "exchange/fork_join.hpp"

#include <algorithm>

namespace tiled {

namespace {

class probing_transport final : public message_transport {
public:
    probing_transport(MPI_Comm comm, int probe_every) : message_transport(comm), every_(probe_every) {}

    void after_piece() override {
        if (++pieces_ % every_ != 0) return;
        int found = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE);
    }

private:
    int every_;
    int pieces_ = 0;
};

class commself_transport final : public message_transport {
public:
    using message_transport::message_transport;

private:
    miniapp::self_progress progress_;
};

} // namespace

std::unique_ptr<schedule> make_p2p_schedule(const schedule_options& options) {
    return std::make_unique<fork_join_schedule>(std::make_unique<message_transport>(options.comm), options.n_cores,
                                                options.n_cores);
}

std::unique_ptr<schedule> make_iprobe_schedule(const schedule_options& options) {
    return std::make_unique<fork_join_schedule>(std::make_unique<probing_transport>(options.comm, options.probe_every),
                                                options.n_cores, options.n_cores);
}

std::unique_ptr<schedule> make_commself_schedule(const schedule_options& options) {
    return std::make_unique<fork_join_schedule>(std::make_unique<commself_transport>(options.comm),
                                                compute_threads_of(mode::commself, options.n_cores),
                                                std::max(2, options.n_cores));
}

} // namespace tiled
