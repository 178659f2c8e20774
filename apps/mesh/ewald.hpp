// SPDX-License-Identifier: Apache-2.0
// The smooth particle-mesh Ewald method (Essmann et al., 1995): the potential at each ion and the force on it. Charges are spread
// from patches to the pencils of a 3-D FFT, and potentials go back. Pairs within the cutoff are computed meanwhile, from the ions of
// neighbouring patches. Its price is four exchanges with two different neighbourhoods; a plain sum has one, and O(N^2) pairs.
#pragma once

#include "blocks.hpp"
#include "crystal.hpp"
#include "fft3d/transform.hpp"

#include <optional>

namespace mesh {

struct settings {
    crystal of;
    int n_mesh = 0; ///< Points along each axis.
    int order = 8;  ///< Of the B-splines; even.
    double beta = 2;
    fft3d::shape fft;
    int n_pieces = 1; ///< Items of each step's part.
    /// Where erfc(beta r) no longer matters.
    [[nodiscard]] double cutoff() const { return 4.5 / beta; }
};

class ewald {
public:
    /// Collective.
    ewald(const settings& how, const transport& by);
    ewald(const ewald&) = delete;
    ewald& operator=(const ewald&) = delete;
    /// Collective. Not a destructor's work: a rank that fails alone must not wait for the others.
    void end() { transform_.end(); }

    /// Adds the stages of one evaluation. The next one begins when this one has ended, since ions move in between in a simulation.
    void add_step(miniapp::item_list& to);
    std::uint64_t left_of_messages();
    /// Of this rank's ions.
    [[nodiscard]] const std::vector<ion>& ions() const { return ions_; }
    [[nodiscard]] const std::vector<long long>& numbers() const { return numbers_; }
    [[nodiscard]] std::vector<pull> pulls() const;

private:
    using place = std::array<int, 2>; ///< y and z, not wrapped around.
    struct region {
        std::array<int, 3> first;
        std::array<int, 3> count;
    };
    struct alignas(64) padded_sums : miniapp::message_sums {};
    struct range {
        std::size_t first;
        std::size_t count;
    };
    [[nodiscard]] range share(std::size_t n, int piece) const;
    [[nodiscard]] int wrap(int k) const { return (k % how_.n_mesh + how_.n_mesh) % how_.n_mesh; }
    /// Mesh points that a rank's ions touch.
    [[nodiscard]] region touched_by(int rank) const;
    /// Lines along x of a region that belong to the pencils of a rank.
    [[nodiscard]] std::vector<place> lines_of(const region& of, int owner) const;
    void make_neighbours(const transport& by);
    void make_influence();

    void pack_ions(miniapp::message_sums& sums);
    void spread(int piece, miniapp::message_sums& sums);
    void add_charges(int piece, miniapp::message_sums& sums);
    void influence(const fft3d::spectrum_line& line) const;
    void pack_potentials(int piece, miniapp::message_sums& sums);
    void gather(int piece, miniapp::message_sums& sums);
    void pair_own(int piece);
    void pair_neighbours(int piece, miniapp::message_sums& sums);

    settings how_;
    int rank_ = 0;
    std::vector<long long> numbers_;
    std::vector<ion> ions_;
    std::vector<pull> by_pairs_, by_mesh_;
    double scale_; ///< Mesh points in an edge of the unit cell.
    fft3d::transform transform_;
    region own_;
    std::vector<std::array<std::size_t, 2>> line_place_;   ///< Block and line in it, of each line of the own region.
    std::vector<std::vector<place>> lines_out_, lines_in_; ///< Of each block of charges.
    std::optional<blocks> neighbours_, charges_, potentials_;
    std::vector<std::vector<vec>> images_; ///< Of each neighbour; last, of this rank.
    std::vector<double> wave_,
        decay_; ///< Of each mesh wave: the square of its number, and its factor of the influence function.
    std::deque<padded_sums> sums_;
};

} // namespace mesh
