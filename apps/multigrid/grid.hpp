// SPDX-License-Identifier: Apache-2.0
// The grid on one rank: levels of boxes with a layer of ghost cells each, the links over which ghost cells come from other ranks,
// what is computed in a box (-Laplace u = b with seven points, u = 0 where the domain ends), and the V-cycle over them. Boxes cost
// ghost cells and copies; they bring the form of adaptive codes, whose number and length of messages can be chosen.
#pragma once

#include "common/extents.hpp"
#include "common/items.hpp"
#include "common/report.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

namespace multigrid {

/// X, Y, Z in this order; X runs fastest in every linear index.
using extents = std::array<int, 3>;

inline long volume(const extents& of) { return static_cast<long>(of[0]) * of[1] * of[2]; }
inline constexpr int n_sides = 6;

/// How the whole grid of cells is cut; the same on all ranks but for `position`.
struct domain {
    extents cells{};    ///< Of all ranks; the longest edge of the domain is 1.
    extents grid{};     ///< Ranks per dimension.
    extents position{}; ///< This rank's place in the grid.
    extents box{};      ///< Cells of a box.
    extents boxes() const {
        return {cells[0] / grid[0] / box[0], cells[1] / grid[1] / box[1], cells[2] / grid[2] / box[2]};
    }
    double h() const { return 1.0 / std::ranges::max(cells); } ///< The width of a cell.
};

/// What carries each of a burst of messages of one size.
using lane_choice = std::function<std::vector<MPI_Comm>(std::size_t size_bytes, std::size_t n_messages)>;

/// The ghost cells of a side of some boxes, and what goes the other way: one message each.
struct link {
    int side;
    std::vector<int> boxes;
    std::vector<double> sent{}, received{};
    miniapp::message send{}, receive{};
    miniapp::message_sums sums{};
};

/// Cells from `low` to below `high` of one box.
struct range {
    extents low, high;
};

/// Rows of a range along X.
template <class Row>
void each_row(const range& cells, Row&& row) {
    for (int k = cells.low[2]; k < cells.high[2]; ++k) {
        for (int j = cells.low[1]; j < cells.high[1]; ++j) row(j, k);
    }
}

/// The cells of a box: those that need no ghost cell of another rank, and the others. All begin and end at even cells.
struct pieces {
    std::vector<range> core, shell;
};

class level {
public:
    /// @param depth  0 is the finest: the boxes have 2^depth times fewer cells per dimension.
    level(const domain& whole, int depth, bool is_aggregated, const lane_choice& lanes);

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
    std::ptrdiff_t cells_of_box() const { return stride(2) * (n[2] + 2); } ///< With ghost cells.
    /// Where a cell of a box lies in x and b; ghost cells have the indices -1 and n.
    std::size_t at(int box, int i, int j, int k) const;
    /// A box's first cell in the whole domain.
    extents origin(int box) const;
    std::optional<int> box_beyond(int box, int side) const {
        return miniapp::beyond(miniapp::place_of(box, boxes), side, boxes);
    }
    pieces cut(int box) const;

    /// Fills the ghost cells of a box that come from boxes of this rank, or mirror it where the domain ends.
    void fill_ghosts(int box);
    void pack(link& through) const;
    void unpack(link& through);

private:
    std::array<bool, n_sides> is_shared_{}; ///< With another rank.
    std::ptrdiff_t outwards(int side) const { return side % 2 == 0 ? -stride(side / 2) : stride(side / 2); }
    template <class Visit>
    void each_of_face(int box, int side, Visit&& visit) const;
};

/// A half sweep of Gauss-Seidel; of red cells, or of black ones.
void smooth(level& on, int box, const range& cells, int is_black);
/// The first, red half sweep from x = 0, for which no neighbour is needed.
void start_from_zero(level& on, int box, const range& cells);
/// Means of eight residuals to the right-hand side of the coarser level, and its first half sweep.
void restrict_residual(const level& fine, level& coarse, int box, const range& fine_cells);
/// Adds the correction, interpolated linearly.
void prolong(const level& coarse, level& fine, int box, const range& coarse_cells);
double largest_residual(const level& on, int box, const range& cells);

/// A V-cycle as a list of items.
class cycle {
public:
    /// @param n_threads  there are items for so many in each part of a stage, if the boxes suffice
    cycle(const domain& whole, bool is_aggregated, const lane_choice& lanes, int n_threads = 1, bool is_bottom = false);

    level& finest() { return levels_.front(); }
    const domain& whole() const { return whole_; }
    const miniapp::item_list& items() const { return items_; }
    /// Of this rank, of the items that have ended since it was asked for.
    double largest_residual() { return largest_residual_.exchange(0); }
    /// Of this rank: what was packed and not unpacked since it was asked for; of all ranks together 0 unless a message was changed.
    std::uint64_t left_of_messages();

private:
    class builder;
    domain whole_;
    std::vector<level> levels_;
    miniapp::item_list items_;
    std::atomic<double> largest_residual_{0};
    /// Where boxes have become small every rank solves what is left of the whole domain; none: there is one box.
    std::unique_ptr<cycle> bottom_;
    std::vector<double> mine_;        ///< Of its right-hand side; elsewhere 0.
    miniapp::message_sums of_bottom_; ///< Its parts, of which each rank gets the sum.
};

} // namespace multigrid
