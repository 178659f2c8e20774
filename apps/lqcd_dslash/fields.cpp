// SPDX-License-Identifier: Apache-2.0
// Counter-based fields: splitmix64 of the site number, as the golden values define them. Gram-Schmidt on two random
// rows and a cross product for the third give SU(3) to rounding.
#include "fields.hpp"

#include "common/report.hpp"

#include <cmath>

namespace dslash {

namespace {

complex product(complex a, complex b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

void normalise(std::array<complex, 3>& row) {
    double sum = 0;
    for (const complex c : row) sum += std::norm(c);
    const double scale = 1 / std::sqrt(sum);
    for (complex& c : row) c *= scale;
}

/// SU(3) from the 12 numbers uniform(first) .. uniform(first + 11).
link random_su3(std::uint64_t first) {
    link u{};
    for (std::uint64_t row = 0; row < 2; ++row) {
        for (std::uint64_t column = 0; column < 3; ++column) {
            const std::uint64_t k = first + 2 * (3 * row + column);
            u[row][column] = {uniform(k), uniform(k + 1)};
        }
    }
    normalise(u[0]);
    complex overlap = 0;
    for (int c = 0; c < 3; ++c) overlap += product(std::conj(u[0][c]), u[1][c]);
    for (int c = 0; c < 3; ++c) u[1][c] -= product(overlap, u[0][c]);
    normalise(u[1]);
    for (int c = 0; c < 3; ++c) {
        const int d = (c + 1) % 3;
        const int e = (c + 2) % 3;
        u[2][c] = std::conj(product(u[0][d], u[1][e]) - product(u[0][e], u[1][d]));
    }
    return u;
}

} // namespace

double uniform(std::uint64_t n) { return static_cast<double>(miniapp::splitmix64(n) >> 11) * 0x1p-53 * 2 - 1; }

link_function random_links(const coordinates& lattice) {
    return [lattice](const coordinates& site, int mu) {
        const auto index = static_cast<std::uint64_t>(miniapp::index_of(site, lattice));
        return random_su3((4 * index + static_cast<std::uint64_t>(mu)) * 18);
    };
}

spinor_function random_spinor(const coordinates& lattice, std::uint64_t seed) {
    return [lattice, seed](const coordinates& site) {
        const std::uint64_t first =
            ((seed + 1) << 40) + 24 * static_cast<std::uint64_t>(miniapp::index_of(site, lattice));
        spinor psi{};
        for (std::uint64_t spin = 0; spin < 4; ++spin) {
            for (std::uint64_t colour = 0; colour < 3; ++colour) {
                const std::uint64_t k = first + 2 * (3 * spin + colour);
                psi[spin][colour] = {uniform(k), uniform(k + 1)};
            }
        }
        return psi;
    };
}

link multiply(const link& a, const link& b) {
    link result{};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            for (int k = 0; k < 3; ++k) result[i][j] += product(a[i][k], b[k][j]);
        }
    }
    return result;
}

link dagger(const link& a) {
    link result{};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) result[i][j] = std::conj(a[j][i]);
    }
    return result;
}

spinor multiply(const link& a, const spinor& s) {
    spinor result{};
    for (int spin = 0; spin < 4; ++spin) {
        for (int i = 0; i < 3; ++i) {
            for (int k = 0; k < 3; ++k) result[spin][i] += product(a[i][k], s[spin][k]);
        }
    }
    return result;
}

} // namespace dslash
