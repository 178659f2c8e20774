// SPDX-License-Identifier: Apache-2.0
// One rank's part of a network, and the pieces of a training step, which know nothing of MPI. Convolutions are data parallel: every
// rank has all weights and its own images. Dense layers are model parallel: every rank has its own hidden units and sees all images.
// A rank updates a part of the weights of each convolution, from the gradients of all ranks. Numbers that travel are counted bit by
// bit where they are made and where they are used first.
#pragma once

#include "common/report.hpp"
#include "kernels.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

namespace cnn {

inline constexpr int n_batches = 4;                                   ///< Of images, which come again and again.
inline constexpr int hidden_units = n_layers, classes = n_layers + 1; ///< Tensors of weights, behind the convolutions'.
inline constexpr int n_tensors = n_layers + 2;
inline constexpr int together = 4;      ///< Outputs or rows of a gradient that a kernel does at once.
inline constexpr int rows_of_item = 64; ///< Of a dense layer's gradient.

struct problem {
    std::array<int, n_layers> channels{16, 32, 64}; ///< Output planes of the convolutions.
    int hidden = 0;                                 ///< Units between features and classes.
    int batch = 0;                                  ///< Images of a step, of all ranks.
    int n_chunks = 4;                               ///< Of a rank's images: the activations of each are a message.
    int n_steps = 20;
    layer convolution(int l) const { return {image_side >> l, l == 0 ? 1 : channels[l - 1], channels[l]}; }
    int n_features() const { return channels.back() * (image_side >> n_layers) * (image_side >> n_layers); }
    int n_in(int t) const { return t < n_layers ? 9 * convolution(t).n_in : t == classes ? hidden : n_features(); }
    long n_weights(int t) const {
        return static_cast<long>(n_in(t)) * (t < n_layers ? channels[t] : t == classes ? n_classes : hidden);
    }
};

struct range {
    long first, last;
    long count() const { return last - first; }
};
inline range share(long n, int n_parts, int k) { return {n * k / n_parts, n * (k + 1) / n_parts}; }

enum : int { sent, received };

struct network {
    problem whole;
    int n_ranks, rank;
    int n_bundles = whole.batch / n_lanes / n_ranks, n_chunks = std::min(whole.n_chunks, n_bundles); ///< Of this rank.
    int n_features = whole.n_features(), n_hidden = whole.hidden / n_ranks;
    std::array<layer, n_layers> layers{};
    std::array<std::vector<double>, n_tensors> weights, velocity;
    std::array<std::vector<double>, n_layers> gradient; ///< Of this rank's images.
    std::array<std::vector<double>, n_layers>
        arrived; ///< Of each rank's images, of the weights that this rank updates.
    std::array<std::vector<lanes>, n_layers> in, out;
    std::vector<lanes> features, hidden, d_hidden, d_logits; ///< Of all ranks' images.
    std::array<std::vector<lanes>, 2> logits, d_features;    ///< By one rank's hidden units: to send, and received.
    std::vector<int> digits, step;                           ///< Of images; of bundles.
    std::vector<double> losses;
    std::atomic<std::uint64_t> left{0}; ///< Of messages: sent and not received. Of all ranks 0 unless one was changed.

    network(const problem& of, int of_ranks, int own_rank) : whole(of), n_ranks(of_ranks), rank(own_rank) {
        for (int l = 0; l < n_layers; ++l) {
            const layer& one = layers[l] = whole.convolution(l);
            gradient[l].resize(whole.n_weights(l));
            arrived[l].resize(n_ranks * part_of(l, rank).count());
            in[l].resize(at(0, l == 0 ? n_batches * n_bundles : n_bundles, one.n_in * one.plane()));
            out[l].resize(at(0, n_bundles, one.n_out * one.plane()));
        }
        for (int t = 0; t < n_tensors; ++t) weights[t].resize(whole.n_weights(t) / (t < n_layers ? 1 : n_ranks));
        for (auto* each : {&features, &d_features[sent], &d_features[received]})
            each->resize(at(n_ranks, 0, n_features));
        for (auto* each : {&logits[sent], &logits[received], &d_logits}) each->resize(at(n_ranks, 0, n_classes));
        for (auto* each : {&hidden, &d_hidden}) each->resize(at(n_ranks, 0, n_hidden));
        losses.resize(at(whole.n_steps, 0, 1));
        digits.resize(at(n_batches, 0, n_lanes));
        for (int k = 0; k < n_batches * n_bundles; ++k) {
            const int number = (k / n_bundles * n_ranks + rank) * n_bundles + k % n_bundles;
            draw(number, layers[0], &in[0][at(0, k, layers[0].plane())], &digits[at(0, k, n_lanes)]);
        }
        reset();
    }

    range part_of(int l, int q) const { return share(whole.n_weights(l), n_ranks, q); }
    range chunk(int k) const { return share(n_bundles, n_chunks, k); }
    /// In an array with n numbers of each bundle of each rank.
    std::size_t at(int q, long i, int n) const { return (static_cast<std::size_t>(q) * n_bundles + i) * n; }
    lanes* in_of(int l, int i) {
        return &in[l][at(l == 0 ? step[i] % n_batches : 0, i, layers[l].n_in * layers[l].plane())];
    }
    lanes* out_of(int l, int i) { return &out[l][at(0, i, layers[l].n_out * layers[l].plane())]; }

    /// To the first weights, which depend on their places in the whole network alone.
    void reset() {
        for (int t = 0; t < n_tensors; ++t) {
            for (long k = 0; k < static_cast<long>(weights[t].size()); ++k) {
                const std::uint64_t random =
                    miniapp::splitmix64((static_cast<std::uint64_t>(t) << 40) + whole_number(t, k));
                weights[t][k] = (static_cast<double>(random >> 11) * 0x1p-52 - 1) *
                                std::sqrt((t == classes ? 0.5 : 6.0) / whole.n_in(t));
            }
            velocity[t].assign(weights[t].size(), 0);
        }
        step.assign(n_bundles, -1);
        left = 0;
    }

    /// Where a weight of this rank's lies in the whole tensor.
    long whole_number(int t, long k) const {
        if (t == hidden_units) return k / n_hidden * whole.hidden + rank * n_hidden + k % n_hidden;
        return k + (t == classes ? rank * n_hidden * n_classes : 0);
    }
    bool is_updated_here(int t, long k) const {
        return t >= n_layers || (k >= part_of(t, rank).first && k < part_of(t, rank).last);
    }
    /// After one step: a number of the gradient; 0 if another rank updates that weight.
    double first_gradient(int t, long number) const {
        for (long k = 0; k < static_cast<long>(weights[t].size()); ++k)
            if (whole_number(t, k) == number && is_updated_here(t, k)) return velocity[t][k];
        return 0;
    }
    /// The sum over this rank's images.
    double loss_of(int in_step) const {
        double sum = 0;
        for (int i = 0; i < n_bundles; ++i) sum += losses[at(in_step, i, 1)];
        return sum;
    }
    /// Of a rank alone: the loss of the first batch with `change` added to a weight.
    double loss_with(int t, long number, double change) {
        const double before = std::exchange(weights[t][number], weights[t][number] + change);
        step.assign(n_bundles, -1);
        for (int i = 0; i < n_layers * n_bundles; ++i) forward(i / n_bundles, i % n_bundles);
        for (int k = 0; k < 2 * n_chunks; ++k) k < n_chunks ? dense_forward(0, k) : softmax(k - n_chunks);
        weights[t][number] = before;
        return loss_of(0);
    }
    /// Of this rank's losses and the weights that it updates.
    std::uint64_t fingerprint() const {
        std::uint64_t bits = 0, place = static_cast<std::uint64_t>(rank) << 40;
        for (const double each : losses) bits += miniapp::print_of(each, place++);
        for (int t = 0; t < n_tensors; ++t)
            for (std::size_t k = 0; k < weights[t].size(); ++k, ++place)
                if (is_updated_here(t, static_cast<long>(k))) bits += miniapp::print_of(weights[t][k], place);
        return bits;
    }

    void count(const double* first, long n, int times) {
        std::uint64_t bits = 0;
        for (long k = 0; k < n; ++k) bits += std::bit_cast<std::uint64_t>(first[k]);
        // relaxed: it is read when the step has ended.
        left.fetch_add(bits * static_cast<std::uint64_t>(times), std::memory_order_relaxed);
    }
    void count(const lanes* first, long n, int times) {
        count(reinterpret_cast<const double*>(first), n * n_lanes, times);
    }

    void forward(int l, int i) {
        if (l == 0) ++step[i];
        convolve(layers[l], weights[l].data(), false, in_of(l, i), out_of(l, i));
        if (l + 1 < n_layers) return pool(layers[l], out_of(l, i), in_of(l + 1, i), 1);
        pool(layers[l], out_of(l, i), &features[at(rank, i, n_features)], 0);
        count(&features[at(rank, i, n_features)], n_features, n_ranks - 1);
    }

    void dense_forward(int q, int k) {
        for (long i = chunk(k).first; i < chunk(k).last; ++i) {
            const lanes* const x = &features[at(q, i, n_features)];
            lanes* const h = &hidden[at(q, i, n_hidden)];
            lanes* const to = &logits[q == rank ? received : sent][at(q, i, n_classes)];
            dense(n_features, n_hidden, weights[hidden_units].data(), n_hidden, 1, x, h);
            for (int d = 0; d < n_hidden; ++d) h[d].of = h[d].of > 0.0 ? h[d].of : lanes::vector{};
            dense(n_hidden, n_classes, weights[classes].data(), n_classes, 1, h, to);
            if (q == rank) continue;
            count(x, n_features, -1);
            count(to, n_classes, 1);
        }
    }

    /// The loss, and its gradient by the logits.
    void softmax(int k) {
        for (long i = chunk(k).first; i < chunk(k).last; ++i) {
            lanes* const to = &d_logits[at(rank, i, n_classes)];
            for (int q = 0; q < n_ranks; ++q) {
                const lanes* const from = &logits[received][at(q, i, n_classes)];
                for (int c = 0; c < n_classes; ++c) to[c].of = q == 0 ? from[c].of : to[c].of + from[c].of;
                if (q != rank) count(from, n_classes, -1);
            }
            double& loss = losses[at(step[i], i, 1)] = 0;
            for (int lane = 0; lane < n_lanes; ++lane) {
                const int digit = digits[at(step[i] % n_batches, i, n_lanes) + lane];
                double highest = to[0].of[lane], sum = 0;
                for (int c = 1; c < n_classes; ++c) highest = std::max(highest, to[c].of[lane]);
                for (int c = 0; c < n_classes; ++c) sum += std::exp(to[c].of[lane] - highest);
                loss += (std::log(sum) + highest - to[digit].of[lane]) / whole.batch;
                for (int c = 0; c < n_classes; ++c)
                    to[c].of[lane] = (std::exp(to[c].of[lane] - highest) / sum - (c == digit ? 1 : 0)) / whole.batch;
            }
            count(to, n_classes, n_ranks - 1);
        }
    }

    void dense_back(int q, int k) {
        for (long i = chunk(k).first; i < chunk(k).last; ++i) {
            const lanes *const d = &d_logits[at(q, i, n_classes)], *const h = &hidden[at(q, i, n_hidden)];
            lanes* const dh = &d_hidden[at(q, i, n_hidden)];
            lanes* const to = &d_features[q == rank ? received : sent][at(q, i, n_features)];
            dense(n_classes, n_hidden, weights[classes].data(), 1, n_classes, d, dh);
            for (int u = 0; u < n_hidden; ++u) dh[u].of = h[u].of > 0.0 ? dh[u].of : lanes::vector{};
            dense(n_hidden, n_features, weights[hidden_units].data(), 1, n_hidden, dh, to);
            if (q == rank) continue;
            count(d, n_classes, -1);
            count(to, n_features, 1);
        }
    }

    void features_back(int i) {
        lanes* const sum = &d_features[received][at(0, i, n_features)];
        for (int q = 0; q < n_ranks; ++q) {
            const lanes* const from = &d_features[received][at(q, i, n_features)];
            if (q != rank) count(from, n_features, -1);
            for (int f = 0; f < n_features && q > 0; ++f) sum[f].of += from[f].of;
        }
        pool_back(layers.back(), out_of(n_layers - 1, i), sum, 0);
    }

    /// Through a convolution, and the pooling and ReLU before it.
    void convolution_back(int l, int i) {
        std::vector<lanes> to(at(0, 1, layers[l].n_in * layers[l].plane()));
        convolve(layers[l], weights[l].data(), true, out_of(l, i), to.data());
        pool_back(layers[l - 1], out_of(l - 1, i), to.data(), 1);
    }

    void differentiate(int l, int first_out) {
        convolution_gradient(layers[l], first_out, n_bundles, in_of(l, 0), out_of(l, 0), gradient[l].data());
        for (long k = 0; k < whole.n_weights(l); ++k)
            if (k % layers[l].n_out / together == first_out / together && !is_updated_here(l, k))
                count(&gradient[l][k], 1, 1);
    }

    void learn(int t, long k, double by) {
        constexpr double rate = 0.03, momentum = 0.9;
        velocity[t][k] = momentum * velocity[t][k] + by;
        weights[t][k] -= rate * velocity[t][k];
    }

    void update_convolution(int l) {
        const range own = part_of(l, rank);
        double* const sum = arrived[l].data(); // where those of rank 0 come, whose are the first
        for (int q = 0; q < n_ranks; ++q) {
            const double* const from = q == rank ? &gradient[l][own.first] : sum + q * own.count();
            if (q != rank) count(from, own.count(), -1);
            for (long k = 0; k < own.count(); ++k) sum[k] = q == 0 ? from[k] : sum[k] + from[k];
        }
        for (long k = 0; k < own.count(); ++k) learn(l, own.first + k, sum[k]);
        count(&weights[l][own.first], own.count(), n_ranks - 1);
    }

    void count_weights(int l) {
        for (int q = 0; q < n_ranks; ++q)
            if (q != rank) count(&weights[l][part_of(l, q).first], part_of(l, q).count(), -1);
    }

    void update_dense(int t, int first_row) {
        const lanes* const rows = t == classes ? hidden.data() : features.data();
        const lanes* const columns = t == classes ? d_logits.data() : d_hidden.data();
        const int n_rows = t == classes ? n_hidden : n_features, n_columns = t == classes ? n_classes : n_hidden;
        std::vector<double> to(static_cast<std::size_t>(together) * n_columns);
        for (int row = first_row; row < std::min(first_row + rows_of_item, n_rows); row += together) {
            dense_gradient(n_bundles * n_ranks, rows + row, n_rows, columns, n_columns, to.data());
            for (int k = 0; k < together * n_columns; ++k) learn(t, static_cast<long>(row) * n_columns + k, to[k]);
        }
    }
};

} // namespace cnn
