// SPDX-License-Identifier: Apache-2.0
// Solvers against what they did not compute: the free propagator in momentum space, and one rank alone. Iterations, sums and solution
// are compared as bits, for every mode and grid.
#include "common/runtime_session.hpp"
#include "local_operator.hpp"
#include "solver.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

using namespace dslash;
using namespace dslash::test;

namespace {

constexpr double tolerance2 = 1e-20;

struct solution {
    solved by;
    std::uint64_t print; ///< Of x on the even sites.
    bool operator==(const solution& other) const {
        return by.iterations == other.by.iterations && by.updates == other.by.updates &&
               by.history == other.by.history && print == other.print;
    }
};

/// Solves Mhat x = b on the even sites, with b itself on the right.
solution solve(method how, mode which, precision real, const local_operator& d, const field& b, field& x, double kappa,
               int n_cores = 1) {
    stencil_options of_iterations{.real = real, .n_threads = n_cores};
    std::unique_ptr<stencil> single;
    if (real == precision::single) {
        of_iterations.width_bytes = d.on->width_bytes() / 2;
        single = make_stencil(d.geom, of_iterations);
        single->set_links(d.links);
    }
    solver by(how, which, single ? *single : *d.on, *d.on, {.comm = d.comm, .n_cores = n_cores}, kappa);
    const double b2 = d.checks.norm2(b, 0);
    solution found{by.run(b, b2, tolerance2 * b2), 0};
    x = d.combine(by.solution(), 1, by.solution(), 0); // zeros
    std::memcpy(x.parity[0].data(), by.solution().parity[0].data(), x.parity[0].size());
    by.barrier();
    found.print = d.checks.fingerprint(x);
    return found;
}

// 4 ranks cut it, and either precision has as many lanes.
constexpr coordinates lattice{4, 4, 8, 16};

struct setting {
    method how;
    precision real;
};

class Solver : public testing::TestWithParam<setting> {
protected:
    solution solve_in(mode which, MPI_Comm comm, int n_cores) const {
        const stencil_options wide{.width_bytes = 32, .n_threads = n_cores};
        const local_operator d(lattice, random_links(lattice), wide, comm);
        const field b = d.make(random_spinor(lattice));
        field x = d.on->make_field();
        solution found = solve(GetParam().how, which, GetParam().real, d, b, x, 0.15, n_cores);
        EXPECT_TRUE(found.by.is_converged);
        return found;
    }
};

TEST_P(Solver, TakesTheSameStepsInEveryModeAndGrid) {
    const solution alone = solve_in(mode::plain, MPI_COMM_SELF, 1);
    EXPECT_GT(alone.by.iterations, 10);
    EXPECT_EQ(alone.by.updates > 2, GetParam().real == precision::single);
    for (const mode_description& each : modes()) {
        const miniapp::runtime_session runtime(each.has_worker);
        for (const int n_cores : {1, 3}) {
            const solution shared = solve_in(each.which, MPI_COMM_WORLD, n_cores);
            EXPECT_EQ(shared.by.iterations, alone.by.iterations) << each.name;
            EXPECT_TRUE(shared == alone) << each.name << ' ' << n_cores;
        }
    }
}

/// M(p)^-1 s = (A - 2i kappa sum gamma sin p) s / (A^2 + 4 kappa^2 sum sin^2 p), with A = 1 - 2 kappa sum cos p.
spinor free_propagator(const std::array<double, 4>& p, const spinor& s, double kappa) {
    double a = 1;
    double sines2 = 0;
    for (const double component : p) {
        a -= 2 * kappa * std::cos(component);
        sines2 += std::pow(std::sin(component), 2);
    }
    const double divisor = a * a + 4 * kappa * kappa * sines2;
    spinor result{};
    for (std::size_t row = 0; row < 4; ++row) {
        for (std::size_t colour = 0; colour < 3; ++colour) {
            complex sum = a * s[row][colour];
            for (std::size_t mu = 0; mu < 4; ++mu) {
                for (std::size_t column = 0; column < 4; ++column) {
                    sum -=
                        complex(0, 2 * kappa * std::sin(p[mu])) * gamma_matrices()[mu][row][column] * s[column][colour];
                }
            }
            result[row][colour] = sum / divisor;
        }
    }
    return result;
}

TEST_P(Solver, PropagatorOfUnitLinksIsTheFreeOne) {
    constexpr double kappa = 0.11;
    constexpr coordinates origin{1, 2, 3, 5}; // of odd parity
    const spinor source{{{1, complex(0, 2), -1}, {0.5, 0, 3}, {complex(1, 1), 1, 0}, {0, -2, complex(0, -1)}}};
    const auto unit = [](const coordinates&, int) {
        dslash::link u{};
        for (std::size_t c = 0; c < 3; ++c) u[c][c] = 1;
        return u;
    };
    const local_operator d(lattice, unit, {.width_bytes = 32});
    const field b = d.make([&](const coordinates& site) { return site == origin ? source : spinor{}; });
    // Mhat x_e = b_e + kappa D_eo b_o; x_o = b_o + kappa D_oe x_e.
    const field even = d.combine(b, kappa, d.hopping(b), 1);
    field x = d.on->make_field();
    ASSERT_TRUE(solve(GetParam().how, mode::plain, GetParam().real, d, even, x, kappa).by.is_converged);
    x = d.combine(x, 1, d.combine(b, kappa, d.hopping(x), 2));

    double worst = 0;
    for (int k = 0; k < 64; ++k) { // momenta all over the zone
        const coordinates n = miniapp::place_of(k * 64 + k % 64, lattice);
        std::array<double, 4> p{};
        for (std::size_t mu = 0; mu < 4; ++mu) {
            p[mu] = 2 * std::numbers::pi * (n[mu] + (mu == 3 ? 0.5 : 0.0)) / lattice[mu];
        }
        spinor transformed{};
        d.for_each_site([&](const coordinates& local, int) {
            const coordinates site = d.geom.to_global(local);
            double angle = 0;
            for (std::size_t mu = 0; mu < 4; ++mu) angle -= p[mu] * (site[mu] - origin[mu]);
            const complex wave = std::polar(1.0, angle);
            const spinor here = d.on->load(x, local);
            for (std::size_t c = 0; c < 12; ++c) transformed[c / 3][c % 3] += wave * here[c / 3][c % 3];
        });
        MPI_Allreduce(MPI_IN_PLACE, transformed.data(), 24, MPI_DOUBLE, MPI_SUM, d.comm);
        const spinor expected = free_propagator(p, source, kappa);
        for (std::size_t c = 0; c < 12; ++c) {
            worst = std::max(worst, std::abs(transformed[c / 3][c % 3] - expected[c / 3][c % 3]));
        }
    }
    EXPECT_LT(worst, 1e-8); // x to 1e-10, times the largest inverse, summed over sites
}

const std::vector<setting> settings{
    {method::cg, precision::double_},          {method::pipelined_cg, precision::double_},
    {method::bicgstab, precision::double_},    {method::cg, precision::single},
    {method::pipelined_cg, precision::single}, {method::bicgstab, precision::single},
};

INSTANTIATE_TEST_SUITE_P(All, Solver, testing::ValuesIn(settings), [](const auto& instance) {
    std::string name = method_names[static_cast<std::size_t>(instance.param.how)];
    std::ranges::replace(name, '-', '_');
    return name + (instance.param.real == precision::single ? "_single" : "_double");
});

TEST(ExactSums, AreTheSameInAnyOrder) {
    const local_operator d(lattice, random_links(lattice), {.width_bytes = 32}, MPI_COMM_SELF);
    const local_operator other(lattice, random_links(lattice), {.width_bytes = 8, .tile_t = 1, .tile_z = 1},
                               MPI_COMM_SELF);
    const auto norm = [](const local_operator& of, int step) {
        const field f = of.make(random_spinor(lattice));
        const auto& tiles = of.on->shape().parity[0].tiles;
        exact_product sum{};
        const auto n = static_cast<int>(tiles.size());
        for (int k = 0; k < n; ++k) {
            exact_product part{};
            const std::array norm{product{&f, &f, 0x1p30}};
            of.on->multiply(tiles[static_cast<std::size_t>(step > 0 ? k : n - 1 - k)], norm, &part);
            sum[0].add(part[0]);
        }
        return sum[0];
    };
    const exact_sum one = norm(d, 1);
    for (const exact_sum& two : {norm(d, -1), norm(other, 1), norm(other, -1)}) {
        EXPECT_EQ(one.high, two.high);
        EXPECT_EQ(one.low, two.low);
    }
    EXPECT_NEAR(one.value(), d.checks.norm2(d.make(random_spinor(lattice)), 0), 1e-10);
}

} // namespace
