// SPDX-License-Identifier: Apache-2.0
// x[n1 N2 + n2] -> transpose -> FFT over n1 -> twiddle w^(n2 k1) -> transpose -> FFT over n2 -> transpose -> y[k2 N1 + k1].
// Twiddles come from two tables of sqrt(N) roots. Packing is the transposed store; unpacking copies runs.
#include "six_step.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace soi {

namespace {

int largest_divisor(index_type of, int at_most) {
    for (int k = static_cast<int>(std::min<index_type>(of, at_most)); k > 1; --k) {
        if (of % k == 0) return k;
    }
    return 1;
}

} // namespace

template <class Real>
std::size_t transpose_stage<Real>::buffer_size(index_type points_per_rank, int n_segments) {
    return static_cast<std::size_t>(points_per_rank) +
           static_cast<std::size_t>(n_segments) * line_bytes / sizeof(complex);
}

template <class Real>
transpose_stage<Real>::transpose_stage(const extents& of, complex* outgoing, complex* incoming)
    : width_(of.width), outgoing_(outgoing), incoming_(incoming) {
    layout_.n_ranks = of.n_ranks;
    layout_.rank = of.rank;
    layout_.n_segments = largest_divisor(of.width / of.n_ranks, of.n_segments);
    columns_ = of.width / of.n_ranks / layout_.n_segments;
    layout_.cell_bytes = static_cast<std::size_t>(columns_) * sizeof(complex);
    const auto n_chunks = static_cast<int>(std::min<index_type>(of.rows, of.n_chunks));
    for (int c = 0; c <= n_chunks; ++c) layout_.chunk_rows.push_back(of.rows * c / n_chunks);
    n_pieces_ = static_cast<int>(std::clamp<index_type>(of.n_pieces, 1, of.rows / n_chunks));
}

template <class Real>
void transpose_stage<Real>::produce(int piece, int /*worker*/) {
    const int chunk = piece / n_pieces_;
    const index_type first = layout_.chunk_rows[static_cast<std::size_t>(chunk)];
    const index_type count = layout_.chunk_rows[static_cast<std::size_t>(chunk) + 1] - first;
    const index_type begin = count * (piece % n_pieces_) / n_pieces_;
    const index_type end = count * (piece % n_pieces_ + 1) / n_pieces_;
    for (int to = 0; to < layout_.n_ranks; ++to) {
        for (int segment = 0; segment < layout_.n_segments; ++segment) {
            const bool own = to == layout_.rank;
            const tiled::block at = own ? layout_.incoming(to, segment, chunk) : layout_.outgoing(to, segment, chunk);
            complex* const block = (own ? incoming_ : outgoing_) + at.offset_bytes / sizeof(complex);
            const complex* const from =
                from_ + first * width_ + (static_cast<index_type>(to) * layout_.n_segments + segment) * columns_;
            // Eight rows at a time: what is written is then whole cache lines, what is read fits the ways of a set.
            for (index_type row = begin; row < end; row += 8) {
                const index_type n = std::min<index_type>(8, end - row);
                for (index_type column = 0; column < columns_; ++column) {
                    for (index_type r = 0; r < n; ++r) {
                        block[column * count + row + r] = from[(row + r) * width_ + column];
                    }
                }
            }
        }
    }
}

template <class Real>
void transpose_stage<Real>::consume(int segment, int /*worker*/) {
    const index_type length = layout_.rows() * layout_.n_ranks;
    complex* const rows = to_ + segment * columns_ * length;
    for (int source = 0; source < layout_.n_ranks; ++source) {
        for (int chunk = 0; chunk < layout_.n_chunks(); ++chunk) {
            const complex* from = incoming_ + layout_.incoming(source, segment, chunk).offset_bytes / sizeof(complex);
            const index_type first = layout_.chunk_rows[static_cast<std::size_t>(chunk)];
            const index_type count = layout_.chunk_rows[static_cast<std::size_t>(chunk) + 1] - first;
            for (index_type column = 0; column < columns_; ++column) {
                std::copy_n(from, count, rows + column * length + source * layout_.rows() + first);
                from += count;
            }
        }
    }
    if (!then) return;
    const index_type first_row = (static_cast<index_type>(layout_.rank) * layout_.n_segments + segment) * columns_;
    for (index_type column = 0; column < columns_; ++column) then(first_row + column, rows + column * length);
}

index_type six_step_rows(index_type n_points, int n_ranks) {
    const index_type unit = std::lcm(2, n_ranks);
    if (n_points < 1 || n_points % (unit * unit) != 0) return 0;
    // N1 = unit a, N2 = unit b, a b = N / unit^2.
    const index_type product = n_points / (unit * unit);
    auto a = static_cast<index_type>(std::sqrt(static_cast<double>(product)));
    while (product % a != 0) --a;
    return unit * a;
}

/// As many as SOI would choose for the same problem, so that the comparison is of methods, not of message sizes.
template <class Real>
int usual_chunks(const problem& p) {
    constexpr double good_message = 128 << 10;
    const double rank_bytes = sizeof(std::complex<Real>) * static_cast<double>(p.n_points) / p.n_ranks;
    int n_chunks = 8;
    while (n_chunks > 1 && rank_bytes / p.n_ranks / p.n_segments / n_chunks < good_message) n_chunks /= 2;
    return n_chunks;
}

template <class Real>
six_step<Real>::six_step(const transform_options& o)
    : six_step(o.sizes, o, o.sizes.n_chunks == 0 ? usual_chunks<Real>(o.sizes) : o.sizes.n_chunks) {}

template <class Real>
six_step<Real>::six_step(const problem& p, const transform_options& o, int n_chunks)
    : n1_(six_step_rows(p.n_points, p.n_ranks)),
      n2_(n1_ == 0 ? throw std::invalid_argument("N cannot be cut into two factors that twice the ranks divide")
                   : p.n_points / n1_),
      scale_(static_cast<Real>(o.scale)), root_(p.n_points, o.sign),
      fft1_(plan_one<Real>(static_cast<int>(n1_), o.sign, true, o.effort)),
      fft2_(plan_one<Real>(static_cast<int>(n2_), o.sign, true, o.effort)),
      outgoing_(transpose_stage<Real>::buffer_size(p.n_points / p.n_ranks, p.n_segments)), incoming_(outgoing_.size()),
      columns_(static_cast<std::size_t>(p.n_points / p.n_ranks)), rows_(columns_.size()),
      to_columns_({p.n_ranks, o.rank, n1_ / p.n_ranks, n2_, p.n_segments, n_chunks, p.n_pieces}, outgoing_.data(),
                  incoming_.data()),
      to_rows_({p.n_ranks, o.rank, n2_ / p.n_ranks, n1_, p.n_segments, n_chunks, p.n_pieces}, outgoing_.data(),
               incoming_.data()),
      to_order_({p.n_ranks, o.rank, n1_ / p.n_ranks, n2_, p.n_segments, n_chunks, p.n_pieces}, outgoing_.data(),
                incoming_.data()) {
    to_columns_.then = [this](index_type row, complex* numbers) {
        fft1_->execute(numbers, numbers);
        twiddle(row, numbers);
    };
    to_rows_.then = [this](index_type /*row*/, complex* numbers) {
        fft2_->execute(numbers, numbers);
        if (scale_ != 1) std::for_each(numbers, numbers + n2_, [this](complex& c) { c *= scale_; });
    };
}

template <class Real>
void six_step<Real>::bind(const complex* x, complex* y) {
    to_columns_.bind(x, columns_.data());
    to_rows_.bind(columns_.data(), rows_.data());
    to_order_.bind(rows_.data(), y);
}

template <class Real>
void six_step<Real>::twiddle(index_type row, complex* numbers) const {
    index_type at = 0;
    for (index_type k = 0; k < n1_; ++k) {
        const complex w = root_(at);
        const complex z = numbers[k];
        numbers[k] = {z.real() * w.real() - z.imag() * w.imag(), z.real() * w.imag() + z.imag() * w.real()};
        at += row; // below N2 (N1 - 1): never wraps
    }
}

template class transpose_stage<double>;
template class transpose_stage<float>;
template class six_step<double>;
template class six_step<float>;

} // namespace soi
