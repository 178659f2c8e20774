// SPDX-License-Identifier: Apache-2.0
// Mode plain: pack, exchange, wait, compute everything, one thread, nothing overlapped. Too simple to be wrong, so the
// other modes' results are compared with it bit by bit.
#include "fork_join.hpp"

#include "common/clock.hpp"

namespace dslash {

using miniapp::seconds;

namespace {

class plain_exchange final : public exchange {
public:
    plain_exchange(stencil& on, MPI_Comm comm) : on_(on), transport_(on, comm) {}

    phase_times run(std::span<const hop_step> steps) override {
        phase_times times;
        const double start = seconds();
        for (const hop_step& step : steps) {
            for (int d = 0; d < n_directions; ++d) on_.pack(step, d, 0, on_.n_face_sites(step.parity, d));
            const double packed = seconds();
            transport_.post_receives(step);
            transport_.post_sends(step);
            const double posted = seconds();
            transport_.wait();
            times.post += posted - packed;
            times.wait += seconds() - posted;
            for (const tile& t : on_.shape().parity[step.parity].tiles) on_.compute(step, t);
        }
        times.total = seconds() - start;
        return times;
    }
    void barrier() override { transport_.barrier(); }
    int compute_threads() const override { return 1; }

private:
    stencil& on_;
    mpi_transport transport_;
};

} // namespace

std::unique_ptr<exchange> make_plain_exchange(stencil& on, const exchange_options& options) {
    return std::make_unique<plain_exchange>(on, options.comm);
}

double measure_messages(stencil& on, MPI_Comm comm) {
    constexpr int rounds = 20;
    mpi_transport transport(on, comm);
    double best = 0;
    for (int k = 0; k < rounds; ++k) {
        const hop_step step{nullptr, nullptr, k % 2, 1};
        transport.barrier();
        const double start = seconds();
        transport.post_receives(step);
        transport.post_sends(step);
        transport.wait();
        const double took = seconds() - start;
        if (k == 0 || took < best) best = took;
    }
    MPI_Allreduce(MPI_IN_PLACE, &best, 1, MPI_DOUBLE, MPI_MAX, comm);
    return best;
}

} // namespace dslash
