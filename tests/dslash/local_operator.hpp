// SPDX-License-Identifier: Apache-2.0
// A stencil with its fields and the plain exchange, ready for a test: D, M and sums over the whole lattice in one line.
// Tests then say what an identity is, and not how fields are moved.
#pragma once

#include "verify.hpp"

#include "reduction.hpp"
#include "reference.hpp"

#include <cmath>

namespace dslash::test {

inline int size_of(MPI_Comm comm) {
    int n = 1;
    MPI_Comm_size(comm, &n);
    return n;
}

inline int rank_in(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

/// D on the lattice that `comm` shares.
struct local_operator {
    local_operator(const coordinates& lattice, const link_function& links_, stencil_options options = {},
                   MPI_Comm comm_ = MPI_COMM_WORLD, bool force_comm = false)
        : comm(comm_), links(links_),
          geom(make_geometry(lattice, choose_grid(lattice, size_of(comm)).value(), rank_in(comm), force_comm)),
          on(make_stencil(geom, options)), checks{*on, comm, links},
          plain(std::make_unique<exchange>(mode::plain, *on, exchange_options{.comm = comm})) {
        on->set_links(links);
    }

    field make(const spinor_function& values) const {
        field f = on->make_field();
        on->fill(f, values);
        return f;
    }

    field hopping(const field& in) const {
        field out = on->make_field();
        plain->run(in, out, 2, 1);
        return out;
    }

    /// Calls `visit` with every local site and whether its parity is odd.
    template <class Visit>
    void for_each_site(Visit&& visit) const {
        for (int parity = 0; parity < 2; ++parity) {
            for (std::int32_t site = 0; site < on->shape().n_sites; ++site) {
                for (int lane = 0; lane < on->shape().n_lanes; ++lane) {
                    visit(on->shape().local_site(parity, site, lane), parity);
                }
            }
        }
    }

    /// a + factor * b on the sites of `parities` (bit 0: even, bit 1: odd); zero elsewhere.
    field combine(const field& a, complex factor, const field& b, int parities = 3) const {
        field sum = on->make_field();
        for_each_site([&](const coordinates& local, int parity) {
            spinor value{};
            if ((parities >> parity & 1) != 0) {
                value = on->load(a, local);
                const spinor other = on->load(b, local);
                for (std::size_t k = 0; k < 12; ++k) value[k / 3][k % 3] += factor * other[k / 3][k % 3];
            }
            on->store(sum, local, value);
        });
        return sum;
    }

    field with_gamma5(const field& in) const {
        field out = on->make_field();
        for_each_site([&](const coordinates& local, int) { on->store(out, local, gamma5(on->load(in, local))); });
        return out;
    }

    double norm2(const field& f) const { return checks.norm2(f, 0) + checks.norm2(f, 1); }

    /// Largest |component| of a - expected over all ranks.
    double distance(const field& a, const spinor_function& expected) const {
        double worst = 0;
        for_each_site([&](const coordinates& local, int) {
            const spinor have = on->load(a, local);
            const spinor want = expected(geom.to_global(local));
            for (std::size_t k = 0; k < 12; ++k) {
                const double error = std::abs(have[k / 3][k % 3] - want[k / 3][k % 3]);
                if (!(error <= worst)) worst = std::isnan(error) ? HUGE_VAL : error;
            }
        });
        MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, comm);
        return worst;
    }

    MPI_Comm comm;
    link_function links;
    geometry geom;
    std::unique_ptr<stencil> on;
    checker checks;
    std::unique_ptr<exchange> plain;
};

} // namespace dslash::test
