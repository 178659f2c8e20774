// SPDX-License-Identifier: Apache-2.0
// The kernel: windowed sums of input rows, times a twiddle, in the order in which the short FFTs want them. Its taps
// are real, so a complex number costs two multiply-adds per tap; where the caches keep up it runs near the peak.
#pragma once

#include "tables.hpp"

namespace soi {

/// Longer rows than this are S numbers apart in too few sets of the first-level cache for the B + d NG of them that are
/// summed at a time: then columns of x are copied, panel_vectors vectors at a time, to where the rows of one vector lie
/// side by side.
inline constexpr std::size_t direct_row_bytes = 512;
inline constexpr int panel_vectors = 8;

/// Complex numbers that convolve() needs as scratch.
template <class Real>
std::size_t panel_size(const shape& of);

/// v[q][p] for the n * n_groups values q of one tile, without the short FFT:
/// v = e^{...p...} sum_i G[b][i][p] x[(a d + i) S + p], q = a n + b, a from 0. Rows of v have padded_segments numbers.
/// @param x      row a = 0 of the tile; (n_groups * d + B) rows are read
/// @param panel  scratch, panel_size() numbers, on a cache line
template <class Real>
void convolve(const shape& of, const tables<Real>& with, const std::complex<Real>* x, index_type n_groups,
              std::complex<Real>* v, std::complex<Real>* panel);

} // namespace soi
