// SPDX-License-Identifier: Apache-2.0
// What every run is checked by: values that others computed, an identity of the operator, the naive operator, and the
// plain exchange. All sums are the same bit by bit for every grid, so a printed digit never depends on the ranks.
#pragma once

#include "common/report.hpp"
#include "exchange.hpp"

#include <array>
#include <string>
#include <vector>

namespace dslash {

/// The quantities of `--check golden`.
struct golden_values {
    double plaquette = 0; ///< Mean of Re tr U_p / 3.
    double norm2_psi = 0;
    double norm2_d_psi = 0;
    complex psi_d_psi = 0;
    double norm2_d_eo_psi_o = 0;
    spinor d_psi_at_origin{};
};

using miniapp::check;

struct checker {
    stencil& on;
    MPI_Comm comm;
    link_function links;

    /// Collective.
    golden_values golden(const field& psi, const field& d_psi) const;
    /// Collective.
    double norm2(const field& a, int parity) const;
    /// <chi, D psi> against <g5 D g5 chi, psi>, relative; collective. `d_g5_chi` is D applied to g5 chi.
    check adjoint(const field& chi, const field& d_g5_chi, const field& psi, const field& d_psi) const;
    /// Largest deviation of `d_psi` from the naive operator on this rank's sites, relative to the largest spinor
    /// component; collective.
    check against_reference(const spinor_function& psi, const field& d_psi) const;
    /// |b - M x| / |b| by the naive operator on all sites, M = 1 - kappa D, and |x|^2; collective. Each rank gets the whole of x.
    std::array<double, 2> residual_and_norm2(const field& x, const spinor_function& b, double kappa) const;
    /// Sum of the ranks' fingerprints; collective.
    std::uint64_t fingerprint(const field& of) const;
};

/// Rounding that a correct run may show, in units of the precision.
double tolerance(precision real);

/// The kappa that |M^-1 psi|^2 is known for.
inline constexpr double known_kappa = 0.12;

/// Compares |M^-1 psi|^2 where it is known.
std::vector<check> against_known_solution(const coordinates& lattice, double kappa, double norm2);

/// Compares with the values that are known for this lattice; empty when none are.
std::vector<check> against_known(const coordinates& lattice, const golden_values& found, double relative_tolerance);

} // namespace dslash
