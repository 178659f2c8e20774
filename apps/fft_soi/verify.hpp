// SPDX-License-Identifier: Apache-2.0
// What every run is checked by: some bins by direct summation, the sum of squares, the bits of the serial schedule, the
// traffic; on demand the whole spectrum against FFTW in long double. All are collective.
#pragma once

#include "common/report.hpp"
#include "exchange/layout.hpp"
#include "shape.hpp"

#include <complex>
#include <mpi.h>
#include <span>
#include <vector>

namespace soi {

template <class Real>
struct checker {
    using complex = std::complex<Real>;
    MPI_Comm comm;
    index_type n_points;
    int sign;
    double scale;         ///< Of the result.
    double allowed_error; ///< Relative l2 error that the preset allows.
    std::string promise;  ///< For the name of the check, such as "preset full".

    /// Sixteen bins: borders and middles of segments, and random ones. `x`, `y`: this rank's.
    miniapp::check spot_bins(std::span<const complex> x, std::span<const complex> y, index_type segment_points) const;
    /// sum |y|^2 = scale^2 N sum |x|^2.
    miniapp::check parseval(std::span<const complex> x, std::span<const complex> y) const;
    /// The whole spectrum; gathers it on rank 0.
    std::vector<miniapp::check> against_reference(std::span<const complex> x, std::span<const complex> y) const;
    /// This rank's part of a sum that is the same for the same bits in the same places, on any number of ranks.
    std::uint64_t local_fingerprint(std::span<const complex> y) const;
    /// Of all ranks together.
    miniapp::check traffic_is(const tiled::traffic& counted, const tiled::traffic& expected) const;

private:
    double root_mean_square(std::span<const complex> y) const;
};

} // namespace soi
