// SPDX-License-Identifier: Apache-2.0
// One level of the grid on one rank: boxes with a layer of ghost cells each, the links over which ghost cells come from other
// ranks, and what is computed in a box: -Laplace u = b with seven points, u = 0 where the domain ends. Boxes cost ghost cells
// and copies; they bring the form of adaptive codes, whose number and length of messages can be chosen.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace multigrid {

/// X, Y, Z in this order; X runs fastest in every linear index.
using extents = std::array<int, 3>;

inline long volume(const extents& of) { return static_cast<long>(of[0]) * of[1] * of[2]; }
inline extents place_of(int index, const extents& in) {
    return {index % in[0], index / in[0] % in[1], index / in[0] / in[1]};
}
/// Sides are 2 * dimension, and 1 more for the upper one. What is beyond a side of a place, or nothing.
inline constexpr int n_sides = 6;
std::optional<int> beyond(const extents& place, int side, const extents& in);

/// How the whole grid of cells is cut; the same on all ranks but for `position`.
struct domain {
    extents cells{};    ///< Of all ranks; the longest edge of the domain is 1.
    extents grid{};     ///< Ranks per dimension.
    extents position{}; ///< This rank's place in the grid.
    extents box{};      ///< Cells of a box.
    extents boxes() const {
        return {cells[0] / grid[0] / box[0], cells[1] / grid[1] / box[1], cells[2] / grid[2] / box[2]};
    }
    double h() const; ///< The width of a cell.
};

/// Which lane carries which message: the library's choice, by its saturation table, or all in turn.
struct lane_policy {
    int n_lanes = 1;
    bool is_selective = false;
};

/// The ghost cells of a side of some boxes, and what goes the other way: one message each.
struct link {
    int peer, side;
    std::vector<int> boxes;
    int send_tag, recv_tag, send_lane, recv_lane;
    std::vector<double> sent, received;
};

/// Cells from `low` to below `high` of one box.
struct range {
    extents low, high;
};

/// The cells of a box: those that need no ghost cell of another rank, and the others. All begin and end at even cells.
struct pieces {
    std::vector<range> core, shell;
};

enum class colour { red, black };

class level {
public:
    /// @param depth  0 is the finest: the boxes have 2^depth times fewer cells per dimension.
    level(const domain& whole, int depth, bool is_aggregated, const lane_policy& lanes);

    extents n{};     ///< Cells of a box.
    extents boxes{}; ///< Per dimension.
    extents first{}; ///< Where this rank's cells begin in the whole domain.
    double h;
    std::vector<double> x; ///< The solution, or the correction.
    std::vector<double> b; ///< The right-hand side.
    std::vector<link> links;

    int n_boxes() const { return static_cast<int>(volume(boxes)); }
    range whole_box() const { return {{0, 0, 0}, n}; }
    std::ptrdiff_t stride(int d) const {
        return d == 0 ? 1 : d == 1 ? n[0] + 2 : static_cast<std::ptrdiff_t>(n[0] + 2) * (n[1] + 2);
    }
    /// Where a cell of a box lies in x and b; ghost cells have the indices -1 and n.
    std::size_t at(int box, int i, int j, int k) const;
    /// A box's first cell in the whole domain.
    extents origin(int box) const;
    std::optional<int> box_beyond(int box, int side) const { return beyond(place_of(box, boxes), side, boxes); }
    pieces cut(int box) const;

    /// Fills the ghost cells of a box that come from boxes of this rank, or mirror it where the domain ends.
    void fill_ghosts(int box);
    void pack(link& through) const;
    void unpack(const link& through);

private:
    std::array<bool, n_sides> is_shared_{}; ///< With another rank.
    std::ptrdiff_t outwards(int side) const { return side % 2 == 0 ? -stride(side / 2) : stride(side / 2); }
    template <class Visit>
    void each_of_face(int box, int side, Visit&& visit) const;
};

/// A half sweep of Gauss-Seidel.
void smooth(level& on, int box, const range& cells, colour which);
/// The first, red half sweep from x = 0, for which no neighbour is needed.
void start_from_zero(level& on, int box, const range& cells);
/// Means of eight residuals to the right-hand side of the coarser level, and its first half sweep.
void restrict_residual(const level& fine, level& coarse, int box, const range& fine_cells);
/// Adds the correction, interpolated linearly.
void prolong(const level& coarse, level& fine, int box, const range& coarse_cells);
double largest_residual(const level& on, int box, const range& cells);

} // namespace multigrid
