// SPDX-License-Identifier: Apache-2.0
// The transform as work around one exchange: pieces of convolution and short FFTs before it, one long FFT and the
// demodulation per segment after it. Which thread runs what, and when, is the schedule's business; every value is
// computed by the same operations in the same order whatever the schedule, chunks or threads.
#pragma once

#include "convolution.hpp"
#include "distributed_fft.hpp"

#include <span>

namespace soi {

/// y[m] = z[m - M/2] E[m] for the M bins of a segment; `spectrum` is z in FFTW's order, of M' numbers.
template <class Real>
void demodulate(const shape& of, const tables<Real>& with, const std::complex<Real>* spectrum, std::complex<Real>* y);

template <class Real>
class soi_transform final : public tiled::work, public distributed_fft<Real> {
public:
    using complex = std::complex<Real>;

    /// Throws std::invalid_argument with a sentence for sizes that refusal() refuses.
    explicit soi_transform(const transform_options& options);

    /// Says what the next run transforms: N / P points in natural order each. `y` may be `x`; otherwise they must not
    /// overlap. Throws std::invalid_argument if one is null, not aligned to a complex number, or they overlap in part.
    void bind(const complex* x, complex* y) override;
    std::vector<tiled::work*> exchanges() override { return {this}; }

    const shape& sizes_of_transform() const { return shape_; }
    double table_seconds() const override { return table_seconds_; }

    const tiled::layout& sizes() const override { return layout_; }
    std::byte* outgoing() override { return reinterpret_cast<std::byte*>(outgoing_.data()); }
    std::byte* incoming() override { return reinterpret_cast<std::byte*>(incoming_.data()); }
    int pieces_per_chunk() const override { return shape_.n_pieces; }
    tiled::halo neighbour() override;
    bool needs_halo(int piece) const override;
    void begin() override;
    void produce(int piece, int worker) override;
    void consume(int segment, int worker) override;

private:
    struct worker_scratch {
        aligned_array<complex> convolved;   ///< v, [q][p]
        aligned_array<complex> transformed; ///< u of one tile, [s][q]
        aligned_array<complex> panel;
        aligned_array<complex> spectrum; ///< Out-of-place result of the long FFT.
    };

    std::pair<index_type, index_type> tiles_of(int piece) const;
    void produce_tile(index_type tile, worker_scratch& scratch);

    shape shape_;
    tiled::layout layout_;
    double table_seconds_ = 0;
    tables<Real> tables_;
    std::unique_ptr<local_fft<Real>> short_fft_;
    std::unique_ptr<local_fft<Real>> short_fft_of_last_; ///< The last tile may have fewer groups.
    std::unique_ptr<local_fft<Real>> long_fft_;
    bool long_in_place_;
    std::vector<worker_scratch> scratch_;
    aligned_array<complex> outgoing_;
    aligned_array<complex> incoming_;
    std::vector<complex*> destination_; ///< Per segment of all ranks: where this rank's row 0 goes.
    aligned_array<complex> edge_;       ///< Rows of the tiles that need the halo, then the halo.
    aligned_array<complex> first_rows_; ///< What the left neighbour needs; a copy, so that y may be x.
    const complex* x_ = nullptr;
    complex* y_ = nullptr;
};

} // namespace soi
