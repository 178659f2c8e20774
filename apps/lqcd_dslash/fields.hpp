// SPDX-License-Identifier: Apache-2.0
// The gauge and spinor fields, as functions of the global site alone: no file, no random state, no dependence on the
// grid. A rank can evaluate any link or spinor of the whole lattice, so the reference operator needs no messages and
// the copies U_mu(x-mu) that a rank holds of its neighbours' links need no exchange.
#pragma once

#include "geometry.hpp"

#include <array>
#include <complex>
#include <functional>

namespace dslash {

using complex = std::complex<double>;
using link = std::array<std::array<complex, 3>, 3>;   ///< [row][column]
using spinor = std::array<std::array<complex, 3>, 4>; ///< [spin][colour]

/// Link U_mu at a global site. The antiperiodic sign in T is not in the link (its two-row form would lose it).
using link_function = std::function<link(const coordinates& site, int mu)>;
using spinor_function = std::function<spinor(const coordinates& site)>;

/// A number in [-1, 1) that depends on `n` alone.
double uniform(std::uint64_t n);

/// The random SU(3) field and the random spinor that the golden values belong to.
link_function random_links(const coordinates& lattice);
spinor_function random_spinor(const coordinates& lattice, std::uint64_t seed = 0);

/// -1 on links that cross the antiperiodic boundary, from T-1 to 0; else 1.
inline double boundary_sign(const coordinates& site, int mu, const coordinates& lattice) {
    return mu == 3 && site[3] == lattice[3] - 1 ? -1.0 : 1.0;
}

link multiply(const link& a, const link& b);
link dagger(const link& a);
spinor multiply(const link& a, const spinor& s);

} // namespace dslash
