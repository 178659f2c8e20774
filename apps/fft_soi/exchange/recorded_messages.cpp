// SPDX-License-Identifier: Apache-2.0
// Recording, in the order of messages.hpp: what is sent chunk by chunk, so that a chunk's members stand side by side.
#include "exchange/recorded_messages.hpp"

namespace tiled {

namespace {

void record(const incoming_message& one, MPI_Comm comm) {
    commtask::post_detached(
        commtask::recv(commtask::elements(one.data, one.size_bytes, MPI_BYTE), one.peer, one.tag, comm));
}
void record(const outgoing_message& one, MPI_Comm comm) {
    commtask::post_detached(
        commtask::send(commtask::elements(one.data, one.size_bytes, MPI_BYTE), one.peer, one.tag, comm));
}

} // namespace

recorded_messages::recorded_messages(work& of, MPI_Comm comm)
    : n_per_chunk_(static_cast<std::size_t>(of.sizes().n_segments * of.sizes().n_peers())) {
    if (halo_travels(of)) {
        halo_.record([&] {
            record(incoming_halo(of), comm);
            record(outgoing_halo(of), comm);
        });
    }
    std::vector<incoming_message> incoming;
    for_each_incoming(of, [&](const incoming_message& one) { incoming.push_back(one); });
    for (int segment = 0; segment < of.sizes().n_segments; ++segment) {
        segments_.emplace_back([&] {
            for (const incoming_message& one : incoming) {
                if (one.segment == segment) record(one, comm);
            }
        });
    }
    sends_.record([&] {
        for (int chunk = 0; chunk < of.sizes().n_chunks(); ++chunk) {
            for_each_outgoing(of, chunk, [&](const outgoing_message& one) { record(one, comm); });
        }
    });
    for (std::size_t member = 0; member < sends_.size(); ++member) sends_.defer(member);
}

void recorded_messages::chunk_is_made(int chunk) {
    const std::size_t first = static_cast<std::size_t>(chunk) * n_per_chunk_;
    for (std::size_t member = first; member < first + n_per_chunk_; ++member) sends_.pready(member);
}

} // namespace tiled
