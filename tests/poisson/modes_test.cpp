// SPDX-License-Identifier: Apache-2.0
// Every mode with every way of the halos, by both methods, on every number of ranks, gives the bits that one rank gives alone, and
// at every point what the steps give in exact arithmetic. A halo that was read too early or twice differs in a few points only.
#include "common/runtime_session.hpp"
#include "halo.hpp"

#include <gtest/gtest.h>

#include <string>

namespace poisson {
namespace {

constexpr int n_steps = 5;

/// What a run leaves, summed over the ranks.
struct result {
    std::uint64_t fingerprint = 0;
    double error = 0;
};

result run(const miniapp::mode& how, halo_kind kind, problem whole, int n_cores, MPI_Comm comm) {
    const std::array<int, 2> is_periodic{};
    int n_ranks = 1;
    MPI_Comm_size(comm, &n_ranks);
    MPI_Dims_create(n_ranks, 2, whole.grid.data());
    MPI_Comm cart = MPI_COMM_NULL;
    MPI_Cart_create(comm, 2, whole.grid.data(), is_periodic.data(), 0, &cart);
    domain on(whole, cart);
    halo by(on, kind, cart, how.has_worker);
    miniapp::item_list steps;
    by.add_steps(steps);
    on.reset();
    by.pack(0);
    by.barrier();
    how.make(steps, n_cores)->run(n_steps);
    by.barrier();
    by.end();
    result all{on.fingerprint(n_steps), on.error(n_steps)};
    MPI_Allreduce(MPI_IN_PLACE, &all.fingerprint, 1, MPI_UINT64_T, MPI_SUM, cart);
    MPI_Allreduce(MPI_IN_PLACE, &all.error, 1, MPI_DOUBLE, MPI_MAX, cart);
    MPI_Comm_free(&cart);
    return all;
}

class Modes : public testing::TestWithParam<int> {};

TEST_P(Modes, GiveTheBitsOfOneRankAloneAndTheExactValuesByEveryHalo) {
    const miniapp::mode& how = modes()[static_cast<std::size_t>(GetParam())];
    const miniapp::runtime_session runtime(how.has_worker);
    int n_ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (const method by : {method::jacobi, method::red_black}) {
        // On crowded cores every step and every thread takes milliseconds.
        const int n_cores = by == method::jacobi || n_ranks > 2 ? 1 : 3;
        const problem whole{.points = {23, 15}, .by = by, .n_bands = 3};
        const result alone = run(modes().front(), halo_kind::p2p, whole, 1, MPI_COMM_SELF);
        EXPECT_LE(alone.error, domain::tolerance(n_steps));
        for (const halo_kind kind : {halo_kind::p2p, halo_kind::neighbor, halo_kind::put, halo_kind::get}) {
            const result here = run(how, kind, whole, n_cores, MPI_COMM_WORLD);
            const std::string what =
                "halo " + std::to_string(static_cast<int>(kind)) + ", method " + std::to_string(static_cast<int>(by));
            EXPECT_EQ(here.fingerprint, alone.fingerprint) << what;
            EXPECT_LE(here.error, domain::tolerance(n_steps)) << what;
        }
    }
}

TEST(Domain, SeesAPointThatIsOff) {
    for (const method by : {method::jacobi, method::red_black}) {
        const problem whole{.points = {9, 11}, .grid = {1, 1}, .by = by, .n_bands = 2};
        const std::array<int, 2> dims{1, 1};
        const std::array<int, 2> is_periodic{};
        MPI_Comm cart = MPI_COMM_NULL;
        MPI_Cart_create(MPI_COMM_SELF, 2, dims.data(), is_periodic.data(), 0, &cart);
        domain on(whole, cart);
        on.reset();
        for (int step = 0; step < n_steps; ++step) {
            on.compute_ring(step);
            if (step != 3) on.compute_band(step, 0); // one band of one step is forgotten
            on.compute_band(step, 1);
        }
        EXPECT_GT(on.error(n_steps), 1000 * domain::tolerance(n_steps));
        MPI_Comm_free(&cart);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Modes, testing::Range(0, static_cast<int>(modes().size())), [](const auto& instance) {
    return std::string(modes()[static_cast<std::size_t>(instance.param)].name);
});

} // namespace
} // namespace poisson
