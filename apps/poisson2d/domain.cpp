// SPDX-License-Identifier: Apache-2.0
// The solution is a sum of a few sines, which are eigenvectors of the discrete operator: what any number of steps makes of
// the first guess is known in closed form, at every point, without iterating, and no code that is tested here makes it.
// No step can become a fused multiply-add, so every vector width and every cut of the grid gives the same bits.
#include "domain.hpp"

#include "common/report.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

namespace poisson {

namespace {

/// weight * sin(rows pi y) * sin(columns pi x)
struct wave {
    int rows;
    int columns;
    double weight;
};
constexpr std::array waves{wave{1, 1, 1.0}, wave{2, 3, 0.5}, wave{5, 7, 0.25}};

/// sin(k pi i / n), from the first quarter of the circle, where it is exact to the last bit.
long double sine(long long k, long long i, long long n) {
    long long turn = k * i % (2 * n);
    const long double sign = turn >= n ? -1 : 1;
    turn %= n;
    turn = std::min(turn, n - turn);
    return sign *
           std::sin(std::numbers::pi_v<long double> * static_cast<long double>(turn) / static_cast<long double>(n));
}

std::vector<long double> sines(int k, int first, int count, int n_points) {
    std::vector<long double> all;
    for (int i = 0; i < count; ++i) all.push_back(sine(k, first + i + 1, n_points + 1));
    return all;
}

long double cosine(int k, int n_points) { return std::cos(std::numbers::pi_v<long double> * k / (n_points + 1)); }

} // namespace

domain::domain(const problem& whole, MPI_Comm cart)
    : n_columns_(whole.points[1]), is_jacobi_(whole.by == method::jacobi) {
    int rank = 0;
    std::array<int, 2> place{};
    MPI_Comm_rank(cart, &rank);
    MPI_Cart_coords(cart, rank, 2, place.data());
    MPI_Cart_shift(cart, 0, 1, &neighbours_[north], &neighbours_[south]);
    MPI_Cart_shift(cart, 1, 1, &neighbours_[west], &neighbours_[east]);
    rows_ = share(whole.points[0], whole.grid[0], place[0]);
    columns_ = share(whole.points[1], whole.grid[1], place[1]);
    pitch_ = columns_.count + 2;
    n_bands_ = columns_.count > 2 ? std::clamp(rows_.count - 2, 0, whole.n_bands) : 0;
    const std::size_t n = static_cast<std::size_t>(pitch_) * (rows_.count + 2);
    u_[0].assign(n, 0);
    if (is_jacobi_) u_[1].assign(n, 0);
    b_.assign(n, 0);
    for (const wave& one : waves) {
        solution_.push_back({one.weight, (cosine(one.rows, whole.points[0]) + cosine(one.columns, whole.points[1])) / 2,
                             sines(one.rows, rows_.first, rows_.count, whole.points[0]),
                             sines(one.columns, columns_.first, columns_.count, whole.points[1])});
    }
    for (int i = 0; i < rows_.count; ++i) {
        for (int j = 0; j < columns_.count; ++j) {
            long double value = 0;
            for (const term& one : solution_) {
                value += 4 * (1 - one.shrinks) * one.weight * one.along_rows[i] * one.along_columns[j];
            }
            b_[at(i, j)] = static_cast<double>(value);
        }
    }
}

domain::range domain::share(int n, int n_ranks, int rank) {
    const int first = static_cast<int>(static_cast<long long>(n) * rank / n_ranks);
    return {first, static_cast<int>(static_cast<long long>(n) * (rank + 1) / n_ranks) - first};
}

void domain::reset() {
    for (auto& one : u_) std::ranges::fill(one, 0);
}

void domain::compute_row(int step, int i, int first, int last) {
    if (!is_jacobi_ && colour(i, first) != (step & 1)) ++first;
    const int stride = is_jacobi_ ? 1 : 2;
    const double* const from = &values(step)[at(i, 0)];
    const double* const b = &b_[at(i, 0)];
    double* const to = &values(step + 1)[at(i, 0)];
    for (int j = first; j < last; j += stride) {
        to[j] = 0.25 * (from[j - pitch_] + from[j + pitch_] + from[j - 1] + from[j + 1] + b[j]);
    }
}

void domain::compute_band(int step, int band) {
    const range own = share(rows_.count - 2, n_bands_, band);
    for (int i = 1 + own.first; i <= own.first + own.count; ++i) compute_row(step, i, 1, columns_.count - 1);
}

void domain::compute_ring(int step) {
    const int last = rows_.count - 1;
    const int last_column = columns_.count - 1;
    compute_row(step, 0, 0, columns_.count);
    for (int i = 1; i < last; ++i) {
        compute_row(step, i, 0, 1);
        if (last_column > 0) compute_row(step, i, last_column, last_column + 1);
    }
    if (last > 0) compute_row(step, last, 0, columns_.count);
}

domain::strip domain::strip_of(int step, int side, int outside) const {
    const bool is_row = side == north || side == south;
    const int i = side == north ? -outside : side == south ? rows_.count - 1 + outside : 0;
    const int j = side == west ? -outside : side == east ? columns_.count - 1 + outside : 0;
    const int length = is_row ? columns_.count : rows_.count;
    const std::ptrdiff_t stride = is_row ? 1 : pitch_;
    if (is_jacobi_) return {at(i, j), stride, length};
    const int skipped = colour(i, j) == (step & 1) ? 1 : 0; // of the colour that the step computes
    return {at(i, j) + skipped * stride, 2 * stride, (length - skipped + 1) / 2};
}

std::uint64_t domain::pack(int step, int side, double* to) const {
    const strip own = strip_of(step, side, 0);
    std::uint64_t bits = 0;
    for (int k = 0; k < own.count; ++k) {
        to[k] = values(step)[own.first + k * own.stride];
        bits += std::bit_cast<std::uint64_t>(to[k]);
    }
    return bits;
}

std::uint64_t domain::unpack(int step, int side, const double* from) {
    const strip halo = strip_of(step, side, 1);
    std::uint64_t bits = 0;
    for (int k = 0; k < halo.count; ++k) {
        values(step)[halo.first + k * halo.stride] = from[k];
        bits += std::bit_cast<std::uint64_t>(from[k]);
    }
    return bits;
}

double domain::error(int n_steps) const {
    // A colour reads the other: each update of one multiplies its error by that factor once more than the other's.
    const int n_red = (n_steps + 1) / 2;
    const std::array<int, 2> powers{is_jacobi_ ? n_steps : std::max(0, 2 * n_red - 1),
                                    is_jacobi_ ? n_steps : 2 * (n_steps - n_red)};
    std::array<std::vector<long double>, 2> reached;
    for (const term& one : solution_) {
        for (int c = 0; c < 2; ++c) {
            reached[c].push_back(one.weight * (1 - std::pow(one.shrinks, static_cast<long double>(powers[c]))));
        }
    }
    double most = 0;
    for (int i = 0; i < rows_.count; ++i) {
        for (int j = 0; j < columns_.count; ++j) {
            long double exact = 0;
            for (std::size_t k = 0; k < solution_.size(); ++k) {
                exact += reached[colour(i, j)][k] * solution_[k].along_rows[i] * solution_[k].along_columns[j];
            }
            const auto off = static_cast<double>(std::abs(values(n_steps)[at(i, j)] - exact));
            most = std::isnan(off) ? std::numeric_limits<double>::infinity() : std::max(most, off);
        }
    }
    return most;
}

double domain::tolerance(int n_steps) {
    double largest = 0;
    for (const wave& one : waves) largest += one.weight;
    return 4 * 0x1p-53 * largest * (n_steps + 8);
}

std::uint64_t domain::fingerprint(int n_steps) const {
    std::uint64_t sum = 0;
    for (int i = 0; i < rows_.count; ++i) {
        for (int j = 0; j < columns_.count; ++j) {
            const auto place = static_cast<std::uint64_t>(rows_.first + i) * n_columns_ + columns_.first + j;
            sum += miniapp::print_of(values(n_steps)[at(i, j)], place);
        }
    }
    return sum;
}

} // namespace poisson
