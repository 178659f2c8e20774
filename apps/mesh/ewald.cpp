// SPDX-License-Identifier: Apache-2.0
// Items that write one array are cut by planes or by ions, so that no two of them write the same number, and a sum has one order
// for any number of threads.
#include "ewald.hpp"

#include "common/extents.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace mesh {

using miniapp::part;

namespace {

enum : int { pairs = -1, forces = -2 };                   // names of what items use
enum : int { ions_tag = 4, charges_tag, potentials_tag }; // tags of the transform are less
constexpr double pi = std::numbers::pi;

} // namespace

ewald::ewald(const settings& how, const transport& by)
    : how_(how), scale_(1.0 * how.n_mesh / how.of.cells), transform_(how.fft, by.comm, by.by_worker) {
    MPI_Comm_rank(by.comm, &rank_);
    ions_ = how.of.ions(rank_, &numbers_);
    by_pairs_.resize(ions_.size());
    by_mesh_.resize(ions_.size());
    own_ = touched_by(rank_);
    make_neighbours(by);
    make_influence();
}

ewald::range ewald::share(std::size_t n, int piece) const {
    const auto n_pieces = static_cast<std::size_t>(how_.n_pieces);
    const auto k = static_cast<std::size_t>(piece);
    return {n * k / n_pieces, n * (k + 1) / n_pieces - n * k / n_pieces};
}

ewald::region ewald::touched_by(int rank) const {
    region all{};
    for (int d = 0; d < 3; ++d) {
        const auto [low, high] = how_.of.bounds(rank, d);
        all.first[d] = static_cast<int>(std::floor((low - how_.of.displacement) * scale_)) - how_.order + 1;
        all.count[d] = static_cast<int>(std::floor((high + how_.of.displacement) * scale_)) + 1 - all.first[d];
    }
    return all;
}

std::vector<ewald::place> ewald::lines_of(const region& of, int owner) const {
    const std::array<int, 2> pencil = miniapp::place_of(owner, how_.fft.grid);
    const auto belongs = [&](int k, int d) { return wrap(k) / (how_.n_mesh / how_.fft.grid[d]) == pencil[d]; };
    std::vector<place> all;
    for (int z = of.first[2]; z < of.first[2] + of.count[2]; ++z) {
        for (int y = of.first[1]; y < of.first[1] + of.count[1] && belongs(z, 1); ++y) {
            if (belongs(y, 0)) all.push_back({y, z});
        }
    }
    return all;
}

void ewald::make_neighbours(const transport& by) {
    int n_ranks = 0;
    MPI_Comm_size(by.comm, &n_ranks);
    std::vector<blocks::block> to, from, near_to, near_from;
    line_place_.resize(static_cast<std::size_t>(own_.count[1]) * own_.count[2]);
    for (int rank = 0; rank < n_ranks; ++rank) {
        if (auto lines = lines_of(own_, rank); !lines.empty()) {
            for (std::size_t k = 0; k < lines.size(); ++k) {
                const auto [y, z] = lines[k];
                line_place_[(z - own_.first[2]) * own_.count[1] + y - own_.first[1]] = {to.size(), k};
            }
            to.push_back({rank, lines.size() * own_.count[0]});
            lines_out_.push_back(std::move(lines));
        }
        const region other = touched_by(rank);
        if (auto lines = lines_of(other, rank_); !lines.empty()) {
            from.push_back({rank, lines.size() * other.count[0]});
            lines_in_.push_back(std::move(lines));
        }
        auto images = how_.of.images(rank_, rank, how_.cutoff());
        if (rank == rank_ || images.empty()) continue;
        near_to.push_back({rank, ions_.size() * 4});
        near_from.push_back({rank, how_.of.ions(rank).size() * 4});
        images_.push_back(std::move(images));
    }
    images_.push_back(how_.of.images(rank_, rank_, how_.cutoff()));
    neighbours_.emplace(by, ions_tag, near_to, near_from, true);
    charges_.emplace(by, charges_tag, to, from);
    potentials_.emplace(by, potentials_tag, from, to);
}

void ewald::make_influence() {
    const int n = how_.n_mesh;
    const double edge = how_.of.cells;
    const spline at_points(how_.order, 0);
    for (int k = 0; k < n; ++k) {
        const double wave = (k <= n / 2 ? k : k - n) / edge;
        std::complex<double> sum = 0;
        for (int j = 0; j < how_.order; ++j) sum += std::polar(at_points.value[j], 2 * pi * j * k / n);
        wave_.push_back(wave * wave);
        decay_.push_back(std::exp(-pi * pi * wave * wave / how_.beta / how_.beta) / std::norm(sum));
    }
}

void ewald::influence(const fft3d::spectrum_line& line) const {
    const double volume = std::pow(how_.of.cells, 3);
    const double across = wave_[line.x] + wave_[line.y];
    const double factor = decay_[line.x] * decay_[line.y] / (pi * volume);
    for (int z = 0; z < how_.n_mesh; ++z) {
        const double square = across + wave_[z];
        line.to[z] = square == 0 ? 0 : line.from[z] * (factor * decay_[z] / square);
    }
}

void ewald::pack_ions(miniapp::message_sums& sums) {
    for (const blocks::block& each : neighbours_->to()) {
        double* to = neighbours_->outgoing(each);
        for (const ion& one : ions_) to = std::copy_n(one.at.data(), 3, to), *to++ = one.charge;
        sums.packed += bits_of({neighbours_->outgoing(each), each.size});
    }
}

void ewald::spread(int piece, miniapp::message_sums& sums) {
    const auto [first, count] = share(own_.count[2], piece);
    const auto line = [&](std::size_t y, std::size_t z) {
        const auto [block, k] = line_place_[z * own_.count[1] + y];
        return charges_->outgoing(charges_->to()[block]) + k * own_.count[0];
    };
    const auto width = static_cast<std::size_t>(own_.count[0]);
    for (std::size_t z = first; z < first + count; ++z) {
        for (std::size_t y = 0; y < static_cast<std::size_t>(own_.count[1]); ++y) std::fill_n(line(y, z), width, 0.0);
    }
    for (const ion& each : ions_) {
        std::array<int, 3> top{};
        std::array<std::optional<spline>, 3> weights;
        for (int d = 0; d < 3; ++d) {
            const double at = each.at[d] * scale_;
            top[d] = static_cast<int>(std::floor(at)) - own_.first[d];
            weights[d].emplace(how_.order, at - std::floor(at));
        }
        for (int k = 0; k < how_.order; ++k) {
            const auto z = static_cast<std::size_t>(top[2] - k);
            if (z < first || z >= first + count) continue;
            for (int j = 0; j < how_.order; ++j) {
                double* const points = line(top[1] - j, z) + top[0];
                const double charge = each.charge * weights[2]->value[k] * weights[1]->value[j];
                for (int i = 0; i < how_.order; ++i) points[-i] += charge * weights[0]->value[i];
            }
        }
    }
    for (std::size_t z = first; z < first + count; ++z) {
        for (std::size_t y = 0; y < static_cast<std::size_t>(own_.count[1]); ++y)
            sums.packed += bits_of({line(y, z), width});
    }
}

void ewald::add_charges(int piece, miniapp::message_sums& sums) {
    const fft3d::box here = transform_.points_box();
    const auto [first, count] = share(here.count[2], piece);
    for (std::size_t z = first; z < first + count; ++z) {
        for (int y = 0; y < here.count[1]; ++y)
            std::fill_n(transform_.points_line(y, static_cast<int>(z)), how_.n_mesh, 0.0);
    }
    for (std::size_t k = 0; k < lines_in_.size(); ++k) {
        const blocks::block& from = charges_->from()[k];
        const region other = touched_by(from.rank);
        const double* values = charges_->incoming(from);
        for (const auto& [y, z_of_line] : lines_in_[k]) {
            const int z = wrap(z_of_line) - here.first[2];
            const double* const line = std::exchange(values, values + other.count[0]);
            if (static_cast<std::size_t>(z) < first || static_cast<std::size_t>(z) >= first + count) continue;
            fft3d::complex* const points = transform_.points_line(wrap(y) - here.first[1], z);
            for (int x = 0; x < other.count[0]; ++x) points[wrap(other.first[0] + x)] += line[x];
            sums.unpacked += bits_of({line, static_cast<std::size_t>(other.count[0])});
        }
    }
}

void ewald::pack_potentials(int piece, miniapp::message_sums& sums) {
    const fft3d::box here = transform_.points_box();
    for (std::size_t k = 0; k < lines_in_.size(); ++k) {
        const blocks::block& to = potentials_->to()[k];
        const region other = touched_by(to.rank);
        const auto width = static_cast<std::size_t>(other.count[0]);
        const auto [first, count] = share(lines_in_[k].size(), piece);
        for (std::size_t j = first; j < first + count; ++j) {
            const auto [y, z] = lines_in_[k][j];
            const fft3d::complex* const points =
                transform_.points_line(wrap(y) - here.first[1], wrap(z) - here.first[2]);
            double* const line = potentials_->outgoing(to) + j * width;
            for (int x = 0; x < other.count[0]; ++x) line[x] = points[wrap(other.first[0] + x)].real();
            sums.packed += bits_of({line, width});
        }
    }
}

void ewald::gather(int piece, miniapp::message_sums& sums) {
    for (const blocks::block& each : potentials_->from()) {
        const auto [first, count] = share(each.size, piece);
        sums.unpacked += bits_of({potentials_->incoming(each) + first, count});
    }
    const auto [first_ion, n_ions] = share(ions_.size(), piece);
    for (std::size_t n = first_ion; n < first_ion + n_ions; ++n) {
        std::array<int, 3> top{};
        std::array<std::optional<spline>, 3> weights;
        for (int d = 0; d < 3; ++d) {
            const double at = ions_[n].at[d] * scale_;
            top[d] = static_cast<int>(std::floor(at)) - own_.first[d];
            weights[d].emplace(how_.order, at - std::floor(at));
        }
        pull all;
        for (int k = 0; k < how_.order; ++k) {
            for (int j = 0; j < how_.order; ++j) {
                const auto [block, line] = line_place_[(top[2] - k) * own_.count[1] + top[1] - j];
                const double* const points =
                    potentials_->incoming(potentials_->from()[block]) + line * own_.count[0] + top[0];
                double along = 0;
                double slope = 0;
                for (int i = 0; i < how_.order; ++i) {
                    along += points[-i] * weights[0]->value[i];
                    slope += points[-i] * weights[0]->slope[i];
                }
                all.potential += along * weights[1]->value[j] * weights[2]->value[k];
                const double force = -ions_[n].charge * scale_;
                all.force[0] += force * slope * weights[1]->value[j] * weights[2]->value[k];
                all.force[1] += force * along * weights[1]->slope[j] * weights[2]->value[k];
                all.force[2] += force * along * weights[1]->value[j] * weights[2]->slope[k];
            }
        }
        by_mesh_[n] = all;
    }
}

void ewald::pair_own(int piece) {
    const auto [first, count] = share(ions_.size(), piece);
    const std::span on = std::span(by_pairs_).subspan(first, count);
    std::ranges::fill(on, pull{});
    for (const vec& shift : images_.back())
        add_pairs(std::span(ions_).subspan(first, count), ions_, shift, how_.beta, how_.cutoff(), on);
}

void ewald::pair_neighbours(int piece, miniapp::message_sums& sums) {
    const auto [first, count] = share(ions_.size(), piece);
    for (std::size_t k = 0; k < neighbours_->from().size(); ++k) {
        const blocks::block& from = neighbours_->from()[k];
        const double* const values = neighbours_->incoming(from);
        if (piece == 0) sums.unpacked += bits_of({values, from.size});
        std::vector<ion> others;
        for (std::size_t j = 0; j < from.size; j += 4)
            others.push_back({{values[j], values[j + 1], values[j + 2]}, values[j + 3]});
        for (const vec& shift : images_[k]) {
            add_pairs(std::span(ions_).subspan(first, count), others, shift, how_.beta, how_.cutoff(),
                      std::span(by_pairs_).subspan(first, count));
        }
    }
}

void ewald::add_step(miniapp::item_list& to) {
    const auto add = [&](part when, auto work) {
        miniapp::message_sums& sums = sums_.emplace_back();
        return to.add(when, [work, &sums] { work(sums); });
    };
    const auto begin_after_last_step = [&](int id) {
        to.reads(id, {forces, 0, 0});
        for (int piece = 0; piece < how_.n_pieces; ++piece) to.reads(id, {pairs, piece, 0});
    };
    const int packed = add(part::prepare, [this](auto& sums) { pack_ions(sums); });
    begin_after_last_step(packed);
    neighbours_->written_by(to, packed);
    for (int piece = 0; piece < how_.n_pieces; ++piece) {
        const int id = add(part::prepare, [this, piece](auto& sums) { spread(piece, sums); });
        begin_after_last_step(id);
        charges_->written_by(to, id);
    }
    charges_->add(to);
    neighbours_->add(to);
    for (int piece = 0; piece < how_.n_pieces; ++piece) {
        const int own = to.add(part::core, [this, piece] { pair_own(piece); });
        to.reads(own, {forces, 0, 0});
        to.writes(own, {pairs, piece, 0});
        const int id = add(part::unpack, [this, piece](auto& sums) { add_charges(piece, sums); });
        charges_->read_by(to, id);
        transform_.writes_points(to, id);
        const int other = add(part::unpack, [this, piece](auto& sums) { pair_neighbours(piece, sums); });
        neighbours_->read_by(to, other);
        to.wait_for(other, {own});
        to.writes(other, {pairs, piece, 0});
    }
    to.end_stage();
    transform_.add_forward(to);
    transform_.add_inverse(to, [this](const fft3d::spectrum_line& line) { influence(line); });
    for (int piece = 0; piece < how_.n_pieces; ++piece) {
        const int id = add(part::prepare, [this, piece](auto& sums) { pack_potentials(piece, sums); });
        transform_.reads_points(to, id);
        potentials_->written_by(to, id);
    }
    potentials_->add(to);
    for (int piece = 0; piece < how_.n_pieces; ++piece) {
        const int id = add(part::unpack, [this, piece](auto& sums) { gather(piece, sums); });
        potentials_->read_by(to, id);
        to.writes(id, {forces, 0, 0});
    }
    to.end_stage();
}

std::uint64_t ewald::left_of_messages() {
    std::uint64_t left = transform_.left_of_messages();
    for (padded_sums& each : sums_) left += std::exchange(each, {}).left();
    return left;
}

std::vector<pull> ewald::pulls() const {
    std::vector<pull> all = by_mesh_;
    for (std::size_t k = 0; k < all.size(); ++k) {
        // Less what the ion's own spread charge does.
        all[k].potential += by_pairs_[k].potential - 2 * how_.beta * std::numbers::inv_sqrtpi * ions_[k].charge;
        for (int d = 0; d < 3; ++d) all[k].force[d] += by_pairs_[k].force[d];
    }
    return all;
}

} // namespace mesh
