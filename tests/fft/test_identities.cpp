// SPDX-License-Identifier: Apache-2.0
// What every Fourier transform does, on inputs where the answer is known: inverse, Parseval, impulses and plane waves at
// the places where ranks, segments and the halo meet, shifts, symmetry, leakage, and large inputs without a reference.
#include "presets.hpp"
#include "virtual_ranks.hpp"

#include <gtest/gtest.h>

#include <numbers>

using namespace soi;
using namespace soi::test;

namespace {

using complex = std::complex<double>;
using numbers = std::vector<complex>;

constexpr index_type n_points = 1 << 14;
constexpr int n_ranks = 4;
constexpr int n_segments = 4;
constexpr index_type row = n_ranks * n_segments; // S
constexpr index_type segment = n_points / row;   // M
constexpr index_type per_rank = n_points / n_ranks;

transform_options options_of(int sign = -1, double scale = 1, index_type n = n_points, int ranks = n_ranks) {
    transform_options options;
    options.sizes = {n, ranks, n_segments, 0, 1, find_preset("full")->window};
    options.sign = sign;
    options.scale = scale;
    return options;
}

numbers forward(const numbers& x) {
    virtual_soi<double> soi(options_of());
    return soi.transform(x);
}

/// e^{2 pi i f j / N}, with the product reduced in integers.
complex wave(index_type f, index_type j, index_type n = n_points) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(f * j % n) / static_cast<double>(n);
    return {std::cos(angle), std::sin(angle)};
}

double rms(const numbers& x) {
    long double sum = 0;
    for (const complex& c : x) sum += std::norm(complex_l(c));
    return static_cast<double>(std::sqrt(sum / static_cast<long double>(x.size())));
}

/// Largest difference over the root mean square of `right`.
double difference(const numbers& found, const numbers& right) {
    double largest = 0;
    for (std::size_t k = 0; k < right.size(); ++k) largest = std::max(largest, std::abs(found[k] - right[k]));
    return largest / rms(right);
}

constexpr double tolerance = 3e-14;

TEST(Identities, InverseUndoesForwardInBothOrders) {
    const numbers x = random_input<double>(n_points);
    virtual_soi<double> there(options_of(-1));
    virtual_soi<double> back(options_of(1, 1.0 / n_points));
    virtual_soi<double> unscaled(options_of(1));
    EXPECT_LT(difference(back.transform(there.transform(x)), x), tolerance);
    EXPECT_LT(difference(there.transform(back.transform(x)), x), tolerance);
    numbers times_n = x;
    for (complex& c : times_n) c *= n_points;
    EXPECT_LT(difference(unscaled.transform(there.transform(x)), times_n), tolerance);
}

TEST(Identities, ParsevalHolds) {
    const numbers x = random_input<double>(n_points);
    const double ratio = rms(forward(x)) / rms(x) / std::sqrt(static_cast<double>(n_points));
    EXPECT_NEAR(ratio * ratio, 1, 1e-14);
}

TEST(Identities, AnImpulseHasTheSameMagnitudeInEveryBinWhereverItIs) {
    virtual_soi<double> soi(options_of());
    const index_type halo = find_preset("full")->window.width * row;
    for (const index_type at : {index_type{0}, index_type{1}, row - 1, row, per_rank - 1, per_rank, per_rank - halo,
                                n_points - halo, n_points - 1}) {
        numbers x(n_points);
        x[static_cast<std::size_t>(at)] = 1;
        const numbers y = soi.transform(x);
        double largest = 0;
        for (index_type f = 0; f < n_points; ++f) {
            largest = std::max(largest, std::abs(y[static_cast<std::size_t>(f)] - std::conj(wave(f, at))));
        }
        EXPECT_LT(largest, 1e-13) << "impulse at " << at;
    }
}

TEST(Identities, APlaneWaveIsOneBinAlsoAtTheBordersOfSegments) {
    virtual_soi<double> soi(options_of());
    for (const index_type f : {index_type{0}, index_type{1}, segment / 2 - 1, segment / 2, segment - 1, segment,
                               2 * segment - 1, n_points / 2, n_points - 1}) {
        numbers x;
        for (index_type j = 0; j < n_points; ++j) x.push_back(wave(f, j));
        numbers y = soi.transform(x);
        EXPECT_NEAR(y[static_cast<std::size_t>(f)].real() / n_points, 1, 1e-14);
        y[static_cast<std::size_t>(f)] -= n_points;
        double largest = 0;
        for (const complex& c : y) largest = std::max(largest, std::abs(c));
        EXPECT_LT(largest, 1e-14 * n_points) << "wave " << f;
    }
}

TEST(Identities, ShiftsBecomePhasesAndPhasesShifts) {
    const numbers x = random_input<double>(n_points);
    const numbers y = forward(x);
    for (const index_type by : {index_type{1}, row + 3, per_rank + 5, 3 * segment + 7}) {
        numbers shifted(n_points);
        numbers turned(n_points);
        numbers phases(n_points);
        numbers moved(n_points);
        for (index_type j = 0; j < n_points; ++j) {
            const auto k = static_cast<std::size_t>(j);
            const auto target = static_cast<std::size_t>((j + by) % n_points);
            shifted[target] = x[k];
            turned[k] = x[k] * wave(by, j);
            phases[k] = y[k] * std::conj(wave(by, j));
            moved[target] = y[k];
        }
        EXPECT_LT(difference(forward(shifted), phases), tolerance) << by;
        EXPECT_LT(difference(forward(turned), moved), tolerance) << by;
    }
}

TEST(Identities, IsLinear) {
    const numbers a = random_input<double>(n_points, 1);
    const numbers b = random_input<double>(n_points, 2);
    const complex factor(0.5, -1.25);
    numbers sum(a);
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += factor * b[k];
    numbers right = forward(a);
    const numbers of_b = forward(b);
    for (std::size_t k = 0; k < right.size(); ++k) right[k] += factor * of_b[k];
    EXPECT_LT(difference(forward(sum), right), tolerance);
}

TEST(Identities, RealInputHasASymmetricSpectrumAndAConstantOneBin) {
    numbers x = random_input<double>(n_points);
    for (complex& c : x) c = c.real();
    const numbers y = forward(x);
    numbers mirrored(y.size());
    for (std::size_t f = 0; f < y.size(); ++f) mirrored[f] = std::conj(y[(y.size() - f) % y.size()]);
    EXPECT_LT(difference(y, mirrored), tolerance);

    numbers constant = forward(numbers(n_points, complex(2, -1)));
    EXPECT_LT(std::abs(constant[0] - complex(2, -1) * static_cast<double>(n_points)), 1e-14 * n_points);
    constant[0] = 0;
    EXPECT_LT(rms(constant), 1e-14 * n_points);
}

/// A spectrum that is zero in one segment, and what the transform finds there.
TEST(Identities, AnEmptySegmentStaysEmpty) {
    numbers spectrum = random_input<double>(n_points);
    const index_type first = 5 * segment;
    std::fill_n(spectrum.begin() + first, segment, complex{});
    std::vector<complex_l> x = reference_transform(widened(spectrum), 1);
    numbers input;
    for (const complex_l& c : x) input.emplace_back(c / static_cast<long double>(n_points));
    const numbers y = forward(input);
    const numbers inside(y.begin() + first, y.begin() + first + segment);
    EXPECT_LT(rms(inside) / rms(y), 2e-15);
}

TEST(Identities, ALoudToneInTheNextSegmentLeaksByThePresetAtMost) {
    numbers x = random_input<double>(n_points);
    const index_type loud = 6 * segment + segment / 2;
    for (index_type j = 0; j < n_points; ++j) x[static_cast<std::size_t>(j)] += 1e6 * wave(loud, j);
    const numbers y = forward(x);
    const std::vector<complex_l> right = reference_transform(widened(x), -1);
    double largest = 0;
    for (index_type f = 5 * segment; f < 6 * segment; ++f) {
        const auto k = static_cast<std::size_t>(f);
        largest = std::max(largest, static_cast<double>(std::abs(complex_l(y[k]) - right[k])));
    }
    EXPECT_LT(largest / (1e6 * n_points), 2e-15);
}

TEST(Identities, AChirpAndFiveTonesAreRightAtASizeWithoutAReference) {
    constexpr index_type n = 1 << 20;
    virtual_soi<double> soi(options_of(-1, 1, n, 2));
    numbers chirp;
    numbers tones;
    const std::array<index_type, 5> at{3, 77777, n / 2 + 1, n / 2 + n / 16, n - 2};
    for (index_type j = 0; j < n; ++j) {
        const double angle = std::numbers::pi * static_cast<double>(j * j % (2 * n)) / static_cast<double>(n);
        chirp.emplace_back(std::cos(angle), std::sin(angle));
        complex sum = 0;
        for (std::size_t k = 0; k < at.size(); ++k) sum += static_cast<double>(k + 1) * wave(at[k], j, n);
        tones.push_back(sum);
    }
    double worst = 0;
    for (const complex& c : soi.transform(chirp)) worst = std::max(worst, std::abs(std::abs(c) / std::sqrt(n) - 1));
    EXPECT_LT(worst, 1e-13);
    numbers lines = soi.transform(tones);
    for (std::size_t k = 0; k < at.size(); ++k)
        lines[static_cast<std::size_t>(at[k])] -= static_cast<double>((k + 1) * n);
    double largest = 0;
    for (const complex& c : lines) largest = std::max(largest, std::abs(c));
    EXPECT_LT(largest, 1e-13 * n);
}

TEST(Identities, AGaussianBecomesOne) {
    constexpr index_type n = 1 << 20;
    virtual_soi<double> soi(options_of(-1, 1, n, 2));
    // e^{-pi (j - N/2)^2 / N} becomes sqrt(N) (-1)^f e^{-pi f^2 / N}, f from -N/2; its period makes no difference here.
    const auto bell = [](index_type at) {
        const auto t = static_cast<double>(at);
        return std::exp(-std::numbers::pi * t * t / n);
    };
    numbers x;
    for (index_type j = 0; j < n; ++j) x.emplace_back(bell(j - n / 2));
    const numbers y = soi.transform(x);
    double worst = 0;
    for (index_type f = -n / 2; f < n / 2; ++f) {
        const double right = std::sqrt(n) * bell(f) * (f % 2 == 0 ? 1 : -1);
        worst = std::max(worst, std::abs(y[static_cast<std::size_t>((f + n) % n)] - right));
    }
    EXPECT_LT(worst / std::sqrt(n), 1e-14);
}

TEST(Identities, SinglePrecisionAgreesWithDouble) {
    for (const char* name : {"f32", "f32fat"}) {
        transform_options options = options_of();
        options.sizes.window = find_preset(name)->window;
        virtual_soi<float> soi(options);
        const auto y = soi.transform(random_input<float>(n_points));
        EXPECT_LT(compare(y, widened(forward(random_input<double>(n_points)))).l2, 5e-7) << name;
    }
}

} // namespace
