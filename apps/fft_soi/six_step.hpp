// SPDX-License-Identifier: Apache-2.0
// The six-step Cooley-Tukey transform, what SOI is compared with: N = N1 N2 as a matrix, three transpositions between
// the ranks, each a tiled exchange like SOI's, with rows of FFTs in between. Same schedules, same overlap; three times
// the exchanges, but no oversampling and no convolution.
#pragma once

#include "distributed_fft.hpp"
#include "tables.hpp"

#include <complex>
#include <functional>

namespace soi {

/// One transposition: this rank's R rows of W numbers become W / P rows of P R numbers.
template <class Real>
class transpose_stage final : public tiled::work {
public:
    using complex = std::complex<Real>;

    struct extents {
        int n_ranks;
        int rank;
        index_type rows;  ///< R, of this rank.
        index_type width; ///< W; P divides it.
        int n_segments;   ///< At most; the largest number below that divides W / P is used.
        int n_chunks;     ///< Likewise at most R.
        int n_pieces;
    };

    /// `outgoing` and `incoming` are shared with the other stages; they must hold buffer_size() numbers.
    transpose_stage(const extents& of, complex* outgoing, complex* incoming);
    static std::size_t buffer_size(index_type points_per_rank, int n_segments);

    /// What is done to row number `row` of the whole transposed matrix, once all of it is there; may be empty.
    std::function<void(index_type row, complex* numbers)> then;

    void bind(const complex* from, complex* to) {
        from_ = from;
        to_ = to;
    }

    const tiled::layout& sizes() const override { return layout_; }
    std::byte* outgoing() override { return reinterpret_cast<std::byte*>(outgoing_); }
    std::byte* incoming() override { return reinterpret_cast<std::byte*>(incoming_); }
    int pieces_per_chunk() const override { return n_pieces_; }
    void produce(int piece, int worker) override;
    void consume(int segment, int worker) override;

private:
    index_type width_;
    index_type columns_; ///< Of one segment: g.
    int n_pieces_;
    tiled::layout layout_;
    complex* outgoing_;
    complex* incoming_;
    const complex* from_ = nullptr;
    complex* to_ = nullptr;
};

/// N1 of N = N1 N2, the nearest to the square root such that 2 P divides both; 0 if there is none.
index_type six_step_rows(index_type n_points, int n_ranks);

template <class Real>
class six_step final : public distributed_fft<Real> {
public:
    using complex = std::complex<Real>;

    /// Throws std::invalid_argument if N cannot be cut.
    explicit six_step(const transform_options& options);

    /// N / P points each, in natural order. `y` may be `x`.
    void bind(const complex* x, complex* y) override;
    std::vector<tiled::work*> exchanges() override { return {&to_columns_, &to_rows_, &to_order_}; }

private:
    six_step(const problem& p, const transform_options& o, int n_chunks);
    void twiddle(index_type row, complex* numbers) const;

    index_type n1_;
    index_type n2_;
    Real scale_;
    roots_of_unity<Real> root_;
    std::unique_ptr<local_fft<Real>> fft1_;
    std::unique_ptr<local_fft<Real>> fft2_;
    aligned_array<complex> outgoing_;
    aligned_array<complex> incoming_;
    aligned_array<complex> columns_;
    aligned_array<complex> rows_;
    transpose_stage<Real> to_columns_;
    transpose_stage<Real> to_rows_;
    transpose_stage<Real> to_order_;
};

} // namespace soi
