// SPDX-License-Identifier: Apache-2.0
// The messages of one run, at either end: which bytes, to or from whom, under which tag. Every schedule that sends block
// by block takes them from here, in one order, so that they differ in when they post and not in what.
#pragma once

#include "exchange/work.hpp"

#include <commtask/commtask.h>

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace tiled {

inline int left_of(const layout& sizes) { return (sizes.rank + sizes.n_ranks - 1) % sizes.n_ranks; }
inline int right_of(const layout& sizes) { return (sizes.rank + 1) % sizes.n_ranks; }

/// One message at one end.
template <class Byte>
struct message {
    Byte* data = nullptr;
    MPI_Count size_bytes = 0;
    int peer = 0;
    int tag = 0;
    int segment = -1; ///< -1: it is the halo.
    int chunk = -1;
    int nth_peer = 0; ///< From 1; see layout::peer_to() and peer_from().

    bool is_halo() const { return segment < 0; }
};
using incoming_message = message<std::byte>;
using outgoing_message = message<const std::byte>;

/// What messages are sent on: all on one communicator, or in turns on several. Both ends know a message's turn: those of one chunk,
/// which are ready at once, follow each other, in the order in which they leave.
struct message_comms {
    MPI_Comm all = MPI_COMM_NULL;
    std::vector<MPI_Comm> turns{};
    int n_peers = 1; ///< Of a rank, if there are turns.

    template <class Byte>
    [[nodiscard]] MPI_Comm of(const message<Byte>& one) const {
        if (turns.empty()) return all;
        if (one.is_halo()) return turns[0];
        const int turn = (one.segment + one.chunk) * n_peers + one.nth_peer - 1;
        return turns[static_cast<std::size_t>(turn) % turns.size()];
    }
    [[nodiscard]] commtask_op operation(const incoming_message& one) const {
        return commtask_op_recv(one.data, one.size_bytes, MPI_BYTE, one.peer, one.tag, of(one));
    }
    [[nodiscard]] commtask_op operation(const outgoing_message& one) const {
        return commtask_op_send(one.data, one.size_bytes, MPI_BYTE, one.peer, one.tag, of(one));
    }
};

/// Whether pieces wait for a message from the neighbour. With one rank a copy does.
inline bool halo_travels(work& of) { return of.sizes().n_ranks > 1 && of.neighbour().size_bytes > 0; }

/// Both ends of the halo, where it travels.
inline incoming_message incoming_halo(work& of) {
    const halo edge = of.neighbour();
    return {edge.receive, static_cast<MPI_Count>(edge.size_bytes), right_of(of.sizes()), of.sizes().halo_tag()};
}
inline outgoing_message outgoing_halo(work& of) {
    const halo edge = of.neighbour();
    return {edge.send, static_cast<MPI_Count>(edge.size_bytes), left_of(of.sizes()), of.sizes().halo_tag()};
}

/// take(incoming_message) for all that this rank gets: segment by segment, as they are consumed.
template <class Take>
void for_each_incoming(work& of, Take&& take) {
    const layout& sizes = of.sizes();
    for (int segment = 0; segment < sizes.n_segments; ++segment) {
        for (int o = 1; o < sizes.n_ranks; ++o) {
            for (int chunk = 0; chunk < sizes.n_chunks(); ++chunk) {
                const int from = sizes.peer_from(o);
                const block where = sizes.incoming(from, segment, chunk);
                take(incoming_message{of.incoming() + where.offset_bytes, static_cast<MPI_Count>(where.size_bytes),
                                      from, sizes.tag(segment, chunk), segment, chunk, o});
            }
        }
    }
}

/// take(outgoing_message) for all that leaves when the chunk is made.
template <class Take>
void for_each_outgoing(work& of, int chunk, Take&& take) {
    const layout& sizes = of.sizes();
    for (int segment = 0; segment < sizes.n_segments; ++segment) {
        for (int o = 1; o < sizes.n_ranks; ++o) {
            const int to = sizes.peer_to(o);
            const block where = sizes.outgoing(to, segment, chunk);
            take(outgoing_message{of.outgoing() + where.offset_bytes, static_cast<MPI_Count>(where.size_bytes), to,
                                  sizes.tag(segment, chunk), segment, chunk, o});
        }
    }
}

/// Counts what was handed over.
inline void count(const outgoing_message& sent, traffic& into) {
    if (sent.is_halo()) {
        into.halo_bytes += sent.size_bytes;
    } else {
        ++into.messages;
        into.bytes += sent.size_bytes;
    }
}

} // namespace tiled
