// SPDX-License-Identifier: Apache-2.0
// The choice between the two methods, and what each refuses. Six-step takes any N with two factors that twice the ranks divide; SOI asks
// for more, and says itself what.
#include "distributed_fft.hpp"

#include "six_step.hpp"
#include "soi_transform.hpp"

#include <limits>

namespace soi {

std::string refusal(method by, const problem& asked) {
    if (by == method::soi) return refusal(asked);
    if (const index_type rows = six_step_rows(asked.n_points, asked.n_ranks); rows != 0) {
        if (std::max(rows, asked.n_points / rows) <= std::numeric_limits<int>::max()) return {};
        return "--n " + std::to_string(asked.n_points) +
               " has a factor longer than FFTW's int; choose an N with two factors of about the same size.";
    }
    index_type unit = asked.n_ranks % 2 == 0 ? asked.n_ranks : 2 * asked.n_ranks;
    unit *= unit;
    const index_type nearest = std::max(unit, (asked.n_points + unit / 2) / unit * unit);
    return "--n " + std::to_string(asked.n_points) +
           " has no two factors that twice the ranks divide; nearest that works: --n " + std::to_string(nearest) + ".";
}

template <class Real>
std::unique_ptr<distributed_fft<Real>> make_fft(method by, const transform_options& o) {
    if (by == method::soi) return std::make_unique<soi_transform<Real>>(o);
    return std::make_unique<six_step<Real>>(o);
}

template std::unique_ptr<distributed_fft<double>> make_fft(method, const transform_options&);
template std::unique_ptr<distributed_fft<float>> make_fft(method, const transform_options&);

} // namespace soi
