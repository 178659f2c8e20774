// SPDX-License-Identifier: Apache-2.0
// Every rank can tell where the ions of every other are, so that lists of neighbours need no messages.
#include "crystal.hpp"

#include "common/extents.hpp"
#include "common/report.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mesh {

std::span<const crystal_kind> crystals() {
    static const std::array all{
        crystal_kind{"nacl",
                     1.747564594633,
                     0.5,
                     {{{0, 0, 0}, 1},
                      {{0.5, 0.5, 0}, 1},
                      {{0.5, 0, 0.5}, 1},
                      {{0, 0.5, 0.5}, 1},
                      {{0.5, 0, 0}, -1},
                      {{0, 0.5, 0}, -1},
                      {{0, 0, 0.5}, -1},
                      {{0.5, 0.5, 0.5}, -1}}},
        crystal_kind{"cscl", 1.762674773070, std::numbers::sqrt3 / 2, {{{0, 0, 0}, 1}, {{0.5, 0.5, 0.5}, -1}}},
    };
    return all;
}

std::array<int, 2> crystal::bounds(int rank, int axis) const {
    const int place = miniapp::place_of(rank, grid)[axis];
    return {cells * place / grid[axis], cells * (place + 1) / grid[axis]};
}

std::vector<ion> crystal::ions(int rank, std::vector<long long>* numbers) const {
    std::vector<ion> all;
    const auto [x0, x1] = bounds(rank, 0);
    const auto [y0, y1] = bounds(rank, 1);
    const auto [z0, z1] = bounds(rank, 2);
    for (int z = z0; z < z1; ++z) {
        for (int y = y0; y < y1; ++y) {
            for (int x = x0; x < x1; ++x) {
                long long number = ((static_cast<long long>(z) * cells + y) * cells + x) * std::ssize(of().cell);
                for (const ion& each : of().cell) {
                    ion& made = all.emplace_back(each);
                    const vec cell{1.0 * x, 1.0 * y, 1.0 * z};
                    for (int d = 0; d < 3; ++d) {
                        const auto random = miniapp::splitmix64(static_cast<std::uint64_t>(3 * number + d));
                        made.at[d] += cell[d] + displacement * (static_cast<double>(random >> 11) * 0x1p-52 - 1);
                    }
                    if (numbers != nullptr) numbers->push_back(number);
                    ++number;
                }
            }
        }
    }
    return all;
}

std::vector<vec> crystal::images(int rank, int other, double reach) const {
    std::vector<vec> near;
    for (int k = 0; k < 27; ++k) {
        const std::array<int, 3> place = miniapp::place_of(k, std::array{3, 3, 3});
        vec shift{};
        double distance = 0;
        for (int d = 0; d < 3; ++d) {
            shift[d] = cells * (place[d] - 1.0);
            const auto [low, high] = bounds(rank, d);
            const auto [other_low, other_high] = bounds(other, d);
            const double gap = std::max({0.0, other_low + shift[d] - high, low - other_high - shift[d]});
            distance += gap * gap;
        }
        if (std::sqrt(distance) < reach + 4 * displacement) near.push_back(shift);
    }
    return near;
}

void add_pairs(std::span<const ion> own, std::span<const ion> others, const vec& shift, double beta, double cutoff,
               std::span<pull> on) {
    for (std::size_t i = 0; i < own.size(); ++i) {
        const vec from{own[i].at[0] - shift[0], own[i].at[1] - shift[1], own[i].at[2] - shift[2]};
        pull sum;
        for (const ion& other : others) {
            const vec apart{from[0] - other.at[0], from[1] - other.at[1], from[2] - other.at[2]};
            const double square = apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2];
            if (square >= cutoff * cutoff || square == 0) continue; // 0: the ion itself
            const double r = std::sqrt(square);
            const double potential = other.charge * std::erfc(beta * r) / r;
            const double slope =
                potential + other.charge * 2 * beta * std::numbers::inv_sqrtpi * std::exp(-beta * beta * square);
            sum.potential += potential;
            for (int d = 0; d < 3; ++d) sum.force[d] += own[i].charge * slope / square * apart[d];
        }
        on[i].potential += sum.potential;
        for (int d = 0; d < 3; ++d) on[i].force[d] += sum.force[d];
    }
}

spline::spline(int order, double fraction) {
    value[0] = fraction;
    value[1] = 1 - fraction;
    for (int n = 3; n <= order; ++n) {
        for (int j = 0; j < n && n == order; ++j) slope[j] = value[j] - (j > 0 ? value[j - 1] : 0);
        for (int j = n - 1; j >= 0; --j) {
            const double below = j > 0 ? value[j - 1] : 0;
            value[j] = ((fraction + j) * value[j] + (n - fraction - j) * below) / (n - 1);
        }
    }
}

} // namespace mesh
