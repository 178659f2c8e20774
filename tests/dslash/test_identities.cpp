// SPDX-License-Identifier: Apache-2.0
// Identities that the operator must satisfy whatever its implementation: the free spectrum, abelian shifts,
// hermiticity, gauge covariance, Schur. Four different extents, so that exchanged dimensions show; random SU(3), so
// that U in place of U^dagger shows.
#include "local_operator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

using namespace dslash;
using namespace dslash::test;

namespace {

constexpr coordinates lattice{4, 6, 8, 16};
constexpr double kappa = 0.12;

const spinor polarisation = [] {
    spinor s{};
    for (std::size_t k = 0; k < 12; ++k) s[k / 3][k % 3] = {uniform(900 + 2 * k), uniform(901 + 2 * k)};
    return s;
}();

using momentum = std::array<double, 4>;

/// Allowed momentum: periodic in space, antiperiodic in T.
momentum momentum_of(const std::array<int, 4>& n) {
    momentum p{};
    for (std::size_t mu = 0; mu < 4; ++mu) {
        p[mu] = 2 * std::numbers::pi * (n[mu] + (mu == 3 ? 0.5 : 0.0)) / lattice[mu];
    }
    return p;
}

/// D on a plane wave at U = 1: 2 sum cos p - 2i sum gamma sin p.
spinor free_operator(const momentum& p, const spinor& s) {
    spinor result{};
    for (std::size_t mu = 0; mu < 4; ++mu) {
        for (std::size_t a = 0; a < 4; ++a) {
            for (std::size_t c = 0; c < 3; ++c) {
                result[a][c] += 2 * std::cos(p[mu]) * s[a][c];
                for (std::size_t b = 0; b < 4; ++b) {
                    result[a][c] -= complex(0, 2) * std::sin(p[mu]) * gamma_matrices()[mu][a][b] * s[b][c];
                }
            }
        }
    }
    return result;
}

constexpr std::array<std::array<int, 4>, 5> modes_of_momentum{
    {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 2, 0, 0}, {1, 1, 3, 2}, {3, 4, 5, 7}}};

/// exp(i angle_mu) times the unit matrix, the same everywhere.
link_function constant_phase_links(const momentum& angles) {
    return [angles](const coordinates&, int mu) {
        dslash::link u{};
        for (std::size_t c = 0; c < 3; ++c) u[c][c] = std::polar(1.0, angles[static_cast<std::size_t>(mu)]);
        return u;
    };
}

/// exp(i p x) times `of`.
spinor_function plane_wave(const momentum& p, const spinor& of) {
    return [p, of](const coordinates& site) {
        double angle = 0;
        for (std::size_t mu = 0; mu < 4; ++mu) angle += p[mu] * site[mu];
        spinor psi = of;
        for (auto& colours : psi) {
            for (complex& c : colours) c *= std::polar(1.0, angle);
        }
        return psi;
    };
}

/// <a, b> over the whole lattice; collective.
complex inner_product(const local_operator& d, const field& a, const field& b) {
    complex sum = 0;
    d.for_each_site([&](const coordinates& local, int) {
        const spinor left = d.on->load(a, local);
        const spinor right = d.on->load(b, local);
        for (std::size_t k = 0; k < 12; ++k) sum += std::conj(left[k / 3][k % 3]) * right[k / 3][k % 3];
    });
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, d.comm);
    return sum;
}

class Identities : public testing::TestWithParam<int> {
protected:
    stencil_options options() const { return {.width_bytes = 0, .link_reals = GetParam()}; }
};

TEST_P(Identities, PlaneWavesAreEigenvectorsAtUnitLinks) {
    const local_operator d(lattice, constant_phase_links({0, 0, 0, 0}), options());
    for (const auto& n : modes_of_momentum) {
        const momentum p = momentum_of(n);
        const field out = d.hopping(d.make(plane_wave(p, polarisation)));
        EXPECT_LT(d.distance(out, plane_wave(p, free_operator(p, polarisation))), 1e-12);
    }
}

TEST_P(Identities, FreeEigenvaluesAreThoseOfTheSpectrum) {
    // (D - 2C)^2 = -4 sum sin^2 p on a plane wave, so the eigenvalues are 2C +- 2i sqrt(sum sin^2 p).
    const local_operator d(lattice, constant_phase_links({0, 0, 0, 0}), options());
    const momentum p = momentum_of({1, 2, 3, 4});
    double c = 0;
    double s2 = 0;
    for (const double component : p) {
        c += std::cos(component);
        s2 += std::sin(component) * std::sin(component);
    }
    const field wave = d.make(plane_wave(p, polarisation));
    const field once = d.combine(d.hopping(wave), -2 * c, wave);
    const field twice = d.combine(d.hopping(once), -2 * c, once);
    spinor expected = polarisation;
    for (auto& colours : expected) {
        for (complex& value : colours) value *= -4 * s2;
    }
    EXPECT_LT(d.distance(twice, plane_wave(p, expected)), 1e-12);
}

TEST_P(Identities, ConstantPhasesShiftTheMomentum) {
    if (options().link_reals == 12) GTEST_SKIP() << "U(1) phases are not SU(3): two rows cannot carry them";
    const momentum angles{0.3, -0.7, 1.1, 0.2};
    const local_operator d(lattice, constant_phase_links(angles), options());
    const momentum p = momentum_of({1, 2, 1, 3});
    momentum shifted = p;
    for (std::size_t mu = 0; mu < 4; ++mu) shifted[mu] += angles[mu];
    const field out = d.hopping(d.make(plane_wave(p, polarisation)));
    EXPECT_LT(d.distance(out, plane_wave(p, free_operator(shifted, polarisation))), 1e-12);
}

TEST_P(Identities, Gamma5MakesTheOperatorItsAdjoint) {
    const local_operator d(lattice, random_links(lattice), options());
    const field a = d.make(random_spinor(lattice, 1));
    const field b = d.make(random_spinor(lattice, 2));
    // <a, M b> = <M^dagger a, b> with M^dagger = g5 M g5 and M = 1 - kappa D.
    const field m_b = d.combine(b, -kappa, d.hopping(b));
    const field g5_a = d.with_gamma5(a);
    const field adjoint_a = d.with_gamma5(d.combine(g5_a, -kappa, d.hopping(g5_a)));
    const complex left = inner_product(d, a, m_b);
    const complex right = inner_product(d, adjoint_a, b);
    EXPECT_LT(std::abs(left - right), 1e-12 * std::sqrt(d.norm2(a) * d.norm2(m_b)));
}

TEST_P(Identities, GaugeTransformationsAreCovariant) {
    const link_function links = random_links(lattice);
    const auto rotation = [other = random_links({64, 64, 64, 64})](const coordinates& site) { return other(site, 0); };
    const link_function rotated_links = [&](const coordinates& site, int mu) {
        coordinates next = site;
        next[static_cast<std::size_t>(mu)] =
            (site[static_cast<std::size_t>(mu)] + 1) % lattice[static_cast<std::size_t>(mu)];
        return multiply(multiply(rotation(site), links(site, mu)), dagger(rotation(next)));
    };
    const spinor_function psi = random_spinor(lattice);
    const local_operator d(lattice, links, options());
    const local_operator rotated_d(lattice, rotated_links, options());
    const field out = d.hopping(d.make(psi));
    const field rotated_out =
        rotated_d.hopping(rotated_d.make([&](const coordinates& site) { return multiply(rotation(site), psi(site)); }));
    field expected = d.on->make_field();
    d.for_each_site([&](const coordinates& local, int) {
        d.on->store(expected, local, multiply(rotation(d.geom.to_global(local)), d.on->load(out, local)));
    });
    EXPECT_LT(d.norm2(d.combine(rotated_out, -1, expected)), 1e-26 * d.norm2(out));
}

TEST_P(Identities, SitesOfOneParityAreNotConnected) {
    const local_operator d(lattice, random_links(lattice), options());
    const field psi = d.make(random_spinor(lattice));
    for (const int parity : {0, 1}) {
        const field half = d.combine(psi, 0, psi, 1 << parity);
        EXPECT_EQ(d.checks.norm2(d.hopping(half), parity), 0);
    }
}

/// Solves M x = b by conjugate gradients on the normal equations. `apply` is M, `parities` where the fields live.
template <class Apply>
field solve(const local_operator& d, Apply&& apply, const field& b, int parities) {
    const auto adjoint = [&](const field& f) { return d.with_gamma5(apply(d.with_gamma5(f))); };
    field x = d.combine(b, -1, b, parities);
    field r = adjoint(b);
    field p = d.combine(r, 0, r, parities);
    double r2 = d.norm2(r);
    const double goal = 1e-26 * r2;
    for (int k = 0; k < 300 && r2 > goal; ++k) {
        const field a_p = apply(p);
        const double alpha = r2 / d.norm2(a_p);
        x = d.combine(x, alpha, p, parities);
        r = d.combine(r, -alpha, adjoint(a_p), parities);
        const double next = d.norm2(r);
        p = d.combine(r, next / r2, p, parities);
        r2 = next;
    }
    return x;
}

TEST_P(Identities, SchurSolutionIsTheFullSolution) {
    constexpr coordinates small{4, 4, 4, 8};
    if (!choose_grid(small, size_of(MPI_COMM_WORLD))) GTEST_SKIP() << "4.4.4.8 has two ranks at most";
    const local_operator d(small, random_links(small), options());
    const field b = d.make(random_spinor(small));
    const field full = solve(d, [&](const field& f) { return d.combine(f, -kappa, d.hopping(f)); }, b, 3);
    // Mhat = 1 - kappa^2 D_eo D_oe on even sites; x_o = b_o + kappa D_oe x_e.
    const auto schur = [&](const field& f) {
        return d.combine(f, -kappa * kappa, d.hopping(d.combine(d.hopping(f), 0, f, 2)), 1);
    };
    const field b_e = d.combine(b, kappa, d.hopping(d.combine(b, 0, b, 2)), 1);
    const field x_e = solve(d, schur, b_e, 1);
    const field x_o = d.combine(b, kappa, d.hopping(x_e), 2);
    const field x = d.combine(x_e, 1, x_o);
    EXPECT_LT(d.norm2(d.combine(x, -1, full)), 1e-22 * d.norm2(full));
    EXPECT_NEAR(d.norm2(full), 5226.9259545894, 1e-8);
}

INSTANTIATE_TEST_SUITE_P(LinkReals, Identities, testing::Values(18, 12));

} // namespace
