// SPDX-License-Identifier: Apache-2.0
// The geometry of a tiled exchange: producer chunks x consumer segments x peers. Every rank makes rows (in chunks) of
// numbers for every segment of every rank; a consumer segment gets its rows from all ranks side by side. A message
// (peer, segment, chunk) is one contiguous block on both sides, so nothing is packed or unpacked on its way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tiled {

/// Contiguous bytes of a buffer.
struct block {
    std::size_t offset_bytes;
    std::size_t size_bytes;
};

/// The same on all ranks, but for `rank`. A cell is what one row has for one segment.
struct layout {
    int n_ranks = 1;
    int rank = 0;
    int n_segments = 1;                   ///< Of one rank, as a consumer.
    std::vector<std::int64_t> chunk_rows; ///< n_chunks + 1 borders between the rows of one rank, as a producer.
    std::size_t cell_bytes = 0;           ///< Rows of a chunk have their cells of one segment side by side.

    int n_chunks() const { return static_cast<int>(chunk_rows.size()) - 1; }
    std::int64_t rows() const { return chunk_rows.back(); }
    int n_peers() const { return n_ranks - 1; }
    /// That one rank sends in blocks, and gets: one for each chunk, segment and peer.
    int n_messages() const { return n_segments * n_chunks() * n_peers(); }

    /// What rank `to` gets for its `segment` from `chunk`: in the buffer of outgoing rows; `to` is another rank.
    block outgoing(int to, int segment, int chunk) const;
    /// What rank `from` made: in the buffer of incoming rows, at [segment][from][row]; `from` may be this rank, whose
    /// rows are written there directly.
    block incoming(int from, int segment, int chunk) const;

    /// From one segment's incoming rows to the next's: whole cache lines, so that all are aligned alike.
    std::size_t segment_bytes() const;
    std::size_t outgoing_bytes() const {
        return static_cast<std::size_t>(n_peers() * n_segments * rows()) * cell_bytes;
    }
    std::size_t incoming_bytes() const { return static_cast<std::size_t>(n_segments) * segment_bytes(); }

    /// The o-th peer, o from 1: ranks begin with different ones, so that none is flooded.
    int peer_to(int o) const { return (rank + o) % n_ranks; }
    int peer_from(int o) const { return (rank - o + n_ranks) % n_ranks; }

    /// Tag of a message; the halo's is the next after all of these.
    int tag(int segment, int chunk) const { return segment * n_chunks() + chunk; }
    int halo_tag() const { return n_segments * n_chunks(); }
};

/// Messages and bytes that one rank hands to MPI.
struct traffic {
    std::int64_t messages = 0;
    std::int64_t bytes = 0;
    std::int64_t halo_bytes = 0;

    friend bool operator==(const traffic&, const traffic&) = default;
    traffic& operator+=(const traffic& other);
};

/// What the exchange has to move: n_segments * n_chunks * (n_ranks - 1) messages, all outgoing bytes.
traffic expected_traffic(const layout& of, std::size_t halo_bytes);

} // namespace tiled
