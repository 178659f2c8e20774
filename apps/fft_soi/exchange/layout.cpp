// SPDX-License-Identifier: Apache-2.0
// Offsets. Rows of one chunk and segment are contiguous on both sides because chunks are ranges of rows and the
// segment is the outer index on both sides.
#include "exchange/layout.hpp"

namespace tiled {

block layout::outgoing(int to, int segment, int chunk) const {
    const int peer = to < rank ? to : to - 1;
    const auto c = static_cast<std::size_t>(chunk);
    const std::int64_t row = (static_cast<std::int64_t>(peer) * n_segments + segment) * rows() + chunk_rows[c];
    return {static_cast<std::size_t>(row) * cell_bytes,
            static_cast<std::size_t>(chunk_rows[c + 1] - chunk_rows[c]) * cell_bytes};
}

block layout::incoming(int from, int segment, int chunk) const {
    const auto c = static_cast<std::size_t>(chunk);
    const std::int64_t row = from * rows() + chunk_rows[c];
    return {static_cast<std::size_t>(segment) * segment_bytes() + static_cast<std::size_t>(row) * cell_bytes,
            static_cast<std::size_t>(chunk_rows[c + 1] - chunk_rows[c]) * cell_bytes};
}

std::size_t layout::segment_bytes() const {
    constexpr std::size_t line_bytes = 64;
    return (static_cast<std::size_t>(n_ranks * rows()) * cell_bytes + line_bytes - 1) / line_bytes * line_bytes;
}

traffic& traffic::operator+=(const traffic& other) {
    messages += other.messages;
    bytes += other.bytes;
    halo_bytes += other.halo_bytes;
    return *this;
}

traffic expected_traffic(const layout& of, std::size_t halo_bytes) {
    return {static_cast<std::int64_t>(of.n_segments) * of.n_chunks() * of.n_peers(),
            static_cast<std::int64_t>(of.outgoing_bytes()), of.n_ranks > 1 ? static_cast<std::int64_t>(halo_bytes) : 0};
}

} // namespace tiled
