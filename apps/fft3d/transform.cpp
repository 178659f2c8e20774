// SPDX-License-Identifier: Apache-2.0
// Points are [z][y][x], the middle array [x][z][y] and the spectrum [y][x][z], so that each transform is of contiguous points. An
// exchange packs parts of lines in the order of memory and gathers lines from strided places, which are in the cache by then.
#include "transform.hpp"

#include "common/extents.hpp"
#include "common/runtime_session.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace fft3d {

using miniapp::part;
using miniapp::require;

namespace {

const MPI_Datatype type = MPI_C_DOUBLE_COMPLEX;

std::uint64_t bits_of(const complex& value) {
    return std::bit_cast<std::uint64_t>(value.real()) + std::bit_cast<std::uint64_t>(value.imag());
}

/// One of two lines that belong to this thread.
complex* scratch_line(int which, std::size_t length) {
    thread_local std::array<soi::aligned_array<complex>, 2> lines;
    if (lines[which].size() < length) lines[which] = soi::aligned_array<complex>(length);
    return lines[which].data();
}

} // namespace

double shape::n_points() const { return static_cast<double>(points[0]) * points[1] * points[2] / grid[0] / grid[1]; }

std::string settle_grid(shape& of, int n_ranks) {
    const auto [nx, ny, nz] = of.points;
    const std::string what = miniapp::to_string(of.points) + " points";
    // As square as possible. A rank exchanges with its row and its column.
    const auto cost = [&](const std::array<int, 2>& grid) {
        const bool fits = nx % grid[0] == 0 && ny % grid[0] == 0 && ny % grid[1] == 0 && nz % grid[1] == 0;
        return fits ? std::optional(grid[0] + grid[1]) : std::nullopt;
    };
    const auto best = miniapp::best_grid<2>(n_ranks, cost);
    if (!best) {
        return what + " cannot be cut into equal pencils for " + std::to_string(n_ranks) +
               " ranks; choose points that their number divides.";
    }
    if (of.grid[0] == 0) of.grid = *best;
    if (static_cast<long long>(of.grid[0]) * of.grid[1] != n_ranks || !cost(of.grid)) {
        return "--grid " + miniapp::to_string(of.grid) + " does not cut " + what + " into equal pencils for the " +
               std::to_string(n_ranks) + " ranks of this run; choose " + miniapp::to_string(*best) + ".";
    }
    const int most = std::min(nx / of.grid[0], nz / of.grid[1]);
    if (of.n_batches <= most) return {};
    return "--batches " + std::to_string(of.n_batches) + " is more than the planes of a rank; choose at most " +
           std::to_string(most) + ".";
}

transform::transform(const shape& of, MPI_Comm comm, bool by_worker) : shape_(of), comm_(comm), by_worker_(by_worker) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const std::array<int, 2> place = miniapp::place_of(rank, of.grid);
    const auto [nx, ny, nz] = of.points;
    const int n_x = nx / of.grid[0];
    const int n_z = nz / of.grid[1];
    const int n_y_in_row = ny / of.grid[0];
    const int n_y_in_column = ny / of.grid[1];
    const auto n = static_cast<std::size_t>(of.n_points());
    for (auto& each : arrays_) each = soi::aligned_array<complex>(n);
    complex* const middle = arrays_[1].data();
    phases_[0] = {place[0], n_z, {arrays_[0].data(), n_y_in_row, nx, n_y_in_row, 1}, {middle, n_x, ny, 1, n_z}};
    phases_[1] = {place[1], n_x, {middle, n_z, ny, n_z, 1}, {arrays_[2].data(), n_y_in_column, nz, 1, n_x}};
    for (int which = 0; which < 2; ++which) {
        phase& each = phases_[which];
        for (std::array<int, 2> peer = place; each.n_ranks() < of.grid[which];) {
            peer[which] = each.n_ranks();
            each.ranks.push_back(static_cast<int>(miniapp::index_of(peer, of.grid)));
        }
        each.outgoing = soi::aligned_array<complex>(n);
        each.incoming = soi::aligned_array<complex>(n);
        each.comm = comm;
        // Each exchange has a communicator of its own, since collectives of two exchanges may start in any order.
        if (of.by == schedule::alltoallv) MPI_Comm_dup(comm, &each.comm);
        if (of.by == schedule::alltoall) MPI_Comm_split(comm, place[1 - which], place[which], &each.comm);
        if (by_worker) require(commtask_comm_register(each.comm), "commtask_comm_register");
    }
    for (const int length : of.points) {
        ffts_[0].push_back(soi::plan_one<double>(length, 1, false, soi::rigor::estimate));
        ffts_[1].push_back(soi::plan_one<double>(length, -1, false, soi::rigor::estimate));
    }
    messages_.resize(4 * static_cast<std::size_t>(of.n_batches));
}

void transform::end() {
    messages_.clear(); // plans before their communicator
    for (phase& each : phases_) {
        if (each.comm != comm_) MPI_Comm_free(&each.comm);
    }
}

const soi::local_fft<double>& transform::fft(bool is_forward, int length) const {
    return *ffts_[is_forward ? 1 : 0][std::ranges::find(shape_.points, length) - shape_.points.begin()];
}

box transform::points_box() const {
    const int n_y = phases_[0].inner.n;
    const int n_z = phases_[0].n_kept;
    return {{0, phases_[0].mine * n_y, phases_[1].mine * n_z}, {shape_.points[0], n_y, n_z}};
}

box transform::spectrum_box() const {
    const int n_x = phases_[1].n_kept;
    const int n_y = phases_[1].outer.n;
    return {{phases_[0].mine * n_x, phases_[1].mine * n_y, 0}, {n_x, n_y, shape_.points[2]}};
}

std::uint64_t transform::left_of_messages() {
    std::uint64_t left = 0;
    for (padded_sums& each : sums_) left += std::exchange(each, {}).left();
    return left;
}

transform::range transform::share(int n, int n_parts, int k) {
    const auto first = [&](long long before) { return static_cast<int>(n * before / n_parts); };
    return {first(k), first(k + 1) - first(k)};
}

void transform::pack(const work& what, const filter& change) {
    phase& on = what.on;
    const lines& from = what.is_forward ? on.inner : on.outer;
    const int n_part = from.length / on.n_ranks();
    const bool has_fft = what.turn != nullptr || (what.is_forward && &on == phases_.data());
    const box here = spectrum_box();
    std::uint64_t bits = 0;
    for (int k = what.own.first; k < what.own.first + what.own.count; ++k) {
        const int kept = what.kept.first + k / from.n;
        const int mine = k % from.n;
        const complex* values = line(from, kept, mine);
        if (what.turn != nullptr) {
            complex* const changed = scratch_line(1, from.length);
            change({*what.turn, here.first[0] + kept, here.first[1] + mine, values, changed});
            values = changed;
        }
        if (has_fft) {
            complex* const transformed = scratch_line(0, from.length);
            fft(what.is_forward, from.length).execute(values, transformed);
            values = transformed;
        }
        for (int to = 0; to < on.n_ranks(); ++to, values += n_part) {
            const bool stays = to == on.mine && (shape_.by != schedule::alltoall || on.n_ranks() == 1);
            complex* const block = (stays ? on.incoming : on.outgoing).data() + block_place(on, what.kept, to);
            std::copy_n(values, n_part, block + static_cast<std::ptrdiff_t>(k) * n_part);
            for (int i = 0; i < n_part; ++i) bits += bits_of(values[i]);
        }
    }
    what.sums->packed += bits;
    if (what.turn != nullptr) ++*what.turn;
}

void transform::unpack(const work& what) {
    phase& on = what.on;
    const lines& to = what.is_forward ? on.outer : on.inner;
    const int n_part = to.length / on.n_ranks();
    complex* const gathered = scratch_line(0, to.length);
    std::uint64_t bits = 0;
    for (int k = what.own.first; k < what.own.first + what.own.count; ++k) {
        const int kept = k / to.n;
        complex* at = gathered;
        for (int from = 0; from < on.n_ranks(); ++from) {
            const complex* value =
                on.incoming.data() + block_place(on, what.kept, from) + kept * n_part * to.n + k % to.n;
            for (int i = 0; i < n_part; ++i, ++at, value += to.n) {
                *at = *value;
                bits += bits_of(*at);
            }
        }
        fft(what.is_forward, to.length).execute(gathered, line(to, what.kept.first + kept, k % to.n));
    }
    what.sums->unpacked += bits;
}

void transform::add_work(miniapp::item_list& to, part when, bool is_forward, int which, int batch,
                         const filter& change) {
    phase& on = phases_[which];
    const bool is_packing = when != part::unpack;
    const range kept = share(on.n_kept, shape_.n_batches, batch);
    const int n_lines = kept.count * (is_forward == is_packing ? on.inner : on.outer).n;
    const bool is_from_middle = is_forward ? which == 1 : which == 0;
    const bool is_from_spectrum = is_packing && !is_forward && which == 1;
    for (int piece = 0; piece < shape_.n_pieces; ++piece) {
        const range own = share(n_lines, shape_.n_pieces, piece);
        if (own.count == 0) continue;
        const work what{
            on, is_forward, kept, own, &sums_.emplace_back(), is_from_spectrum ? &turns_.emplace_back(0) : nullptr};
        if (!is_packing) {
            const int id = to.add(when, [this, what] { unpack(what); });
            to.reads(id, {received, which, batch});
            to.reads(id, {stayed, which, batch});
            to.writes(id, {is_forward ? (which == 0 ? middle_by_z : spectrum) : (which == 0 ? points : middle_by_x),
                           batch, 0});
            continue;
        }
        const int id = to.add(when, [this, what, change] { pack(what, change); });
        if (!is_from_middle) to.reads(id, {is_forward ? points : spectrum, batch, 0});
        for (int any = 0; any < shape_.n_batches && is_from_middle; ++any)
            to.reads(id, {is_forward ? middle_by_z : middle_by_x, any, 0});
        to.writes(id, {sent, which, batch});
        to.writes(id, {stayed, which, batch});
    }
}

miniapp::message transform::collective(phase& on, range kept, const messages& all) const {
    complex* const from = on.outgoing.data();
    complex* const into = on.incoming.data();
    const MPI_Comm comm = on.comm;
    if (shape_.by == schedule::alltoall) {
        const int n = block_size(on, kept);
        return {commtask_op_alltoall(from, n, type, into, n, type, comm),
                [=](MPI_Request* request) { MPI_Ialltoall(from, n, type, into, n, type, comm, request); }};
    }
    const int* const counts = all.counts.data();
    const int* const places = all.places.data();
    return {commtask_op_alltoallv_int(from, counts, places, type, into, counts, places, type, comm),
            [=](MPI_Request* request) {
                MPI_Ialltoallv(from, counts, places, type, into, counts, places, type, comm, request);
            }};
}

std::vector<int> transform::add_messages(miniapp::item_list& to, phase& on, range kept, int tag) {
    messages& all = messages_[tag];
    const int n_new = all.counts.empty() ? shape_.grid[0] * shape_.grid[1] : 0;
    for (int rank = 0; rank < n_new; ++rank) {
        const int peer = static_cast<int>(std::ranges::find(on.ranks, rank) - on.ranks.begin());
        const bool is_peer = peer != on.mine && peer != on.n_ranks();
        if (!is_peer && shape_.by != schedule::alltoallv) continue;
        all.peers.push_back(rank);
        all.counts.push_back(is_peer ? block_size(on, kept) : 0);
        all.places.push_back(is_peer ? block_place(on, kept, peer) : 0);
    }
    if (shape_.by == schedule::alltoallv || shape_.by == schedule::alltoall)
        return {to.add(part::send, collective(on, kept, all))};
    complex* const from = on.outgoing.data();
    complex* const into = on.incoming.data();
    const int n_peers = static_cast<int>(all.peers.size());
    if (by_worker_) {
        const int* const counts = all.counts.data();
        const int* const places = all.places.data();
        const commtask_op many =
            commtask_op_many_to_many_int(from, counts, places, type, all.peers.data(), n_peers, into, counts, places,
                                         type, all.peers.data(), n_peers, tag, on.comm);
        if (shape_.by != schedule::plan) return {to.add(part::send, {many})};
        all.plan.record([&] { require(commtask_post_operation(&many, nullptr, nullptr), "commtask_post"); });
        return {to.add(part::send, miniapp::start(all.plan))};
    }
    std::vector<int> ids;
    for (int k = 0; k < n_peers; ++k) {
        const int n = all.counts[k];
        const int place = all.places[k];
        ids.push_back(to.add(part::receive, miniapp::receive(into + place, n, type, all.peers[k], tag, on.comm)));
        ids.push_back(to.add(part::send, miniapp::send(from + place, n, type, all.peers[k], tag, on.comm)));
    }
    return ids;
}

void transform::add_exchange(miniapp::item_list& to, bool is_forward, int which, int batch) {
    phase& on = phases_[which];
    if (on.n_ranks() == 1) return;
    const int tag = (2 * which + (is_forward ? 1 : 0)) * shape_.n_batches + batch;
    for (const int id : add_messages(to, on, share(on.n_kept, shape_.n_batches, batch), tag)) {
        to.reads(id, {sent, which, batch});
        to.writes(id, {received, which, batch});
    }
}

void transform::add(miniapp::item_list& to, bool is_forward, const filter& change) {
    for (const int which : is_forward ? std::array{0, 1} : std::array{1, 0}) {
        add_work(to, part::prepare, is_forward, which, 0, change);
        for (int batch = 0; batch < shape_.n_batches; ++batch) {
            add_exchange(to, is_forward, which, batch);
            if (batch + 1 < shape_.n_batches) add_work(to, part::core, is_forward, which, batch + 1, change);
            add_work(to, part::unpack, is_forward, which, batch, {});
            to.end_stage();
        }
    }
}

} // namespace fft3d
