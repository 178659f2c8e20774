// SPDX-License-Identifier: Apache-2.0
// Every cell is computed by the same expression whatever the range it is in, without fused multiply-adds that a compiler may
// form in one loop and not in another, and a half sweep reads the other colour alone: results have the same bits for all ways
// to cut the grid.
#include "grid.hpp"

#include <cmath>

namespace multigrid {

namespace {

double around(const double* x, std::ptrdiff_t y, std::ptrdiff_t z) {
    return (x[-1] + x[1]) + (x[-y] + x[y]) + (x[-z] + x[z]);
}

} // namespace

void smooth(level& on, int box, const range& cells, int is_black) {
    const double h2 = on.h * on.h;
    each_row(cells, [&](int j, int k) {
        const int first = (cells.low[0] + j + k + is_black) % 2;
        double* const x = &on.x[on.at(box, 0, j, k)];
        const double* const b = &on.b[on.at(box, 0, j, k)];
        for (int i = cells.low[0] + first; i < cells.high[0]; i += 2) {
            x[i] = (h2 * b[i] + around(x + i, on.stride(1), on.stride(2))) * (1.0 / 6);
        }
    });
}

void start_from_zero(level& on, int box, const range& cells) {
    const double h2 = on.h * on.h;
    each_row(cells, [&](int j, int k) {
        double* const x = &on.x[on.at(box, 0, j, k)];
        const double* const b = &on.b[on.at(box, 0, j, k)];
        for (int i = cells.low[0]; i < cells.high[0]; ++i) x[i] = (i + j + k) % 2 == 0 ? h2 * b[i] * (1.0 / 6) : 0;
    });
}

void restrict_residual(const level& fine, level& coarse, int box, const range& fine_cells) {
    const std::ptrdiff_t y = fine.stride(1);
    const std::ptrdiff_t z = fine.stride(2);
    const double per_h2 = 1 / (fine.h * fine.h);
    const auto& [low, high] = fine_cells;
    const range cells{{low[0] / 2, low[1] / 2, low[2] / 2}, {high[0] / 2, high[1] / 2, high[2] / 2}};
    each_row(cells, [&](int j, int k) {
        double* const to = &coarse.b[coarse.at(box, 0, j, k)];
        const std::size_t row = fine.at(box, 0, 2 * j, 2 * k);
        for (int i = cells.low[0]; i < cells.high[0]; ++i) {
            double sum = 0;
            for (const std::ptrdiff_t at : {0 * y, y, z, y + z}) {
                const double* const x = &fine.x[row + at] + 2 * i;
                const double* const b = &fine.b[row + at] + 2 * i;
                sum += b[0] + b[1] - (6 * (x[0] + x[1]) - around(x, y, z) - around(x + 1, y, z)) * per_h2;
            }
            to[i] = sum * 0.125;
        }
    });
    start_from_zero(coarse, box, cells);
}

void prolong(const level& coarse, level& fine, int box, const range& coarse_cells) {
    each_row(coarse_cells, [&](int j, int k) {
        const double* const c = &coarse.x[coarse.at(box, 0, j, k)];
        for (int child = 0; child < 4; ++child) {
            const double* const beside = c + (child % 2 == 0 ? -coarse.stride(1) : coarse.stride(1));
            const double* const above = c + (child / 2 == 0 ? -coarse.stride(2) : coarse.stride(2));
            double* const to = &fine.x[fine.at(box, 0, 2 * j + child % 2, 2 * k + child / 2)];
            for (int i = coarse_cells.low[0]; i < coarse_cells.high[0]; ++i) {
                const double common = c[i] + beside[i] + above[i];
                to[2 * i] += 0.25 * (common + c[i - 1]);
                to[2 * i + 1] += 0.25 * (common + c[i + 1]);
            }
        }
    });
}

double largest_residual(const level& on, int box, const range& cells) {
    double largest = 0;
    each_row(cells, [&](int j, int k) {
        const double* const x = &on.x[on.at(box, 0, j, k)];
        const double* const b = &on.b[on.at(box, 0, j, k)];
        for (int i = cells.low[0]; i < cells.high[0]; ++i) {
            const double r = b[i] - (6 * x[i] - around(x + i, on.stride(1), on.stride(2))) / (on.h * on.h);
            largest = std::max(largest, std::abs(r));
        }
    });
    return largest;
}

} // namespace multigrid
