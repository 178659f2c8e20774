// SPDX-License-Identifier: Apache-2.0
// Every mode, on every number of ranks, with and without --force-comm, gives the bits that one rank gives alone.
// Bits, not tolerances: a hop that read a halo too early would differ in a few sites only.
#include "common/runtime_session.hpp"
#include "local_operator.hpp"

#include <gtest/gtest.h>

using namespace dslash;
using namespace dslash::test;

namespace {

constexpr coordinates lattice{8, 4, 12, 16};
constexpr int n_hops = 10;
constexpr double scale = 0.25;

/// What a chain of hops leaves, as a fingerprint; collective over `comm`.
std::uint64_t fingerprint_of_chain(mode which, MPI_Comm comm, const stencil_options& options, int n_cores,
                                   bool force_comm) {
    const local_operator d(lattice, random_links(lattice), options, comm, force_comm);
    field work = d.make(random_spinor(lattice));
    exchange active(which, *d.on, {.comm = comm, .n_cores = n_cores, .probe_every = 1});
    active.run(work, work, n_hops, scale);
    active.barrier();
    return d.checks.fingerprint(work);
}

struct setting {
    mode which;
    int n_cores;
};

class Modes : public testing::TestWithParam<setting> {};

TEST_P(Modes, GiveTheBitsOfOneRankAlone) {
    const auto [which, n_cores] = GetParam();
    const miniapp::runtime_session runtime(describe(which).has_worker);
    for (const precision real : {precision::double_, precision::single}) {
        const std::uint64_t alone = fingerprint_of_chain(mode::plain, MPI_COMM_SELF, {.real = real}, 1, false);
        for (const bool force_comm : {false, true}) {
            for (const int tile_t : {0, 1}) {
                const stencil_options options{.real = real, .tile_t = tile_t, .tile_z = tile_t, .n_threads = n_cores};
                EXPECT_EQ(fingerprint_of_chain(which, MPI_COMM_WORLD, options, n_cores, force_comm), alone)
                    << "force_comm " << force_comm << ", tile " << tile_t;
            }
        }
    }
}

const std::vector<setting> settings{
    {mode::plain, 1},   {mode::baseline, 1}, {mode::baseline, 3}, {mode::iprobe, 2}, {mode::commself, 2},
    {mode::offload, 1}, {mode::offload, 3},  {mode::omp, 1},      {mode::omp, 3},
#if MINIAPP_HAS_TBB
    {mode::tbb, 1},     {mode::tbb, 3},
#endif
};

INSTANTIATE_TEST_SUITE_P(All, Modes, testing::ValuesIn(settings), [](const auto& instance) {
    return std::string(describe(instance.param.which).name) + "_" + std::to_string(instance.param.n_cores) + "_cores";
});

} // namespace
