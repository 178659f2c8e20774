// SPDX-License-Identifier: Apache-2.0
// The golden values on both lattices, in every precision, width and link storage; and the naive operator at every site,
// on a lattice with four different extents.
#include "local_operator.hpp"

#include <gtest/gtest.h>

#include <cstring>

using namespace dslash;
using namespace dslash::test;

namespace {

struct variant {
    precision real;
    int width_bytes;
    int link_reals;
};

void PrintTo(const variant& v, std::ostream* out) {
    *out << (v.real == precision::double_ ? "double" : "single") << ' ' << v.width_bytes << " bytes, " << v.link_reals
         << " reals";
}

class Golden : public testing::TestWithParam<variant> {
protected:
    /// Nothing where the local extents have no room for the width.
    std::optional<stencil_options> options(const coordinates& lattice, bool force_comm) const {
        const auto grid = choose_grid(lattice, size_of(MPI_COMM_WORLD));
        if (!grid) return std::nullopt;
        const stencil_options wanted{
            .real = GetParam().real, .width_bytes = GetParam().width_bytes, .link_reals = GetParam().link_reals};
        const geometry geom = make_geometry(lattice, *grid, rank_in(MPI_COMM_WORLD), force_comm);
        return width_refusal(geom, wanted).empty() ? std::optional(wanted) : std::nullopt;
    }
};

TEST_P(Golden, ValuesAreThoseOfTheIndependentOperator) {
    for (const coordinates& lattice : {coordinates{4, 4, 4, 8}, coordinates{8, 4, 4, 12}}) {
        const auto wanted = options(lattice, false);
        if (!wanted) continue;
        const local_operator d(lattice, random_links(lattice), *wanted);
        const field psi = d.make(random_spinor(lattice));
        const golden_values found = d.checks.golden(psi, d.hopping(psi));
        const auto checks = against_known(lattice, found, 10 * tolerance(GetParam().real));
        EXPECT_GE(checks.size(), 4U);
        for (const check& c : checks) EXPECT_TRUE(c.passed()) << c.name << ' ' << c.error;
    }
}

TEST_P(Golden, EverySiteAgreesWithTheNaiveOperator) {
    const coordinates lattice{8, 4, 12, 16};
    for (const bool force_comm : {false, true}) {
        const auto wanted = options(lattice, force_comm);
        if (!wanted) continue;
        const local_operator d(lattice, random_links(lattice), *wanted, MPI_COMM_WORLD, force_comm);
        const spinor_function psi = random_spinor(lattice);
        const check c = d.checks.against_reference(psi, d.hopping(d.make(psi)));
        EXPECT_TRUE(c.passed()) << c.error;
    }
}

TEST(GoldenSums, AreTheSameBitsForEveryGridAndWidth) {
    const coordinates lattice{8, 4, 12, 16};
    const auto values = [&](MPI_Comm comm, int width_bytes) {
        const local_operator d(lattice, random_links(lattice), {.width_bytes = width_bytes}, comm);
        const field psi = d.make(random_spinor(lattice));
        return d.checks.golden(psi, d.hopping(psi));
    };
    const golden_values alone = values(MPI_COMM_SELF, 0);
    for (const int width : {0, 32, 16, 8}) {
        const golden_values shared = values(MPI_COMM_WORLD, width);
        EXPECT_EQ(std::memcmp(&alone, &shared, sizeof alone), 0) << "width " << width;
    }
}

INSTANTIATE_TEST_SUITE_P(Variants, Golden,
                         testing::Values(variant{precision::double_, 64, 18}, variant{precision::double_, 32, 18},
                                         variant{precision::double_, 16, 18}, variant{precision::double_, 8, 18},
                                         variant{precision::double_, 64, 12}, variant{precision::double_, 8, 12},
                                         variant{precision::single, 64, 18}, variant{precision::single, 32, 18},
                                         variant{precision::single, 16, 18}, variant{precision::single, 4, 18},
                                         variant{precision::single, 64, 12}, variant{precision::single, 32, 12}));

} // namespace
