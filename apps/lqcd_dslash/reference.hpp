// SPDX-License-Identifier: Apache-2.0
// The operator written straight from its definition, for checking: full gamma matrices, all four spins, one site at a
// time, fields evaluated where they are needed. It shares no table, layout or message with the fast kernel.
#pragma once

#include "fields.hpp"

namespace dslash {

using gamma_matrix = std::array<std::array<complex, 4>, 4>;

/// gamma_x, gamma_y, gamma_z, gamma_t in the DeGrand-Rossi basis.
const std::array<gamma_matrix, n_dimensions>& gamma_matrices();

/// gamma_5 = diag(1, 1, -1, -1) applied to a spinor.
spinor gamma5(const spinor& s);

/// (D psi)(site), antiperiodic in T:
/// sum over mu of (1 - gamma_mu) U_mu(x) psi(x+mu) + (1 + gamma_mu) U_mu(x-mu)^dagger psi(x-mu).
spinor reference_hopping_term(const coordinates& lattice, const link_function& links, const spinor_function& psi,
                              const coordinates& site);

/// Mean of Re tr U_plaquette / 3 over the six planes at one site, periodic links.
double plaquette_at(const coordinates& lattice, const link_function& links, const coordinates& site);

} // namespace dslash
