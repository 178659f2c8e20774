// SPDX-License-Identifier: Apache-2.0
// A crystal of ions in a periodic cube, cut into a patch of whole unit cells for each rank, and the arithmetic of one patch: pairs
// within the cutoff, and B-splines. Crystals have known energies; the price is that ions are spread more evenly than in a liquid.
// Lengths are in edges of the unit cell, charges in those of an ion.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

namespace mesh {

using vec = std::array<double, 3>;

struct ion {
    vec at;
    double charge;
};
static_assert(sizeof(ion) == 4 * sizeof(double)); // ions travel as numbers

/// The potential at an ion, and the force on it.
struct pull {
    double potential = 0;
    vec force{};
};

struct crystal_kind {
    const char* name;
    double madelung; ///< Published.
    double nearest;  ///< Distance of the nearest ions, to which the constant belongs.
    std::vector<ion> cell;
};
std::span<const crystal_kind> crystals();

struct crystal {
    int kind = 0;
    int cells = 4;                    ///< Along each axis.
    double displacement = 0;          ///< The most that an ion is moved along each axis.
    std::array<int, 3> grid{1, 1, 1}; ///< Patches.
    [[nodiscard]] const crystal_kind& of() const { return crystals()[static_cast<std::size_t>(kind)]; }
    [[nodiscard]] double n_ions() const { return 1.0 * cells * cells * cells * static_cast<double>(of().cell.size()); }
    /// The bounds of a rank's patch along an axis.
    [[nodiscard]] std::array<int, 2> bounds(int rank, int axis) const;
    /// Of a rank, always in the same order. `numbers`, if asked for, are those in the whole crystal.
    [[nodiscard]] std::vector<ion> ions(int rank, std::vector<long long>* numbers = nullptr) const;
    /// The periodic images of the other rank's patch that have ions within `reach` of the rank's: shifts of their ions.
    [[nodiscard]] std::vector<vec> images(int rank, int other, double reach) const;
};

/// Adds to `on` what ions of one image of a patch do by the short-ranged part of Ewald's sum, erfc(beta r) / r up to the cutoff.
void add_pairs(std::span<const ion> own, std::span<const ion> others, const vec& shift, double beta, double cutoff,
               std::span<pull> on);

constexpr int most_order = 12;
/// Values of the cardinal B-spline of `order` at fraction, fraction + 1, ...: weights of mesh points below, and derivatives.
struct spline {
    spline(int order, double fraction);
    std::array<double, most_order> value{};
    std::array<double, most_order> slope{};
};

} // namespace mesh
