// SPDX-License-Identifier: Apache-2.0
// Errors are relative to the root mean square of the result. Spot bins include the borders of segments, where aliasing
// and the demodulation are at their worst, so their limit is wider than that for the whole spectrum.
#include "verify.hpp"

#include "reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace soi {

namespace {

int rank_in(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

template <class Real>
MPI_Datatype type_of() {
    return sizeof(Real) == 8 ? MPI_DOUBLE : MPI_FLOAT;
}

/// Whole array on rank 0, empty elsewhere.
template <class Real>
std::vector<std::complex<Real>> gather(std::span<const std::complex<Real>> own, index_type n_points, MPI_Comm comm) {
    std::vector<std::complex<Real>> all(rank_in(comm) == 0 ? static_cast<std::size_t>(n_points) : 0);
    const int count = static_cast<int>(2 * own.size());
    MPI_Gather(own.data(), count, type_of<Real>(), all.data(), count, type_of<Real>(), 0, comm);
    return all;
}

template <class Real>
double sum_of_squares(std::span<const std::complex<Real>> numbers, MPI_Comm comm) {
    // In blocks: a single long sum of these inputs rounds to one side, by 1e-14 at N = 2^22 even in long double.
    constexpr std::size_t block = 1024;
    long double sum = 0;
    for (std::size_t first = 0; first < numbers.size(); first += block) {
        long double part = 0;
        for (const std::complex<Real>& c : numbers.subspan(first, std::min(block, numbers.size() - first))) {
            part += static_cast<long double>(c.real()) * c.real() + static_cast<long double>(c.imag()) * c.imag();
        }
        sum += part;
    }
    long double all = 0;
    MPI_Allreduce(&sum, &all, 1, MPI_LONG_DOUBLE, MPI_SUM, comm);
    return static_cast<double>(all);
}

} // namespace

template <class Real>
double checker<Real>::root_mean_square(std::span<const complex> y) const {
    return std::sqrt(sum_of_squares<Real>(y, comm) / static_cast<double>(n_points));
}

template <class Real>
miniapp::check checker<Real>::spot_bins(std::span<const complex> x, std::span<const complex> y,
                                        index_type segment_points) const {
    constexpr std::size_t n_bins = 16;
    const index_type m = segment_points;
    std::array<index_type, n_bins> bins{0, 1, m / 2 - 1, m / 2, m - 1, m, 2 * m - 1, n_points - 1};
    for (std::size_t k = 8; k < n_bins; ++k) {
        bins[k] = static_cast<index_type>(miniapp::print_of(0, k) % static_cast<std::uint64_t>(n_points));
    }
    const auto own = static_cast<index_type>(x.size());
    const index_type first = own * rank_in(comm);
    std::array<long double, 4 * n_bins> sums{};
    for (std::size_t k = 0; k < n_bins; ++k) {
        const index_type f = (bins[k] % n_points + n_points) % n_points;
        const complex_l part = partial_bin<Real>(x, first, n_points, f, sign);
        sums[4 * k] = part.real() * scale;
        sums[4 * k + 1] = part.imag() * scale;
        if (f < first || f >= first + own) continue;
        sums[4 * k + 2] = y[static_cast<std::size_t>(f - first)].real();
        sums[4 * k + 3] = y[static_cast<std::size_t>(f - first)].imag();
    }
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_LONG_DOUBLE, MPI_SUM, comm);
    long double square = 0;
    for (std::size_t k = 0; k < n_bins; ++k) {
        square += std::norm(complex_l(sums[4 * k] - sums[4 * k + 2], sums[4 * k + 1] - sums[4 * k + 3]));
    }
    return {"spot bins: 16 bins by direct summation, " + promise,
            static_cast<double>(std::sqrt(square / n_bins)) / root_mean_square(y), 4 * allowed_error};
}

template <class Real>
miniapp::check checker<Real>::parseval(std::span<const complex> x, std::span<const complex> y) const {
    const double in = sum_of_squares<Real>(x, comm);
    const double out = sum_of_squares<Real>(y, comm);
    const double expected = scale * scale * static_cast<double>(n_points) * in;
    return {"Parseval: sum of squares", std::abs(out / expected - 1), std::max(1e-14, allowed_error)};
}

template <class Real>
std::vector<miniapp::check> checker<Real>::against_reference(std::span<const complex> x,
                                                             std::span<const complex> y) const {
    const std::vector<complex> all_x = gather<Real>(x, n_points, comm);
    const std::vector<complex> all_y = gather<Real>(y, n_points, comm);
    std::array<double, 2> errors{};
    if (rank_in(comm) == 0) {
        const std::vector<complex_l> right = reference_transform({all_x.begin(), all_x.end()}, sign);
        long double square = 0;
        long double norm = 0;
        long double largest = 0;
        for (std::size_t k = 0; k < right.size(); ++k) {
            const complex_l wanted = right[k] * static_cast<long double>(scale);
            const long double error = std::norm(complex_l(all_y[k]) - wanted);
            square += error;
            norm += std::norm(wanted);
            // So that a NaN anywhere is seen.
            largest = error <= largest ? largest : error;
        }
        errors = {static_cast<double>(std::sqrt(square / norm)),
                  static_cast<double>(std::sqrt(largest / norm * static_cast<long double>(n_points)))};
    }
    MPI_Bcast(errors.data(), 2, MPI_DOUBLE, 0, comm);
    return {{"full: relative l2 error, " + promise, errors[0], allowed_error},
            {"full: largest error over rms", errors[1], 20 * allowed_error}};
}

template <class Real>
std::uint64_t checker<Real>::local_fingerprint(std::span<const complex> y) const {
    auto at = 2 * static_cast<std::uint64_t>(y.size()) * static_cast<std::uint64_t>(rank_in(comm));
    std::uint64_t sum = 0;
    for (const complex& c : y) {
        sum += miniapp::print_of(c.real(), at++);
        sum += miniapp::print_of(c.imag(), at++);
    }
    return sum;
}

template <class Real>
miniapp::check checker<Real>::traffic_is(const tiled::traffic& counted, const tiled::traffic& expected) const {
    const double differs = miniapp::largest_of(counted == expected ? 0 : 1, comm);
    return {"traffic: messages and bytes equal the formula", differs, 0};
}

template struct checker<double>;
template struct checker<float>;

} // namespace soi
