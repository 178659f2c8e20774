// SPDX-License-Identifier: Apache-2.0
// In every mode the forces on moved ions are those that one rank finds alone, and their energy is that of another splitting. The
// sum of all forces is nearly 0, which a force of wrong sign or a lost neighbour is not.
#include "common/runtime_session.hpp"
#include "ewald.hpp"

#include <gtest/gtest.h>

#include <string>

namespace mesh {
namespace {

struct result {
    double energy = 0;
    std::vector<double> forces = std::vector<double>(3 * 216); ///< Of all ions, by their numbers.
    std::uint64_t left = 0;
};

result run(const miniapp::mode& how, bool has_plan, double beta, MPI_Comm comm) {
    int n_ranks = 1;
    MPI_Comm_size(comm, &n_ranks);
    const std::array<int, 3> grid{1, n_ranks > 3 ? 2 : 1, n_ranks > 3 ? n_ranks / 2 : n_ranks};
    settings all{.of = {.kind = 0, .cells = 3, .displacement = 0.05, .grid = grid},
                 .n_mesh = 32,
                 .beta = beta,
                 .fft = {.points = {32, 32, 32},
                         .by = has_plan ? fft3d::schedule::plan : fft3d::schedule::many_to_many,
                         .n_pieces = 3},
                 .n_pieces = 3};
    EXPECT_EQ(fft3d::settle_grid(all.fft, n_ranks), "");
    ewald on(all, {comm, how.has_worker, has_plan});
    miniapp::item_list steps;
    for (int round = 0; round < 2; ++round) on.add_step(steps);
    steps.end(true);
    MPI_Barrier(comm);
    how.make(steps, 2)->run(2 * steps.n_stages());
    result here;
    const std::vector<pull> pulls = on.pulls();
    for (std::size_t k = 0; k < pulls.size(); ++k) {
        here.energy += pulls[k].potential * on.ions()[k].charge / 2;
        for (std::size_t d = 0; d < 3; ++d)
            here.forces[3 * static_cast<std::size_t>(on.numbers()[k]) + d] = pulls[k].force[d];
    }
    here.left = on.left_of_messages();
    MPI_Allreduce(MPI_IN_PLACE, &here.energy, 1, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, &here.left, 1, MPI_UINT64_T, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, here.forces.data(), static_cast<int>(here.forces.size()), MPI_DOUBLE, MPI_SUM, comm);
    on.end();
    return here;
}

class Forces : public testing::TestWithParam<int> {};

TEST_P(Forces, AreThoseThatOneRankFindsAlone) {
    const miniapp::mode& how = miniapp::modes()[static_cast<std::size_t>(GetParam())];
    const miniapp::runtime_session runtime(how.has_worker);
    const result alone = run(miniapp::modes().front(), false, 2, MPI_COMM_SELF);
    for (const bool has_plan : {false, true}) {
        if (has_plan && !how.has_worker) continue;
        const result here = run(how, has_plan, 2, MPI_COMM_WORLD);
        EXPECT_NEAR(here.energy / alone.energy, 1, 1e-13);
        EXPECT_EQ(here.left, 0U);
        for (std::size_t k = 0; k < here.forces.size(); ++k) EXPECT_NEAR(here.forces[k], alone.forces[k], 1e-11) << k;
    }
}

TEST(Ewald, GivesForcesWhoseSumIsZeroAndAnEnergyOfAnySplitting) {
    const result one = run(miniapp::modes().front(), false, 2, MPI_COMM_WORLD);
    const result other = run(miniapp::modes().front(), false, 2.5, MPI_COMM_WORLD);
    EXPECT_NEAR(one.energy / other.energy, 1, 1e-7);
    double largest = 0;
    for (std::size_t d = 0; d < 3; ++d) {
        double sum = 0;
        for (std::size_t k = d; k < one.forces.size(); k += 3) {
            sum += one.forces[k];
            largest = std::max(largest, std::abs(one.forces[k]));
            EXPECT_NEAR(one.forces[k], other.forces[k], 1e-4);
        }
        EXPECT_NEAR(sum, 0, 1e-4);
    }
    EXPECT_GT(largest, 0.1);
}

INSTANTIATE_TEST_SUITE_P(All, Forces, testing::Range(0, static_cast<int>(miniapp::modes().size())),
                         [](const auto& instance) {
                             return std::string(miniapp::modes()[static_cast<std::size_t>(instance.param)].name);
                         });

} // namespace
} // namespace mesh
