// SPDX-License-Identifier: Apache-2.0
// A link is numbered by the receiver's side and the place of the box on it, which both ends count alike: tags and lanes
// follow from that, and no rank asks another. One kernel on all boxes of a level is a stage. Items name what they read and write:
// boxes, their ghost cells, and what of a link is packed, received and unpacked.
#include "grid.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace multigrid {

using miniapp::part;

namespace {

constexpr int most_links = 512; // of a side: keeps all tags below 32767, which every MPI has
constexpr int piece_cells = 16384;
constexpr int n_half_sweeps = 4; ///< Before and after the coarser level.
constexpr int smallest_distributed_box = 4;
constexpr int least_bottom_sweeps = 16;
// An item for every box of a few cells would be all overhead; one for all boxes would leave nothing to share out.
constexpr long least_cells = 32768;
constexpr int groups_per_thread = 4;

/// Of what items read and write; the level and its place there come behind.
enum : int { cells_of, ghosts, sent, received, unpacked };

/// A coarsest level of one box.
void smooth_often(level& on) {
    const int widest = std::ranges::max(on.n);
    for (int s = 1; s < 2 * std::max(least_bottom_sweeps, widest * widest); ++s) {
        on.fill_ghosts(0);
        smooth(on, 0, on.whole_box(), s % 2);
    }
}

/// A sum of the bits of numbers that are sums: there is no negative zero among those.
std::uint64_t bits_of_sums(const std::vector<double>& numbers) {
    std::uint64_t bits = 0;
    for (const double each : numbers) bits += std::bit_cast<std::uint64_t>(each + 0.0);
    return bits;
}

/// Calls visit(place in a box, place in the one box of the whole domain, number of cells) for the rows of the box.
template <class Visit>
void each_common_row(const level& on, int box, const level& whole, int n_ghosts, Visit&& visit) {
    const extents cell = on.origin(box);
    for (int k = -n_ghosts; k < on.n[2] + n_ghosts; ++k) {
        for (int j = -n_ghosts; j < on.n[1] + n_ghosts; ++j) {
            visit(on.at(box, -n_ghosts, j, k), whole.at(0, cell[0] - n_ghosts, cell[1] + j, cell[2] + k),
                  on.n[0] + 2 * n_ghosts);
        }
    }
}

} // namespace

level::level(const domain& whole, int depth, bool is_aggregated, const lane_choice& lanes)
    : boxes(whole.boxes()), h(whole.h() * (1 << depth)) {
    for (int d = 0; d < 3; ++d) {
        n[d] = whole.box[d] >> depth;
        first[d] = whole.position[d] * boxes[d] * n[d];
    }
    x.assign(static_cast<std::size_t>(n_boxes() * cells_of_box()), 0);
    b = x;
    for (int side = 0; side < n_sides; ++side) {
        const std::optional<int> peer = miniapp::beyond(whole.position, side, whole.grid);
        if (!peer) continue;
        is_shared_[side] = true;
        std::vector<int> on_side;
        for (int box = 0; box < n_boxes(); ++box) {
            if (!box_beyond(box, side)) on_side.push_back(box);
        }
        const std::size_t face = static_cast<std::size_t>(n[(side / 2 + 1) % 3]) * n[(side / 2 + 2) % 3];
        const std::size_t n_links = is_aggregated ? 1 : on_side.size();
        const std::size_t each = on_side.size() / n_links;
        // What all ranks count alike: as if there were a neighbour beyond every side.
        const std::vector<MPI_Comm> comms = lanes(each * face * sizeof(double), n_sides * n_links);
        for (std::size_t k = 0; k < n_links; ++k) {
            const auto tag = [&](int to) { return (depth * n_sides + to) * most_links + static_cast<int>(k); };
            const auto comm = [&](int to) { return comms[static_cast<std::size_t>(to) * n_links + k]; };
            link with{side, {&on_side[k * each], &on_side[k * each] + each}};
            with.sent.resize(each * face);
            with.received.resize(each * face);
            const int n_cells = static_cast<int>(each * face);
            with.send = miniapp::send(with.sent.data(), n_cells, MPI_DOUBLE, *peer, tag(side ^ 1), comm(side ^ 1));
            with.receive = miniapp::receive(with.received.data(), n_cells, MPI_DOUBLE, *peer, tag(side), comm(side));
            links.push_back(std::move(with));
        }
    }
}

std::size_t level::at(int box, int i, int j, int k) const {
    return static_cast<std::size_t>(box * cells_of_box() + (k + 1) * stride(2) + (j + 1) * stride(1) + i + 1);
}

extents level::origin(int box) const {
    const extents place = miniapp::place_of(box, boxes);
    return {first[0] + place[0] * n[0], first[1] + place[1] * n[1], first[2] + place[2] * n[2]};
}

pieces level::cut(int box) const {
    pieces all;
    range rest = whole_box();
    for (int side = n_sides - 1; side >= 0; --side) {
        if (!is_shared_[side] || box_beyond(box, side)) continue;
        const int d = side / 2;
        range slab = rest;
        if (side % 2 == 0) {
            rest.low[d] = slab.high[d] = std::min(2, rest.high[d]);
        } else {
            rest.high[d] = slab.low[d] = n[d] - 2;
        }
        if (slab.low[d] < slab.high[d]) all.shell.push_back(slab);
    }
    if (rest.low[0] == rest.high[0] || rest.low[1] == rest.high[1]) return all;
    const int planes = std::max(2, piece_cells / (n[0] * n[1]) / 2 * 2);
    for (int k = rest.low[2]; k < rest.high[2]; k += planes) {
        all.core.push_back(rest);
        all.core.back().low[2] = k;
        all.core.back().high[2] = std::min(k + planes, rest.high[2]);
    }
    return all;
}

template <class Visit>
void level::each_of_face(int box, int side, Visit&& visit) const {
    const int d = side / 2;
    range cells = whole_box();
    cells.low[d] = side % 2 == 0 ? 0 : n[d] - 1;
    cells.high[d] = cells.low[d] + 1;
    each_row(cells, [&](int j, int k) {
        for (int i = cells.low[0]; i < cells.high[0]; ++i) visit(at(box, i, j, k));
    });
}

void level::fill_ghosts(int box) {
    for (int side = 0; side < n_sides; ++side) {
        const std::optional<int> other = box_beyond(box, side);
        if (!other && is_shared_[side]) continue;
        const std::ptrdiff_t out = outwards(side);
        const std::ptrdiff_t theirs = other ? (*other - box) * cells_of_box() + out * (1 - n[side / 2]) : 0;
        each_of_face(box, side, [&](std::size_t cell) { x[cell + out] = other ? x[cell + theirs] : -x[cell]; });
    }
}

void level::pack(link& through) const {
    double* to = through.sent.data();
    std::uint64_t bits = 0;
    for (const int box : through.boxes) {
        each_of_face(box, through.side, [&](std::size_t cell) {
            *to++ = x[cell];
            bits += std::bit_cast<std::uint64_t>(x[cell]);
        });
    }
    through.sums.packed += bits;
}

void level::unpack(link& through) {
    const double* from = through.received.data();
    std::uint64_t bits = 0;
    for (const int box : through.boxes) {
        each_of_face(box, through.side, [&](std::size_t cell) {
            bits += std::bit_cast<std::uint64_t>(*from);
            x[cell + outwards(through.side)] = *from++;
        });
    }
    through.sums.unpacked += bits;
}

class cycle::builder {
public:
    builder(cycle& of, int n_threads) : of_(of), to_(of.items_) {
        for (const level& on : of.levels_) {
            boxes_each_.push_back(std::clamp(static_cast<int>(least_cells / volume(on.n)), 1,
                                             std::max(1, on.n_boxes() / (groups_per_thread * n_threads))));
        }
    }

    /// A kernel on all cells of a level, which reads x there and its ghost cells, and writes level `written`; -1: none.
    template <class Kernel>
    void stage(int number, int written, Kernel kernel) {
        level& on = of_.levels_[number];
        for (int box = 0; box < on.n_boxes(); ++box) {
            const int id = to_.add(part::prepare, [&on, box] { on.fill_ghosts(box); }, group_of(number, box));
            to_.reads(id, {cells_of, number, box});
            for (int side = 0; side < n_sides; ++side) {
                if (const auto other = on.box_beyond(box, side)) to_.reads(id, {cells_of, number, *other});
            }
            to_.writes(id, {ghosts, number, box});
        }
        for (int l = 0; l < static_cast<int>(on.links.size()); ++l) add_link(number, l);
        for (int box = 0; box < on.n_boxes(); ++box) {
            const pieces all = on.cut(box);
            const auto compute = [&](part when, const range& cells, int together) {
                const int id = to_.add(when, [kernel, box, cells] { kernel(box, cells); }, together);
                to_.reads(id, {ghosts, number, box});
                if (written != number) to_.reads(id, {cells_of, number, box});
                if (written >= 0) to_.writes(id, {cells_of, written, box});
                for (int l = 0; l < static_cast<int>(on.links.size()) && when == part::shell; ++l) {
                    if (std::ranges::count(on.links[l].boxes, box) > 0) to_.reads(id, {unpacked, number, l});
                }
            };
            const int group = group_of(number, box);
            for (const range& cells : all.core) compute(part::core, cells, boxes_each_[number] > 1 ? group : -1);
            for (const range& cells : all.shell) compute(part::shell, cells, group);
        }
        to_.end_stage();
    }

    /// All half sweeps but those that have been done.
    void sweeps(int number, int done) {
        level& on = of_.levels_[number];
        for (int s = done; s < n_half_sweeps; ++s) {
            stage(number, number, [&on, s](int box, const range& cells) { smooth(on, box, cells, s % 2); });
        }
    }

    /// The coarsest level: one item, or the whole domain's on every rank.
    void bottom(const lane_choice& lanes) {
        cycle* const of = &of_;
        level& on = of->levels_.back();
        const int number = static_cast<int>(of->levels_.size()) - 1;
        if (of->bottom_ == nullptr) {
            to_.writes(to_.add(part::core, [&on] { smooth_often(on); }), {cells_of, number, 0});
            return to_.end_stage();
        }
        level& whole = of->bottom_->finest();
        const int pack = to_.add(part::prepare, [of, &on, &whole] {
            for (int box = 0; box < on.n_boxes(); ++box) {
                each_common_row(on, box, whole, 0, [&](std::size_t here, std::size_t there, int n) {
                    std::copy_n(&on.b[here], n, &of->mine_[there]);
                });
            }
            // Every rank gets it, and elsewhere only zeros are added.
            of->of_bottom_.packed += static_cast<std::uint64_t>(volume(of->whole_.grid)) * bits_of_sums(of->mine_);
        });
        const int n = static_cast<int>(of->mine_.size());
        const MPI_Comm comm = lanes(n * sizeof(double), 1).front();
        const int sum = to_.add(
            part::send, {commtask_op_allreduce(of->mine_.data(), whole.b.data(), n, MPI_DOUBLE, MPI_SUM, comm),
                         [=, &whole](MPI_Request* request) {
                             MPI_Iallreduce(of->mine_.data(), whole.b.data(), n, MPI_DOUBLE, MPI_SUM, comm, request);
                         }});
        to_.wait_for(sum, {pack});
        const int solve = to_.add(part::unpack, [of, &whole] {
            of->of_bottom_.unpacked += bits_of_sums(whole.b);
            start_from_zero(whole, 0, whole.whole_box());
            for (const miniapp::item& each : of->bottom_->items_.items()) each.work(0);
            whole.fill_ghosts(0);
        });
        to_.wait_for(solve, {sum});
        for (int box = 0; box < on.n_boxes(); ++box) {
            const auto work = [box, &on, &whole, &fine = *(&on - 1)] {
                // With the ghost cells, so that no exchange is needed.
                each_common_row(on, box, whole, 1, [&](std::size_t here, std::size_t there, int n_cells) {
                    std::copy_n(&whole.x[there], n_cells, &on.x[here]);
                });
                prolong(on, fine, box, on.whole_box());
            };
            const int id = to_.add(part::shell, work, group_of(number, box));
            to_.reads(pack, {cells_of, number, box});
            to_.wait_for(id, {solve});
            to_.writes(id, {cells_of, number, box});
            to_.writes(id, {cells_of, number - 1, box});
        }
        to_.end_stage();
    }

private:
    /// Boxes go together when they are small.
    int group_of(int number, int box) const { return box / boxes_each_[number]; }

    void add_link(int number, int l) {
        level& on = of_.levels_[number];
        link& with = on.links[l];
        const int pack = to_.add(part::prepare, [&on, &with] { on.pack(with); });
        for (const int box : with.boxes) to_.reads(pack, {cells_of, number, box});
        to_.writes(pack, {sent, number, l});
        to_.reads(to_.add(part::send, with.send), {sent, number, l});
        to_.writes(to_.add(part::receive, with.receive), {received, number, l});
        const int unpack = to_.add(part::unpack, [&on, &with] { on.unpack(with); });
        to_.reads(unpack, {received, number, l});
        to_.writes(unpack, {unpacked, number, l});
    }

    cycle& of_;
    miniapp::item_list& to_;
    std::vector<int> boxes_each_; ///< Of the levels: how many go together.
};

std::uint64_t cycle::left_of_messages() {
    std::uint64_t left = std::exchange(of_bottom_, {}).left();
    for (level& on : levels_) {
        for (link& with : on.links) left += std::exchange(with.sums, {}).left();
    }
    return left;
}

cycle::cycle(const domain& whole, bool is_aggregated, const lane_choice& lanes, int n_threads, bool is_bottom)
    : whole_(whole) {
    const bool is_one_box = whole.box == whole.cells;
    const auto is_halved = [&](int n) { return is_one_box ? n % 2 == 0 && n > 2 : n >= smallest_distributed_box; };
    int last = 0;
    for (extents n = whole.box; std::ranges::all_of(n, is_halved); ++last) n = {n[0] / 2, n[1] / 2, n[2] / 2};
    for (int depth = 0; depth <= last; ++depth) levels_.emplace_back(whole, depth, is_aggregated, lanes);
    if (!is_one_box) {
        const extents cells{whole.cells[0] >> last, whole.cells[1] >> last, whole.cells[2] >> last};
        bottom_.reset(new cycle({.cells = cells, .grid = {1, 1, 1}, .position = {}, .box = cells}, true, {}, 1, true));
        mine_.resize(bottom_->finest().b.size());
    }
    builder make{*this, n_threads};
    for (int k = 0; k < last; ++k) {
        make.sweeps(k, k > 0 || is_bottom ? 1 : 0);
        make.stage(k, k + 1, [&fine = levels_[k], &coarse = levels_[k + 1]](int box, const range& cells) {
            restrict_residual(fine, coarse, box, cells);
        });
    }
    make.bottom(lanes);
    for (int k = last - 1; k >= 0; --k) {
        if (k < last - 1 || is_one_box) {
            make.stage(k + 1, k, [&fine = levels_[k], &coarse = levels_[k + 1]](int box, const range& cells) {
                prolong(coarse, fine, box, cells);
            });
        }
        make.sweeps(k, 0);
    }
    make.stage(0, -1, [this](int box, const range& cells) {
        const double here = multigrid::largest_residual(finest(), box, cells);
        // relaxed: that the items have ended orders it.
        double before = largest_residual_.load(std::memory_order_relaxed);
        while (before < here && !largest_residual_.compare_exchange_weak(before, here, std::memory_order_relaxed)) {}
    });
    items_.end(false);
}

} // namespace multigrid
