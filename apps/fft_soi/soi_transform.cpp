// SPDX-License-Identifier: Apache-2.0
// The short FFT of a tile goes to a scratch that the cache holds and is copied from there, run by run, to where the
// messages start: writing with the stride of a row of u would miss in the cache, as rows are 5 * 2^j long.
#include "soi_transform.hpp"

#include "common/clock.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>

namespace soi {

namespace {

const problem& checked(const problem& asked) {
    if (const std::string no = refusal(asked); !no.empty()) throw std::invalid_argument(no);
    return asked;
}

template <class Real>
double seconds_of(const local_fft<Real>& fft, std::complex<Real>* in, std::complex<Real>* out) {
    double best = 1e9;
    for (int round = 0; round < 3; ++round) {
        const double start = miniapp::seconds();
        fft.execute(in, out);
        best = std::min(best, miniapp::seconds() - start);
    }
    return best;
}

/// In place saves memory traffic; out of place saves FFTW a transposition. Measured where measuring is allowed and does
/// not take minutes.
template <class Real>
bool is_better_in_place(int n, int sign, rigor effort) {
    if (effort == rigor::estimate || n > 1 << 18) return false;
    aligned_array<std::complex<Real>> a(static_cast<std::size_t>(n));
    aligned_array<std::complex<Real>> b(static_cast<std::size_t>(n));
    std::ranges::fill(a, std::complex<Real>{});
    std::ranges::fill(b, std::complex<Real>{});
    const auto in_place = plan_one<Real>(n, sign, true, effort);
    const auto out_of_place = plan_one<Real>(n, sign, false, effort);
    return seconds_of(*in_place, a.data(), a.data()) < seconds_of(*out_of_place, a.data(), b.data());
}

} // namespace

template <class Real>
void demodulate(const shape& of, const tables<Real>& with, const std::complex<Real>* spectrum, std::complex<Real>* y) {
    const index_type half = of.segment_points / 2;
    const auto multiply = [](std::complex<Real>* to, const std::complex<Real>* a, const std::complex<Real>* b,
                             index_type n) {
        auto* out = reinterpret_cast<Real*>(to);
        const auto* p = reinterpret_cast<const Real*>(a);
        const auto* q = reinterpret_cast<const Real*>(b);
        for (index_type m = 0; m < 2 * n; m += 2) {
            const Real re = p[m] * q[m] - p[m + 1] * q[m + 1];
            const Real im = p[m] * q[m + 1] + p[m + 1] * q[m];
            out[m] = re;
            out[m + 1] = im;
        }
    };
    const std::complex<Real>* const e = with.demodulation.data();
    multiply(y, spectrum + (of.long_segment - half), e, half);
    multiply(y + half, spectrum, e + half, of.segment_points - half);
}

template <class Real>
soi_transform<Real>::soi_transform(const transform_options& options)
    : shape_(make_shape(checked(options.sizes), sizeof(complex))) {
    const shape& s = shape_;
    const double start = miniapp::seconds();
    tables_ = make_tables<Real>(s, options.sign, options.scale);
    table_seconds_ = miniapp::seconds() - start;

    layout_.n_ranks = s.n_ranks;
    layout_.rank = options.rank;
    layout_.n_segments = s.n_segments;
    layout_.cell_bytes = sizeof(complex);
    for (const index_type tile : s.chunk_tiles) layout_.chunk_rows.push_back(s.first_q(tile));

    const int tile_q = s.window.n * s.tile_groups;
    const int last_q = static_cast<int>(s.long_rows - s.first_q(s.n_tiles - 1));
    const int padded = tables_.padded_segments;
    short_fft_ = plan_transposing<Real>(s.all_segments, tile_q, padded, options.sign, options.effort);
    if (last_q != tile_q) {
        short_fft_of_last_ = plan_transposing<Real>(s.all_segments, last_q, padded, options.sign, options.effort);
    }
    const int long_n = static_cast<int>(s.long_segment);
    long_in_place_ = is_better_in_place<Real>(long_n, options.sign, options.effort);
    long_fft_ = plan_one<Real>(long_n, options.sign, long_in_place_, options.effort);

    scratch_.resize(static_cast<std::size_t>(options.n_workers));
    for (worker_scratch& own : scratch_) {
        own.convolved = aligned_array<complex>(static_cast<std::size_t>(tile_q) * static_cast<std::size_t>(padded));
        own.transformed =
            aligned_array<complex>(static_cast<std::size_t>(tile_q) * static_cast<std::size_t>(s.all_segments));
        own.panel = aligned_array<complex>(panel_size<Real>(s));
        if (!long_in_place_) own.spectrum = aligned_array<complex>(static_cast<std::size_t>(long_n));
    }
    outgoing_ = aligned_array<complex>(layout_.outgoing_bytes() / sizeof(complex));
    incoming_ = aligned_array<complex>(layout_.incoming_bytes() / sizeof(complex));
    for (int to = 0; to < s.n_ranks; ++to) {
        for (int segment = 0; segment < s.n_segments; ++segment) {
            const bool own = to == options.rank;
            const tiled::block at = own ? layout_.incoming(to, segment, 0) : layout_.outgoing(to, segment, 0);
            destination_.push_back((own ? incoming_.data() : outgoing_.data()) + at.offset_bytes / sizeof(complex));
        }
    }
    const index_type edge_rows = s.rows - s.first_halo_tile() * s.tile_groups * s.window.d + s.window.width;
    edge_ = aligned_array<complex>(static_cast<std::size_t>(edge_rows * s.all_segments));
    first_rows_ = aligned_array<complex>(static_cast<std::size_t>(s.halo_points()));
}

template <class Real>
void soi_transform<Real>::bind(const complex* x, complex* y) {
    if (x == nullptr || y == nullptr) throw std::invalid_argument("x and y must not be null");
    if (reinterpret_cast<std::uintptr_t>(x) % alignof(complex) != 0 ||
        reinterpret_cast<std::uintptr_t>(y) % alignof(complex) != 0) {
        throw std::invalid_argument("x and y must be aligned to their numbers");
    }
    const index_type n = shape_.points_per_rank();
    const std::less<const complex*> before;
    if (x != y && before(x, y + n) && before(y, x + n)) {
        throw std::invalid_argument("x and y overlap in part; they must be the same array or apart");
    }
    x_ = x;
    y_ = y;
}

template <class Real>
tiled::halo soi_transform<Real>::neighbour() {
    const std::size_t size = first_rows_.size();
    return {reinterpret_cast<const std::byte*>(first_rows_.data()),
            reinterpret_cast<std::byte*>(edge_.data() + (edge_.size() - size)), size * sizeof(complex)};
}

template <class Real>
std::pair<index_type, index_type> soi_transform<Real>::tiles_of(int piece) const {
    const auto chunk = static_cast<std::size_t>(piece / shape_.n_pieces);
    const index_type i = piece % shape_.n_pieces;
    const index_type first = shape_.chunk_tiles[chunk];
    const index_type count = shape_.chunk_tiles[chunk + 1] - first;
    return {first + count * i / shape_.n_pieces, first + count * (i + 1) / shape_.n_pieces};
}

template <class Real>
bool soi_transform<Real>::needs_halo(int piece) const {
    return tiles_of(piece).second > shape_.first_halo_tile();
}

template <class Real>
void soi_transform<Real>::begin() {
    if (x_ == nullptr) throw std::logic_error("bind() was not called");
    std::copy_n(x_, first_rows_.size(), first_rows_.data());
    const index_type own = static_cast<index_type>(edge_.size() - first_rows_.size());
    std::copy_n(x_ + (shape_.points_per_rank() - own), own, edge_.data());
}

template <class Real>
void soi_transform<Real>::produce(int piece, int worker) {
    const auto [first, last] = tiles_of(piece);
    for (index_type tile = first; tile < last; ++tile) produce_tile(tile, scratch_[static_cast<std::size_t>(worker)]);
}

template <class Real>
void soi_transform<Real>::produce_tile(index_type tile, worker_scratch& scratch) {
    const shape& s = shape_;
    const index_type q = s.first_q(tile);
    const index_type n_q = s.first_q(tile + 1) - q;
    const index_type row = tile * s.tile_groups * s.window.d;
    const index_type first_edge_tile = s.first_halo_tile();
    const index_type row_of_edge = first_edge_tile * s.tile_groups * s.window.d;
    const complex* const from =
        tile < first_edge_tile ? x_ + row * s.all_segments : edge_.data() + (row - row_of_edge) * s.all_segments;
    convolve(s, tables_, from, n_q / s.window.n, scratch.convolved.data(), scratch.panel.data());
    const bool is_short = short_fft_of_last_ != nullptr && tile == s.n_tiles - 1;
    (is_short ? short_fft_of_last_ : short_fft_)->execute(scratch.convolved.data(), scratch.transformed.data());
    const complex* made = scratch.transformed.data();
    for (complex* const to : destination_) {
        std::memcpy(to + q, made, static_cast<std::size_t>(n_q) * sizeof(complex));
        made += n_q;
    }
}

template <class Real>
void soi_transform<Real>::consume(int segment, int worker) {
    complex* const z =
        incoming_.data() + static_cast<std::size_t>(segment) * (layout_.segment_bytes() / sizeof(complex));
    complex* const spectrum = long_in_place_ ? z : scratch_[static_cast<std::size_t>(worker)].spectrum.data();
    long_fft_->execute(z, spectrum);
    demodulate<Real>(shape_, tables_, spectrum, y_ + segment * shape_.segment_points);
}

template void demodulate(const shape&, const tables<double>&, const std::complex<double>*, std::complex<double>*);
template void demodulate(const shape&, const tables<float>&, const std::complex<float>*, std::complex<float>*);
template class soi_transform<double>;
template class soi_transform<float>;

} // namespace soi
