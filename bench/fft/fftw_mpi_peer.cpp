// SPDX-License-Identifier: Apache-2.0
//
// All that needs FFTW's MPI layer, so that the rest of bench_fft is compiled where that layer was not built, and
// no change breaks it unseen. scripts/bench builds that layer (build_fftw_mpi.sh).
#include "fft/fftw_peer.h"

#include <fftw3-mpi.h>

#include <stdexcept>

namespace commtask::bench {

void fftw_mpi_peer::start() {
    fftw_mpi_init();
    fftw_set_timelimit(planning_limit_s);
}

fftw_mpi_peer::fftw_mpi_peer(std::int64_t n, MPI_Comm comm) {
    ptrdiff_t own = 0;
    ptrdiff_t first = 0;
    ptrdiff_t own_out = 0;
    ptrdiff_t first_out = 0;
    const ptrdiff_t size =
        fftw_mpi_local_size_1d(n, comm, FFTW_FORWARD, FFTW_MEASURE, &own, &first, &own_out, &first_out);
    array_ = soi::aligned_array<std::complex<double>>(static_cast<std::size_t>(size));
    own_ = static_cast<std::size_t>(own);
    auto* const data = reinterpret_cast<fftw_complex*>(array_.data());
    plan_ = fftw_mpi_plan_dft_1d(n, data, data, comm, FFTW_FORWARD, FFTW_MEASURE);
    if (plan_ == nullptr) throw std::runtime_error("FFTW-MPI gave no plan");
}

} // namespace commtask::bench
