// SPDX-License-Identifier: Apache-2.0
// A link is numbered by the receiver's side and the place of the box on it, which both ends count alike: tags and lanes
// follow from that, and no rank asks another.
#include "level.hpp"

#include "common/runtime_session.hpp"

#include <commtask/commtask.h>

#include <algorithm>

namespace multigrid {

namespace {

constexpr int most_links = 512; // of a side: keeps all tags below 32767, which every MPI has
constexpr int piece_cells = 16384;

/// Of an exchange of messages of one size.
commtask_lane_choice choose(const lane_policy& how, std::size_t size_bytes, std::size_t n_messages) {
    commtask_lane_choice choice = COMMTASK_LANE_CHOICE_INIT;
    choice.n_lanes = static_cast<unsigned>(how.n_lanes);
    choice.in_row = 1;
    if (how.n_lanes == 1 || !how.is_selective) return choice;
    commtask_burst burst = COMMTASK_BURST_INIT;
    burst.size_bytes = size_bytes;
    burst.n_messages = n_messages;
    burst.most_lanes = choice.n_lanes; // asked for, whether they have cores or not
    miniapp::require(commtask_lanes_choose(&burst, &choice), "commtask_lanes_choose");
    return choice;
}

} // namespace

std::optional<int> beyond(const extents& place, int side, const extents& in) {
    extents there = place;
    const int along = there[side / 2] += side % 2 == 0 ? -1 : 1;
    if (along < 0 || along == in[side / 2]) return std::nullopt;
    return there[0] + in[0] * (there[1] + in[1] * there[2]);
}

double domain::h() const { return 1.0 / std::ranges::max(cells); }

level::level(const domain& whole, int depth, bool is_aggregated, const lane_policy& lanes)
    : boxes(whole.boxes()), h(whole.h() * (1 << depth)) {
    for (int d = 0; d < 3; ++d) {
        n[d] = whole.box[d] >> depth;
        first[d] = whole.position[d] * boxes[d] * n[d];
    }
    x.assign(static_cast<std::size_t>(n_boxes() * volume({n[0] + 2, n[1] + 2, n[2] + 2})), 0);
    b = x;
    for (int side = 0; side < n_sides; ++side) {
        const std::optional<int> peer = beyond(whole.position, side, whole.grid);
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
        const commtask_lane_choice spread = choose(lanes, each * face * sizeof(double), n_sides * n_links);
        for (std::size_t k = 0; k < n_links; ++k) {
            const auto tag = [&](int to) { return (depth * n_sides + to) * most_links + static_cast<int>(k); };
            const auto lane = [&](int to) {
                return static_cast<int>(commtask_lane_of_message(&spread, static_cast<std::size_t>(to) * n_links + k));
            };
            const int* const begin = &on_side[k * each];
            links.push_back({*peer,
                             side,
                             {begin, begin + each},
                             tag(side ^ 1),
                             tag(side),
                             lane(side ^ 1),
                             lane(side),
                             std::vector<double>(each * face),
                             std::vector<double>(each * face)});
        }
    }
}

std::size_t level::at(int box, int i, int j, int k) const {
    return static_cast<std::size_t>(box * stride(2) * (n[2] + 2) + (k + 1) * stride(2) + (j + 1) * stride(1) + i + 1);
}

extents level::origin(int box) const {
    const extents place = place_of(box, boxes);
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
    for (int k = cells.low[2]; k < cells.high[2]; ++k) {
        for (int j = cells.low[1]; j < cells.high[1]; ++j) {
            for (int i = cells.low[0]; i < cells.high[0]; ++i) visit(at(box, i, j, k));
        }
    }
}

void level::fill_ghosts(int box) {
    for (int side = 0; side < n_sides; ++side) {
        const std::ptrdiff_t out = outwards(side);
        if (const std::optional<int> other = box_beyond(box, side)) {
            const auto theirs = static_cast<std::ptrdiff_t>(at(*other, 0, 0, 0)) -
                                static_cast<std::ptrdiff_t>(at(box, 0, 0, 0)) + out * (1 - n[side / 2]);
            each_of_face(box, side, [&](std::size_t cell) { x[cell + out] = x[cell + theirs]; });
        } else if (!is_shared_[side]) {
            each_of_face(box, side, [&](std::size_t cell) { x[cell + out] = -x[cell]; });
        }
    }
}

void level::pack(link& through) const {
    double* to = through.sent.data();
    for (const int box : through.boxes) {
        each_of_face(box, through.side, [&](std::size_t cell) { *to++ = x[cell]; });
    }
}

void level::unpack(const link& through) {
    const double* from = through.received.data();
    for (const int box : through.boxes) {
        each_of_face(box, through.side, [&](std::size_t cell) { x[cell + outwards(through.side)] = *from++; });
    }
}

} // namespace multigrid
