// SPDX-License-Identifier: Apache-2.0
//
// Tile by tile as in a run, so that the input comes from memory, and the median of the tiles: what the system does
// meanwhile touches few of them. Both sides of every ratio are measured in turns.
#include "fft/one_rank.h"

#include "common/clock.hpp"
#include "common/peak.hpp"
#include "presets.hpp"
#include "soi_transform.hpp"

#include <algorithm>
#include <complex>
#include <string>
#include <vector>

namespace commtask::bench {

namespace {

using complex = std::complex<double>;
using soi::index_type;

constexpr int n_rounds = 5;

/// What the kernels of one rank need, as soi_transform has it.
struct one_rank {
    explicit one_rank(const char* preset, int n_segments)
        : s(soi::make_shape({index_type{1} << 20, 1, n_segments, 0, 1, soi::find_preset(preset)->window},
                            sizeof(complex))),
          tables(soi::make_tables<double>(s, -1, 1)), n_q(s.window.n * s.tile_groups),
          x(static_cast<std::size_t>(s.points_per_rank() + s.halo_points())),
          v(static_cast<std::size_t>(n_q * tables.padded_segments)), u(v.size()), panel(soi::panel_size<double>(s)),
          fft(soi::plan_transposing<double>(s.all_segments, n_q, tables.padded_segments, -1, soi::rigor::measure)) {
        std::ranges::fill(x, complex(1, 1));
    }
    index_type whole_tiles() const { return s.groups / s.tile_groups; }
    double convolve(index_type tile) {
        const complex* const from = x.data() + tile * s.tile_groups * s.window.d * s.all_segments;
        return miniapp::seconds_of([&] { soi::convolve(s, tables, from, s.tile_groups, v.data(), panel.data()); });
    }
    double transform() {
        return miniapp::seconds_of([&] { fft->execute(v.data(), u.data()); });
    }

    soi::shape s;
    soi::tables<double> tables;
    int n_q;
    soi::aligned_array<complex> x;
    soi::aligned_array<complex> v;
    soi::aligned_array<complex> u;
    soi::aligned_array<complex> panel;
    std::unique_ptr<soi::local_fft<double>> fft;
};

} // namespace

void measure_kernel(const char* preset, int n_segments, report& out) {
    one_rank here(preset, n_segments);
    const double points = static_cast<double>(here.s.tile_groups) * here.s.window.d * here.s.all_segments;
    const double peak = miniapp::measure_peak_gflops();
    std::vector<double> of_peak;
    std::vector<double> short_ns;
    for (int round = 0; round < n_rounds; ++round) {
        for (index_type tile = 0; tile < here.whole_tiles(); ++tile) {
            of_peak.push_back(soi::flops_per_group(here.s) * here.s.tile_groups / here.convolve(tile) / 1e9 / peak);
            short_ns.push_back(here.transform() / points * 1e9);
        }
    }
    result row;
    row.name = std::string("convolution ") + preset + ", S = " + std::to_string(n_segments);
    row.unit = "of the FMA peak";
    row.rounds = {of_peak};
    row.goals = {{.of = goal::field::median, .kind = goal::bound::at_least, .limit = 0.75}};
    row.note = "peak " + std::to_string(static_cast<int>(peak)) + " GF/s";
    out.add(row);
    result beside;
    beside.name = "short FFT beside the " + row.name;
    beside.unit = "ns per point";
    beside.rounds = {short_ns};
    out.add(beside);
}

void measure_production(int n_segments, report& out) {
    one_rank here("full", n_segments);
    soi::transform_options options;
    options.sizes = {here.s.n_points, 1, n_segments, 8, 1, here.s.window};
    soi::soi_transform<double> all(options);
    soi::aligned_array<complex> y(here.x.size());
    all.bind(here.x.data(), y.data());
    all.begin();
    const int n_pieces = all.sizes().n_chunks() * all.pieces_per_chunk();
    std::vector<double> ratios;
    for (int round = -1; round < 5 * n_rounds; ++round) {
        double kernels = 0;
        double whole = 0;
        // In turns of an eighth: half a round later the machine may be another one.
        for (int piece = 0; piece < n_pieces; ++piece) {
            whole += miniapp::seconds_of([&] { all.produce(piece, 0); });
            for (index_type tile = here.whole_tiles() * piece / n_pieces;
                 tile < here.whole_tiles() * (piece + 1) / n_pieces; ++tile) {
                kernels += here.convolve(tile) + here.transform();
            }
        }
        if (round >= 0) ratios.push_back(whole / kernels);
    }
    result row;
    row.name = "everything before the exchange, S = " + std::to_string(n_segments);
    row.unit = "of convolution and short FFTs";
    row.rounds = {ratios};
    row.goals = {{.of = goal::field::median, .kind = goal::bound::at_most, .limit = 1.2}};
    out.add(row);
}

void measure_demodulation(report& out) {
    const soi::shape s = soi::make_shape({index_type{1} << 24, 1, 8, 0, 1, soi::find_preset("full")->window}, 16);
    const auto tables = soi::make_tables<double>(s, -1, 1);
    soi::aligned_array<complex> z(static_cast<std::size_t>(s.long_segment));
    soi::aligned_array<complex> y(static_cast<std::size_t>(s.segment_points));
    std::ranges::fill(z, complex(1, 1));
    std::ranges::fill(y, complex(1, 1));
    const auto n = static_cast<std::ptrdiff_t>(2 * y.size());
    auto* const to = reinterpret_cast<double*>(y.data());
    const auto* const a = reinterpret_cast<const double*>(z.data());
    const auto* const b = reinterpret_cast<const double*>(tables.demodulation.data());
    std::vector<double> shares;
    for (int round = -1; round < 10 * n_rounds; ++round) {
        // STREAM's triad: as many numbers read and written as the demodulation has, and hardly any arithmetic.
        const double triad = miniapp::seconds_of([&] {
            for (std::ptrdiff_t k = 0; k < n; ++k) to[k] = a[k] + 0.5 * b[k];
        });
        const double own = miniapp::seconds_of([&] { soi::demodulate<double>(s, tables, z.data(), y.data()); });
        if (round >= 0) shares.push_back(triad / own);
    }
    result row;
    row.name = "demodulation of 2^21 bins";
    row.unit = "of STREAM's triad";
    row.rounds = {shares};
    row.goals = {{.of = goal::field::median, .kind = goal::bound::at_least, .limit = 0.8}};
    out.add(row);
}

void measure_planning(report& out) {
    const soi::shape s = soi::make_shape({index_type{1} << 24, 2, 8, 0, 1, soi::find_preset("full")->window}, 16);
    result row;
    row.name = "tables of N = 2^24 on 2 ranks";
    row.unit = "s";
    std::vector<double> samples;
    for (int round = 0; round < 5; ++round) {
        const double start = miniapp::seconds();
        static_cast<void>(soi::make_tables<double>(s, -1, 1));
        samples.push_back(miniapp::seconds() - start);
    }
    row.rounds = {samples};
    row.goals = {{.of = goal::field::median, .kind = goal::bound::at_most, .limit = 0.2}};
    out.add(row);
}

} // namespace commtask::bench
