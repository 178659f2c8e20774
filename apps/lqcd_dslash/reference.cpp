// SPDX-License-Identifier: Apache-2.0
// Slow on purpose: every product is spelled out, so that a reader can hold it against the formula.
// It shares no code with the kernel, so that the two cannot be wrong together.
#include "reference.hpp"

namespace dslash {

namespace {

constexpr complex i{0, 1};

coordinates moved(coordinates site, int mu, int by, const coordinates& lattice) {
    site[mu] = (site[mu] + by + lattice[mu]) % lattice[mu];
    return site;
}

/// to += (1 + sign * gamma) s
void add_projected(spinor& to, const gamma_matrix& gamma, double sign, const spinor& s) {
    for (int a = 0; a < 4; ++a) {
        for (int c = 0; c < 3; ++c) {
            to[a][c] += s[a][c];
            for (int b = 0; b < 4; ++b) to[a][c] += sign * gamma[a][b] * s[b][c];
        }
    }
}

} // namespace

const std::array<gamma_matrix, n_dimensions>& gamma_matrices() {
    static const std::array<gamma_matrix, n_dimensions> matrices{{
        {{{0, 0, 0, i}, {0, 0, i, 0}, {0, -i, 0, 0}, {-i, 0, 0, 0}}},
        {{{0, 0, 0, -1}, {0, 0, 1, 0}, {0, 1, 0, 0}, {-1, 0, 0, 0}}},
        {{{0, 0, i, 0}, {0, 0, 0, -i}, {-i, 0, 0, 0}, {0, i, 0, 0}}},
        {{{0, 0, 1, 0}, {0, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, 0}}},
    }};
    return matrices;
}

spinor gamma5(const spinor& s) {
    spinor result = s;
    for (int spin = 2; spin < 4; ++spin) {
        for (complex& c : result[spin]) c = -c;
    }
    return result;
}

spinor reference_hopping_term(const coordinates& lattice, const link_function& links, const spinor_function& psi,
                              const coordinates& site) {
    spinor sum{};
    for (int mu = 0; mu < n_dimensions; ++mu) {
        const coordinates ahead = moved(site, mu, 1, lattice);
        const coordinates behind = moved(site, mu, -1, lattice);
        spinor forward = multiply(links(site, mu), psi(ahead));
        spinor backward = multiply(dagger(links(behind, mu)), psi(behind));
        for (int spin = 0; spin < 4; ++spin) {
            for (int c = 0; c < 3; ++c) {
                forward[spin][c] *= boundary_sign(site, mu, lattice);
                backward[spin][c] *= boundary_sign(behind, mu, lattice);
            }
        }
        add_projected(sum, gamma_matrices()[mu], -1, forward);
        add_projected(sum, gamma_matrices()[mu], 1, backward);
    }
    return sum;
}

double plaquette_at(const coordinates& lattice, const link_function& links, const coordinates& site) {
    double sum = 0;
    for (int mu = 0; mu < n_dimensions; ++mu) {
        for (int nu = mu + 1; nu < n_dimensions; ++nu) {
            const link lower = multiply(links(site, mu), links(moved(site, mu, 1, lattice), nu));
            const link upper = multiply(links(site, nu), links(moved(site, nu, 1, lattice), mu));
            const link loop = multiply(lower, dagger(upper));
            for (int c = 0; c < 3; ++c) sum += loop[c][c].real();
        }
    }
    return sum / 18;
}

} // namespace dslash
