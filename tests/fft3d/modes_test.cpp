// SPDX-License-Identifier: Apache-2.0
// Every mode with every schedule, on every number of ranks, gives the bits that one rank gives alone; there the spectrum is that of
// the sums that define it. Axes of different lengths show what takes one for another.
#include "common/runtime_session.hpp"
#include "npb.hpp"

#include <gtest/gtest.h>

#include <numbers>
#include <string>

namespace fft3d {
namespace {

constexpr extents n_points{12, 24, 36};
constexpr int n_steps = 3;
const double scale = 1.0 / (n_points[0] * n_points[1] * n_points[2]);

/// All lines along x of the points and along z of the spectrum, with zeros where another rank has them.
struct result {
    std::vector<complex> points = std::vector<complex>(12 * 24 * 36);
    std::vector<complex> spectrum = points;
    std::uint64_t left = 0;
};

void make_points(transform& on) {
    const box here = on.points_box();
    for (int z = 0; z < here.count[2]; ++z) {
        for (int y = 0; y < here.count[1]; ++y)
            npb::make_line(n_points, here.first[1] + y, here.first[2] + z, on.points_line(y, z));
    }
}

result run(const miniapp::mode& how, shape of, int n_cores, MPI_Comm comm) {
    int n_ranks = 1;
    MPI_Comm_size(comm, &n_ranks);
    of.points = n_points;
    EXPECT_EQ(settle_grid(of, n_ranks), "");
    transform on(of, comm, how.has_worker);
    miniapp::item_list steps;
    for (int round = 0; round < 2; ++round) {
        on.add_forward(steps);
        on.add_inverse(steps, [](const spectrum_line& line) {
            for (int z = 0; z < n_points[2]; ++z) line.to[z] = line.from[z] * (line.turn == 0 ? 2 * scale : scale);
        });
    }
    steps.end(true);
    make_points(on);
    MPI_Barrier(comm);
    how.make(steps, n_cores)->run(n_steps * steps.n_stages());
    result all;
    const box here = on.points_box();
    for (int z = 0; z < here.count[2]; ++z) {
        for (int y = 0; y < here.count[1]; ++y)
            std::copy_n(on.points_line(y, z), n_points[0],
                        &all.points[((here.first[2] + z) * n_points[1] + here.first[1] + y) * n_points[0]]);
    }
    const box there = on.spectrum_box();
    for (int x = 0; x < there.count[0]; ++x) {
        for (int y = 0; y < there.count[1]; ++y)
            std::copy_n(on.z_line(x, y), n_points[2],
                        &all.spectrum[((there.first[0] + x) * n_points[1] + there.first[1] + y) * n_points[2]]);
    }
    all.left = on.left_of_messages();
    for (auto* const each : {&all.points, &all.spectrum})
        MPI_Allreduce(MPI_IN_PLACE, each->data(), static_cast<int>(each->size()), MPI_C_DOUBLE_COMPLEX, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, &all.left, 1, MPI_UINT64_T, MPI_SUM, comm);
    on.end();
    return all;
}

class Modes : public testing::TestWithParam<int> {};

TEST_P(Modes, GiveTheBitsOfOneRankAloneByEverySchedule) {
    const miniapp::mode& how = miniapp::modes()[static_cast<std::size_t>(GetParam())];
    const miniapp::runtime_session runtime(how.has_worker);
    const result alone = run(miniapp::modes().front(), {}, 1, MPI_COMM_SELF);
    for (const schedule by :
         {schedule::alltoallv, schedule::alltoall, schedule::many_to_many, schedule::plan, schedule::pipeline}) {
        const result here =
            run(how, {.by = by, .n_batches = by == schedule::pipeline ? 5 : 1, .n_pieces = 3}, 2, MPI_COMM_WORLD);
        EXPECT_EQ(here.points, alone.points) << "schedule " << static_cast<int>(by);
        EXPECT_EQ(here.spectrum, alone.spectrum) << "schedule " << static_cast<int>(by);
        EXPECT_EQ(here.left, 0U);
    }
}

TEST(Transform, GivesTheSumsThatDefineTheSpectrumAndThePointsAgain) {
    const result alone = run(miniapp::modes().front(), {}, 1, MPI_COMM_SELF);
    std::vector<complex> first(12 * 24 * 36);
    for (int z = 0; z < n_points[2]; ++z) {
        for (int y = 0; y < n_points[1]; ++y)
            npb::make_line(n_points, y, z, &first[(z * n_points[1] + y) * n_points[0]]);
    }
    for (std::size_t k = 0; k < first.size(); ++k) EXPECT_LE(std::abs(alone.points[k] - 2.0 * first[k]), 1e-14);
    for (const extents& wave : {extents{0, 0, 0}, extents{1, 2, 3}, extents{11, 5, 0}, extents{6, 23, 35}}) {
        complex sum = 0;
        std::size_t k = 0;
        for (int z = 0; z < n_points[2]; ++z) {
            for (int y = 0; y < n_points[1]; ++y) {
                for (int x = 0; x < n_points[0]; ++x) {
                    const double turns = wave[0] * x / 12.0 + wave[1] * y / 24.0 + wave[2] * z / 36.0;
                    sum += 2.0 * first[k++] * std::polar(1.0, -2 * std::numbers::pi * turns);
                }
            }
        }
        const complex found = alone.spectrum[(wave[0] * n_points[1] + wave[1]) * n_points[2] + wave[2]];
        EXPECT_LE(std::abs(found - sum), 1e-9) << wave[0];
    }
}

TEST(Npb, MakesOneSequenceOfRandomNumbersInAnyParts) {
    std::uint64_t state = 314159265;
    std::vector<complex> line(12);
    for (int z = 0; z < 2; ++z) {
        for (int y = 0; y < n_points[1]; ++y) {
            npb::make_line(n_points, y, z, line.data());
            for (const complex& each : line) {
                for (const double part : {each.real(), each.imag()}) {
                    state = state * 1220703125 % (std::uint64_t{1} << 46);
                    ASSERT_EQ(part, static_cast<double>(state) / 0x1p46);
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, Modes, testing::Range(0, static_cast<int>(miniapp::modes().size())),
                         [](const auto& instance) {
                             return std::string(miniapp::modes()[static_cast<std::size_t>(instance.param)].name);
                         });

} // namespace
} // namespace fft3d
