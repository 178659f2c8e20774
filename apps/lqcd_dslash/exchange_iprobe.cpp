// SPDX-License-Identifier: Apache-2.0
// Mode iprobe: baseline, and the master calls MPI_Iprobe every few interior tiles so that MPI makes progress.
// The usual remedy in programs that cannot afford a thread; it costs the master time and needs tuning.
#include "fork_join.hpp"

namespace dslash {

namespace {

class probing_transport final : public mpi_transport {
public:
    probing_transport(stencil& on, MPI_Comm comm, int probe_every) : mpi_transport(on, comm), every_(probe_every) {}

    void after_tile() override {
        if (++tiles_ % every_ != 0) return;
        int found = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE);
    }

private:
    int every_;
    int tiles_ = 0;
};

} // namespace

std::unique_ptr<exchange> make_iprobe_exchange(stencil& on, const exchange_options& options) {
    return std::make_unique<fork_join_exchange>(
        on, std::make_unique<probing_transport>(on, options.comm, options.probe_every), options.n_cores,
        options.n_cores);
}

} // namespace dslash
