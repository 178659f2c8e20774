// SPDX-License-Identifier: Apache-2.0
// One rank's part of the grid, and the arithmetic on it. A step of Jacobi computes every point from the last step's values;
// a step of red-black Gauss-Seidel computes the points of one colour from those of the other, so it can be in place.
// The ring are the points next to other ranks: only they need halos, and only they are sent. All else lies in bands of rows.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace poisson {

enum class method : std::uint8_t { jacobi, red_black };

/// The opposite one is side ^ 1; the neighbours of a Cartesian communicator come in this order.
enum : int { north, south, west, east, n_sides };

struct problem {
    std::array<int, 2> points{512, 512}; ///< Rows and columns of the whole grid, without its border, where u is 0.
    std::array<int, 2> grid{0, 0};       ///< Ranks along them.
    method by = method::red_black;
    int n_bands = 0;
};

class domain {
public:
    domain(const problem& whole, MPI_Comm cart);

    /// The first guess, 0.
    void reset();
    [[nodiscard]] int n_bands() const { return n_bands_; }
    void compute_band(int step, int band);
    void compute_ring(int step);

    [[nodiscard]] int neighbour(int side) const { return neighbours_[side]; }
    [[nodiscard]] bool has_neighbour(int side) const { return neighbours_[side] != MPI_PROC_NULL; }
    /// How many points leave to a side before a step, and how many come from there: of one colour it may be one more or less.
    [[nodiscard]] int n_leaving(int step, int side) const { return strip_of(step, side, 0).count; }
    [[nodiscard]] int n_coming(int step, int side) const { return strip_of(step, side, 1).count; }
    /// Both return the sum of the numbers' bits.
    std::uint64_t pack(int step, int side, double* to) const;
    std::uint64_t unpack(int step, int side, const double* from);

    /// Rows and columns.
    [[nodiscard]] std::array<int, 2> extents() const { return {rows_.count, columns_.count}; }
    /// Of this rank: the largest distance from what so many steps give in exact arithmetic.
    [[nodiscard]] double error(int n_steps) const;
    /// What rounding may make of it.
    [[nodiscard]] static double tolerance(int n_steps);
    /// A sum over this rank's points that has every bit of them; the ranks' sum does not depend on how the grid is cut.
    [[nodiscard]] std::uint64_t fingerprint(int n_steps) const;

private:
    struct range {
        int first;
        int count;
    };
    /// Some points on a line, by their places in memory.
    struct strip {
        std::ptrdiff_t first;
        std::ptrdiff_t stride;
        int count;
    };
    /// weight * (one sine along the rows) * (another along the columns)
    struct term {
        long double weight;
        long double shrinks; ///< What a step of Jacobi leaves of its error.
        std::vector<long double> along_rows;
        std::vector<long double> along_columns;
    };
    [[nodiscard]] static range share(int n, int n_ranks, int rank);
    [[nodiscard]] std::ptrdiff_t at(int i, int j) const { return (i + 1) * pitch_ + j + 1; }
    [[nodiscard]] int colour(int i, int j) const { return (rows_.first + i + columns_.first + j) & 1; }
    /// What a step reads; the step before has written it.
    [[nodiscard]] std::vector<double>& values(int step) { return u_[is_jacobi_ ? step & 1 : 0]; }
    [[nodiscard]] const std::vector<double>& values(int step) const { return u_[is_jacobi_ ? step & 1 : 0]; }
    /// What travels before a step: of the ring (outside 0), or of the halo around it (outside 1).
    [[nodiscard]] strip strip_of(int step, int side, int outside) const;
    void compute_row(int step, int i, int first, int last);

    int n_columns_; ///< Of the whole grid.
    bool is_jacobi_;
    std::array<int, n_sides> neighbours_{};
    range rows_{};
    range columns_{};
    std::ptrdiff_t pitch_ = 0;
    int n_bands_ = 0;
    std::array<std::vector<double>, 2> u_; ///< Jacobi takes them in turns; red-black has the first.
    std::vector<term> solution_;
    std::vector<double> b_; ///< The right side, times the square of the points' distance.
};

} // namespace poisson
