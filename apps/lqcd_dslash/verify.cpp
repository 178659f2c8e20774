// SPDX-License-Identifier: Apache-2.0
// The known values come from an independent operator written in numpy; an independent lattice library, run on one and
// on two ranks, agrees with all but D_eo and the origin, which it was not asked for.
#include "verify.hpp"

#include "reduction.hpp"
#include "reference.hpp"

#include <algorithm>
#include <cmath>

namespace dslash {

namespace {

/// Sums `n` quantities over all local sites in parallel; `terms` adds one site's terms.
template <class Terms>
std::vector<double> sum_over_sites(const stencil& on, MPI_Comm comm, std::size_t n, Terms&& terms) {
    std::vector<fixed_sum> sums(n);
    const layout& shape = on.shape();
#pragma omp parallel
    {
        std::vector<fixed_sum> mine(n);
#pragma omp for collapse(2)
        for (int parity = 0; parity < 2; ++parity) {
            for (std::int32_t site = 0; site < shape.n_sites; ++site) {
                for (int lane = 0; lane < shape.n_lanes; ++lane) {
                    terms(shape.local_site(parity, site, lane), parity, mine);
                }
            }
        }
#pragma omp critical
        for (std::size_t k = 0; k < n; ++k) sums[k].add(mine[k]);
    }
    return reduce(sums, comm);
}

complex dot(const spinor& a, const spinor& b) {
    double re = 0;
    double im = 0;
    for (int spin = 0; spin < 4; ++spin) {
        for (int c = 0; c < 3; ++c) {
            re += a[spin][c].real() * b[spin][c].real() + a[spin][c].imag() * b[spin][c].imag();
            im += a[spin][c].real() * b[spin][c].imag() - a[spin][c].imag() * b[spin][c].real();
        }
    }
    return {re, im};
}

struct known_values {
    coordinates lattice;
    double plaquette;
    double norm2_psi;
    double norm2_d_psi;
    complex psi_d_psi;
    double norm2_d_eo_psi_o; ///< 0: not known.
    complex origin;          ///< Spin 0, colour 0 of (D psi)(0); 0: not known.
    double norm2_solution;   ///< |M^-1 psi|^2 at known_kappa.
};

const std::array<known_values, 2> known{{
    {{4, 4, 4, 8},
     0.001717120236485,
     4.063694301242794e3,
     6.572813820351375e4,
     {-2.651074637732590e2, 3.941123642167588e2},
     3.305630043656273e4,
     {-0.158239866665325, 6.02485913434361},
     5226.925954589366},
    {{8, 4, 4, 12},
     0.002584605805477,
     12376.0001888776,
     197558.041044147,
     {45.3846295420, -300.2427457952},
     0,
     {0, 0},
     16075.777794976},
}};

} // namespace

double tolerance(precision real) { return real == precision::double_ ? 1e-12 : 2e-6; }

golden_values checker::golden(const field& psi, const field& d_psi) const {
    const layout& shape = on.shape();
    enum { plaquette, psi2, d_psi2, re, im, deo2, origin, n_sums = origin + 24 };
    const auto sums = sum_over_sites(on, comm, n_sums, [&](const coordinates& local, int parity, auto& sum) {
        const coordinates site = shape.geom.to_global(local);
        const spinor s = on.load(psi, local);
        const spinor d = on.load(d_psi, local);
        const double d2 = dot(d, d).real();
        const complex sd = dot(s, d);
        sum[plaquette].add(plaquette_at(shape.geom.lattice, links, site));
        sum[psi2].add(dot(s, s).real());
        sum[d_psi2].add(d2);
        sum[re].add(sd.real());
        sum[im].add(sd.imag());
        if (parity == 0) sum[deo2].add(d2);
        if (miniapp::index_of(site, shape.geom.lattice) != 0) return;
        for (std::size_t k = 0; k < 12; ++k) {
            sum[origin + 2 * k].add(d[k / 3][k % 3].real());
            sum[origin + 2 * k + 1].add(d[k / 3][k % 3].imag());
        }
    });
    golden_values found;
    found.plaquette = sums[plaquette] / static_cast<double>(shape.geom.global_volume());
    found.norm2_psi = sums[psi2];
    found.norm2_d_psi = sums[d_psi2];
    found.psi_d_psi = {sums[re], sums[im]};
    found.norm2_d_eo_psi_o = sums[deo2];
    for (std::size_t k = 0; k < 12; ++k) {
        found.d_psi_at_origin[k / 3][k % 3] = {sums[origin + 2 * k], sums[origin + 2 * k + 1]};
    }
    return found;
}

double checker::norm2(const field& a, int wanted_parity) const {
    return sum_over_sites(on, comm, 1, [&](const coordinates& local, int parity, auto& sum) {
        if (parity != wanted_parity) return;
        const spinor s = on.load(a, local);
        sum[0].add(dot(s, s).real());
    })[0];
}

check checker::adjoint(const field& chi, const field& d_g5_chi, const field& psi, const field& d_psi) const {
    const auto sums = sum_over_sites(on, comm, 5, [&](const coordinates& local, int, auto& sum) {
        const spinor d = on.load(d_psi, local);
        const complex left = dot(on.load(chi, local), d);
        const complex right = dot(gamma5(on.load(d_g5_chi, local)), on.load(psi, local));
        sum[0].add(left.real());
        sum[1].add(left.imag());
        sum[2].add(right.real());
        sum[3].add(right.imag());
        sum[4].add(dot(d, d).real());
    });
    // The scale of the terms, not of the sum, which may cancel.
    const double error = std::abs(complex(sums[0] - sums[2], sums[1] - sums[3])) / sums[4];
    return {"adjoint: <chi,D psi> = <g5 D g5 chi,psi>", error,
            tolerance(on.real_bytes() == 8 ? precision::double_ : precision::single)};
}

check checker::against_reference(const spinor_function& psi, const field& d_psi) const {
    const layout& shape = on.shape();
    double worst = 0;
    double largest = 0;
#pragma omp parallel for collapse(2) reduction(max : worst, largest)
    for (int parity = 0; parity < 2; ++parity) {
        for (std::int32_t site = 0; site < shape.n_sites; ++site) {
            for (int lane = 0; lane < shape.n_lanes; ++lane) {
                const coordinates local = shape.local_site(parity, site, lane);
                const spinor expected =
                    reference_hopping_term(shape.geom.lattice, links, psi, shape.geom.to_global(local));
                const spinor found = on.load(d_psi, local);
                for (int spin = 0; spin < 4; ++spin) {
                    for (int c = 0; c < 3; ++c) {
                        const double error = std::abs(found[spin][c] - expected[spin][c]);
                        // Not max(): a NaN must win.
                        if (!(error <= worst)) worst = std::isnan(error) ? HUGE_VAL : error;
                        largest = std::max(largest, std::abs(expected[spin][c]));
                    }
                }
            }
        }
    }
    std::array<double, 2> both{worst, largest};
    MPI_Allreduce(MPI_IN_PLACE, both.data(), 2, MPI_DOUBLE, MPI_MAX, comm);
    return {"reference: every site against the naive operator", both[0] / both[1],
            tolerance(on.real_bytes() == 8 ? precision::double_ : precision::single)};
}

std::array<double, 2> checker::residual_and_norm2(const field& x, const spinor_function& b, double kappa) const {
    const geometry& geom = on.shape().geom;
    std::vector<spinor> all(static_cast<std::size_t>(geom.global_volume()));
    const auto index = [&](const coordinates& site) {
        return static_cast<std::size_t>(miniapp::index_of(site, geom.lattice));
    };
    for (std::int64_t k = 0; k < geom.local_volume(); ++k) {
        const coordinates local = miniapp::place_of(k, geom.local_extents());
        all[index(geom.to_global(local))] = on.load(x, local);
    }
    constexpr std::size_t most_at_once = std::size_t{1} << 20;
    for (std::size_t k = 0; k < all.size(); k += most_at_once) {
        const auto n = static_cast<int>(std::min(most_at_once, all.size() - k));
        MPI_Allreduce(MPI_IN_PLACE, &all[k], 24 * n, MPI_DOUBLE, MPI_SUM, comm); // others have zeros there
    }
    const auto sums = sum_over_sites(on, comm, 3, [&](const coordinates& local, int, auto& sum) {
        const coordinates site = geom.to_global(local);
        const spinor source = b(site);
        const spinor& here = all[index(site)];
        const auto x_at = [&](const coordinates& at) { return all[index(at)]; };
        spinor rest = reference_hopping_term(geom.lattice, links, x_at, site);
        for (int k = 0; k < 12; ++k) {
            complex& r = rest[k / 3][k % 3];
            r = source[k / 3][k % 3] - here[k / 3][k % 3] + kappa * r;
        }
        sum[0].add(dot(rest, rest).real() * 0x1p60);
        sum[1].add(dot(source, source).real());
        sum[2].add(dot(here, here).real());
    });
    return {std::sqrt(sums[0] * 0x1p-60 / sums[1]), sums[2]};
}

std::uint64_t checker::fingerprint(const field& of) const { return miniapp::sum_of(on.local_fingerprint(of), comm); }

std::vector<check> against_known_solution(const coordinates& lattice, double kappa, double norm2) {
    constexpr double solver_tolerance = 1e-8; // the residual's, times how much worse the solution's error is
    std::vector<check> checks;
    for (const known_values& k : known) {
        if (k.lattice != lattice || kappa != known_kappa) continue;
        const double want = k.norm2_solution;
        checks.push_back({"golden: |M^-1 psi|^2", std::abs(norm2 - want) / want, solver_tolerance});
    }
    return checks;
}

std::vector<check> against_known(const coordinates& lattice, const golden_values& found, double relative_tolerance) {
    std::vector<check> checks;
    for (const known_values& k : known) {
        if (k.lattice != lattice) continue;
        const auto compare = [&](const char* name, complex have, complex want, double scale) {
            checks.push_back({std::string("golden: ") + name, std::abs(have - want) / scale, relative_tolerance});
        };
        // The tables carry 15 decimals of the plaquette and 13 digits or more of the rest.
        compare("plaquette", found.plaquette, k.plaquette, 1);
        compare("|psi|^2", found.norm2_psi, k.norm2_psi, k.norm2_psi);
        compare("|D psi|^2", found.norm2_d_psi, k.norm2_d_psi, k.norm2_d_psi);
        compare("<psi,D psi>", found.psi_d_psi, k.psi_d_psi, std::abs(k.psi_d_psi));
        if (k.norm2_d_eo_psi_o > 0) {
            compare("|D_eo psi_o|^2", found.norm2_d_eo_psi_o, k.norm2_d_eo_psi_o, k.norm2_d_eo_psi_o);
            compare("(D psi)(0)", found.d_psi_at_origin[0][0], k.origin, std::abs(k.origin));
        }
    }
    return checks;
}

} // namespace dslash
