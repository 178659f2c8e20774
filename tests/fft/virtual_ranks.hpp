// SPDX-License-Identifier: Apache-2.0
// All ranks of a transform in one thread: each has its own work object, and the blocks are copied by hand. So the
// numerics are tested for any P without MPI, and in any order that the dependences allow.
#pragma once

#include "reference.hpp"
#include "soi_transform.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

namespace soi::test {

/// Runs one exchange of all ranks: everything produced, every block copied, everything consumed.
inline void run_together(const std::vector<tiled::work*>& ranks) {
    const auto n_ranks = static_cast<int>(ranks.size());
    for (tiled::work* rank : ranks) rank->begin();
    for (int rank = 0; rank < n_ranks; ++rank) {
        const tiled::halo to = ranks[static_cast<std::size_t>(rank)]->neighbour();
        const tiled::halo from = ranks[static_cast<std::size_t>((rank + 1) % n_ranks)]->neighbour();
        if (to.size_bytes > 0) std::memcpy(to.receive, from.send, to.size_bytes);
    }
    for (tiled::work* rank : ranks) {
        const int n_pieces = rank->sizes().n_chunks() * rank->pieces_per_chunk();
        for (int piece = n_pieces - 1; piece >= 0; --piece) rank->produce(piece, 0);
    }
    for (int from = 0; from < n_ranks; ++from) {
        for (int to = 0; to < n_ranks; ++to) {
            if (to == from) continue;
            tiled::work& source = *ranks[static_cast<std::size_t>(from)];
            tiled::work& sink = *ranks[static_cast<std::size_t>(to)];
            for (int segment = 0; segment < source.sizes().n_segments; ++segment) {
                for (int chunk = 0; chunk < source.sizes().n_chunks(); ++chunk) {
                    const tiled::block out = source.sizes().outgoing(to, segment, chunk);
                    const tiled::block in = sink.sizes().incoming(from, segment, chunk);
                    std::memcpy(sink.incoming() + in.offset_bytes, source.outgoing() + out.offset_bytes,
                                out.size_bytes);
                }
            }
        }
    }
    for (tiled::work* rank : ranks) {
        for (int segment = rank->sizes().n_segments - 1; segment >= 0; --segment) rank->consume(segment, 0);
    }
}

/// A SOI transform on n_ranks ranks that all live here; plans once, transforms as often as asked.
template <class Real>
class virtual_soi {
public:
    explicit virtual_soi(transform_options options) {
        options.effort = rigor::estimate;
        for (int rank = 0; rank < options.sizes.n_ranks; ++rank) {
            options.rank = rank;
            ranks_.push_back(std::make_unique<soi_transform<Real>>(options));
        }
    }

    /// In place if `out` is `in`.
    void transform(const std::vector<std::complex<Real>>& in, std::vector<std::complex<Real>>& out) {
        std::vector<tiled::work*> all;
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
            const auto n = static_cast<std::size_t>(ranks_[rank]->sizes_of_transform().points_per_rank());
            ranks_[rank]->bind(in.data() + rank * n, out.data() + rank * n);
            all.push_back(ranks_[rank].get());
        }
        run_together(all);
    }

    std::vector<std::complex<Real>> transform(const std::vector<std::complex<Real>>& in) {
        std::vector<std::complex<Real>> out(in.size());
        transform(in, out);
        return out;
    }

    const shape& sizes() const { return ranks_[0]->sizes_of_transform(); }

private:
    std::vector<std::unique_ptr<soi_transform<Real>>> ranks_;
};

template <class Real>
std::vector<std::complex<Real>> random_input(index_type n_points, std::uint64_t seed = 0) {
    std::vector<std::complex<Real>> x(static_cast<std::size_t>(n_points));
    for (index_type j = 0; j < n_points; ++j) {
        x[static_cast<std::size_t>(j)] = std::complex<Real>(random_point(j, seed));
    }
    return x;
}

template <class Real>
std::vector<complex_l> widened(const std::vector<std::complex<Real>>& x) {
    return {x.begin(), x.end()};
}

struct errors {
    double l2;  ///< ||a - b|| / ||b||
    double max; ///< Largest |a - b| over the root mean square of b.
};

template <class Real>
errors compare(const std::vector<std::complex<Real>>& found, const std::vector<complex_l>& right) {
    long double difference = 0;
    long double norm = 0;
    long double largest = 0;
    for (std::size_t k = 0; k < right.size(); ++k) {
        const long double d = std::norm(complex_l(found[k]) - right[k]);
        difference += d;
        norm += std::norm(right[k]);
        largest = std::max(largest, d);
    }
    return {static_cast<double>(std::sqrt(difference / norm)),
            static_cast<double>(std::sqrt(largest / (norm / static_cast<long double>(right.size()))))};
}

} // namespace soi::test
