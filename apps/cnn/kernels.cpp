// SPDX-License-Identifier: Apache-2.0
// Blocks of outputs that fit the vector registers: each load serves several multiply-adds. Forward and back are one loop with the
// strides of the weights exchanged. Compiled for narrower registers a vector is several of them, and the blocks spill.
#include "kernels.hpp"

#include "common/report.hpp"

#include <array>
#include <cstdint>

namespace cnn {

namespace {

using vector = lanes::vector;
constexpr int taps = 9;

double sum_of(const vector& of) {
    double sum = 0;
    for (int lane = 0; lane < n_lanes; ++lane) sum += of[lane];
    return sum;
}

vector larger(const vector& a, const vector& b) { return a > b ? a : b; }

vector largest(lanes* const (&window)[4]) {
    return larger(larger(window[0]->of, window[1]->of), larger(window[2]->of, window[3]->of));
}

/// Calls visit(the four points of a window, the pooled point).
template <class Visit>
void each_window(const layer& of, lanes* out, lanes* to, int ring, Visit&& visit) {
    const int half = of.side / 2, pitch = half + 2 * ring, n = of.pitch();
    for (int o = 0; o < of.n_out; ++o) {
        for (int y = 0; y < half; ++y) {
            for (int x = 0; x < half; ++x) {
                lanes* const first = out + o * of.plane() + (2 * y + 1) * n + 2 * x + 1;
                lanes* const window[4] = {first, first + 1, first + n, first + n + 1};
                visit(window, to[(o * pitch + y + ring) * pitch + x + ring]);
            }
        }
    }
}

// Digits of 5x7 points, by rows from the top.
constexpr int glyph_width = 5, glyph_height = 7, scale = 2;
constexpr std::array<std::uint64_t, n_classes> glyphs{0x3a33ae62e, 0x11842108e, 0x3a211111f, 0x7c441062e, 0x8ca97c42,
                                                      0x7e1e0862e, 0x1910f462e, 0x7c2222108, 0x3a317462e, 0x3a317844c};

/// From 0 to below 1.
double random(std::uint64_t number) { return static_cast<double>(miniapp::splitmix64(number) >> 11) * 0x1p-53; }

} // namespace

void convolve(const layer& of, const double* weights, bool is_back, const lanes* from, lanes* to) {
    constexpr int outs = 4, columns = 2;
    const int n_from = is_back ? of.n_out : of.n_in, n_to = is_back ? of.n_in : of.n_out;
    const int from_stride = is_back ? 1 : taps * of.n_out, to_stride = is_back ? taps * of.n_out : 1;
    for (int o = 0; o < n_to; o += outs) {
        for (int y = 0; y < of.side; ++y) {
            for (int x = 0; x < of.side; x += columns) {
                vector sum[outs][columns] = {};
                for (int i = 0; i < n_from; ++i) {
                    const double* w = weights + i * from_stride + o * to_stride;
                    for (int tap = 0; tap < taps; ++tap, w += of.n_out) {
                        const int t = is_back ? taps - 1 - tap : tap;
                        const lanes* const near = from + i * of.plane() + (y + t / 3) * of.pitch() + x + t % 3;
                        for (int a = 0; a < outs; ++a)
                            for (int b = 0; b < columns; ++b) sum[a][b] += w[a * to_stride] * near[b].of;
                    }
                }
                for (int a = 0; a < outs; ++a)
                    for (int b = 0; b < columns; ++b)
                        to[(o + a) * of.plane() + (y + 1) * of.pitch() + x + 1 + b].of = sum[a][b];
            }
        }
    }
}

void convolution_gradient(const layer& of, int first_out, int n_bundles, const lanes* in, const lanes* out,
                          double* to) {
    constexpr int outs = 4, row = 3; // taps of a row
    for (int k = 0; k < of.n_in * taps / row; ++k) {
        vector sum[row][outs] = {};
        for (int line = 0; line < n_bundles * of.side; ++line) {
            const int bundle = line / of.side, y = line % of.side;
            const lanes* const x = in + (bundle * of.n_in + k / 3) * of.plane() + (y + k % 3) * of.pitch();
            const lanes* const d = out + (bundle * of.n_out + first_out) * of.plane() + (y + 1) * of.pitch() + 1;
            for (int c = 0; c < of.side; ++c)
                for (int a = 0; a < row; ++a)
                    for (int b = 0; b < outs; ++b) sum[a][b] += x[c + a].of * d[c + b * of.plane()].of;
        }
        for (int a = 0; a < row; ++a)
            for (int b = 0; b < outs; ++b) to[(row * k + a) * of.n_out + first_out + b] = sum_of(sum[a][b]);
    }
}

void pool(const layer& of, lanes* out, lanes* to, int ring) {
    each_window(of, out, to, ring,
                [](lanes* const(&window)[4], lanes& top) { top.of = larger(largest(window), vector{}); });
}

void pool_back(const layer& of, lanes* out, lanes* gradient, int ring) {
    each_window(of, out, gradient, ring, [](lanes* const(&window)[4], const lanes& top) {
        const vector highest = largest(window), none{};
        vector left = highest > none ? top.of : none; // the first of equals has it
        for (lanes* const each : window) {
            const auto has_it = each->of == highest;
            each->of = has_it ? left : none;
            left = has_it ? none : left;
        }
    });
}

void dense(int n_in, int n_out, const double* weights, int in_stride, int out_stride, const lanes* from, lanes* to) {
    constexpr int outs = 2;
    for (int o = 0; o < n_out; o += outs) {
        vector sum[outs] = {};
        for (int i = 0; i < n_in; ++i)
            for (int a = 0; a < outs; ++a)
                sum[a] += weights[static_cast<std::ptrdiff_t>(i) * in_stride + (o + a) * out_stride] * from[i].of;
        for (int a = 0; a < outs; ++a) to[o + a].of = sum[a];
    }
}

void dense_gradient(int n_bundles, const lanes* rows, int n_rows, const lanes* columns, int n_columns, double* to) {
    constexpr int across = 2, down = 4;
    for (int c = 0; c < n_columns; c += across) {
        vector sum[down][across] = {};
        for (int bundle = 0; bundle < n_bundles; ++bundle)
            for (int a = 0; a < down; ++a)
                for (int b = 0; b < across; ++b)
                    sum[a][b] += rows[bundle * n_rows + a].of * columns[bundle * n_columns + c + b].of;
        for (int a = 0; a < down; ++a)
            for (int b = 0; b < across; ++b) to[a * n_columns + c + b] = sum_of(sum[a][b]);
    }
}

// Twice as large, at a random place, in random brightness, with noise: all of it follows from the number of the image.
void draw(int bundle, const layer& of, lanes* plane, int* digits) {
    for (int lane = 0; lane < n_lanes; ++lane) {
        const std::uint64_t first = (static_cast<std::uint64_t>(bundle) * n_lanes + lane) << 16;
        digits[lane] = static_cast<int>(random(first) * n_classes);
        const int left = static_cast<int>(random(first + 1) * (of.side - scale * glyph_width + 1));
        const int top = static_cast<int>(random(first + 2) * (of.side - scale * glyph_height + 1));
        const double brightness = 0.6 + 0.4 * random(first + 3);
        for (int place = 0; place < of.side * of.side; ++place) {
            const int row = place / of.side - top, column = place % of.side - left;
            const bool is_in = row >= 0 && row < scale * glyph_height && column >= 0 && column < scale * glyph_width;
            const int bit = glyph_width * glyph_height - 1 - row / scale * glyph_width - column / scale;
            const double ink = is_in && (glyphs[digits[lane]] >> bit & 1) != 0 ? brightness : 0;
            plane[(place / of.side + 1) * of.pitch() + place % of.side + 1].of[lane] =
                ink + 0.3 * (random(first + 4 + place) - 0.5);
        }
    }
}

} // namespace cnn
