// SPDX-License-Identifier: Apache-2.0
// The random numbers are x -> 5^13 x mod 2^46. Unsigned multiplication is modulo 2^64, a multiple of 2^46, so that the lowest 46
// bits of products are right without more digits.
#include "npb.hpp"

#include "common/extents.hpp"

#include <cmath>
#include <numbers>

namespace fft3d::npb {

namespace {

constexpr std::uint64_t multiplier = 1220703125; // 5^13
constexpr std::uint64_t seed = 314159265;
constexpr std::uint64_t mask = (std::uint64_t{1} << 46) - 1;
constexpr double alpha = 1e-6;

std::uint64_t power(std::uint64_t of, std::uint64_t exponent) {
    std::uint64_t result = 1;
    for (; exponent != 0; exponent /= 2, of *= of) {
        if (exponent % 2 != 0) result *= of;
    }
    return result;
}

} // namespace

std::span<const problem> problems() {
    // clang-format off
    static constexpr std::array all{
        problem{"S", {64, 64, 64}, {{{554.6087004964, 484.5363331978}, {554.6385409189, 486.5304269511},
                                     {554.6148406171, 488.3910722336}, {554.5423607415, 490.1273169046},
                                     {554.4255039624, 491.7475857993}, {554.2683411902, 493.2597244941}}}},
        problem{"W", {128, 128, 32}, {{{567.3612178944, 529.3246849175}, {563.1436885271, 528.2149986629},
                                       {559.4024089970, 527.0996558037}, {556.0698047020, 526.0027904925},
                                       {553.0898991250, 524.9400845633}, {550.4159734538, 523.9212247086}}}},
        problem{"A", {256, 256, 128}, {{{504.6735008193, 511.4047905510}, {505.9412319734, 509.8809666433},
                                        {506.9376896287, 509.8144042213}, {507.7892868474, 510.1336130759},
                                        {508.5233095391, 510.4914655194}, {509.1487099959, 510.7917842803}}}}};
    // clang-format on
    return all;
}

void make_line(const extents& points, int y, int z, complex* to) {
    const auto n_before = 2 * static_cast<std::uint64_t>(miniapp::index_of(extents{0, y, z}, points));
    std::uint64_t state = seed * power(multiplier, n_before);
    const auto next = [&] { return static_cast<double>(state = state * multiplier & mask) * 0x1p-46; };
    for (int x = 0; x < points[0]; ++x) {
        const double real = next();
        to[x] = {real, next()};
    }
}

evolution::evolution(const extents& points, int n_iterations) : points_(points) {
    for (int d = 0; d < 3; ++d) {
        for (int k = 0; k < n_iterations * points[d]; ++k) {
            const double wave = (k + points[d] / 2) % points[d] - points[d] / 2; // from -n/2 to n/2 - 1
            const double rate = -4 * alpha * std::numbers::pi * std::numbers::pi * wave * wave;
            factors_[d].push_back(std::exp(rate * (k / points[d] + 1)));
        }
    }
}

void evolution::operator()(const spectrum_line& line) const {
    const double across = factors_[0][line.turn * points_[0] + line.x] * factors_[1][line.turn * points_[1] + line.y];
    const double* const along = &factors_[2][line.turn * points_[2]];
    for (int z = 0; z < points_[2]; ++z) line.to[z] = line.from[z] * (across * along[z]);
}

complex checksum(const extents& points, transform& of) {
    const box here = of.points_box();
    complex sum = 0;
    for (int j = 1; j <= 1024; ++j) {
        const int y = 3 * j % points[1] - here.first[1];
        const int z = 5 * j % points[2] - here.first[2];
        if (y < 0 || y >= here.count[1] || z < 0 || z >= here.count[2]) continue;
        sum += of.points_line(y, z)[j % points[0]];
    }
    return sum / (static_cast<double>(points[0]) * points[1] * points[2]);
}

} // namespace fft3d::npb
