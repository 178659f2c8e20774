// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the network. Eight images lie side by side in a vector and go through every layer together, so each kernel
// is a loop of vector multiply-adds, and no layer needs another layout. The price is a batch of eight images at least.
// Sums run in a fixed order: the same images give the same bits on any number of threads.
#pragma once

#include <cstddef>

namespace cnn {

/// One number of each image of a bundle.
struct lanes {
    using vector = double __attribute__((vector_size(64)));
    vector of;
};
inline constexpr int n_lanes = 8;
inline constexpr int n_classes = 10;
inline constexpr int n_layers = 3; ///< Of convolution.
inline constexpr int image_side = 16;

/// 3x3 weights, ReLU, and pooling by 2x2, which halves the side. Planes have a ring of zeros around their points.
struct layer {
    int side, n_in, n_out;
    [[nodiscard]] int pitch() const { return side + 2; }
    [[nodiscard]] int plane() const { return pitch() * pitch(); }
    /// By input plane, place in the 3x3, output plane.
    [[nodiscard]] int n_weights() const { return 9 * n_in * n_out; }
};

/// From `in` to `out`; `is_back`: from the gradient by `out` to the one by `in`.
void convolve(const layer& of, const double* weights, bool is_back, const lanes* from, lanes* to);
/// The gradient by the weights of output planes first_out to first_out + 3, of bundles that lie one behind the other.
void convolution_gradient(const layer& of, int first_out, int n_bundles, const lanes* in, const lanes* out, double* to);
/// The largest of each 2x2, and at least 0, into planes with a ring, or without one (0).
void pool(const layer& of, lanes* out, lanes* to, int ring);
/// In place: `out` becomes the gradient by itself.
void pool_back(const layer& of, lanes* out, lanes* gradient, int ring);
/// to[o] = sum over i of weights[i * in_stride + o * out_stride] * from[i], for an even number of outputs.
void dense(int n_in, int n_out, const double* weights, int in_stride, int out_stride, const lanes* from, lanes* to);
/// to[r * n_columns + c] = sum over bundles and images of rows[r] * columns[c] for four of n_rows rows and an even number of columns.
void dense_gradient(int n_bundles, const lanes* rows, int n_rows, const lanes* columns, int n_columns, double* to);

/// Draws a bundle's images of digits, numbered in the whole set, into planes of the first layer.
void draw(int bundle, const layer& of, lanes* plane, int* digits);

} // namespace cnn
