// SPDX-License-Identifier: Apache-2.0
// The messages of a work as plans, recorded when it runs first: what each segment receives, and all that is sent,
// each held until its chunk is made. Then an exchange costs a post for each segment and two more, whatever its messages, and a
// chunk that is made costs no post at all. What is ready leaves at once: no message overtakes another in order of urgency.
#pragma once

#include "common/runtime_session.hpp"
#include "exchange/messages.hpp"

#include <commtask/commtask.hpp>

#include <cstddef>
#include <vector>

namespace tiled {

class recorded_messages {
public:
    recorded_messages(work& of, const message_comms& comms)
        : n_per_chunk_(static_cast<std::size_t>(of.sizes().n_segments * of.sizes().n_peers())) {
        const auto post = [&comms](const auto& one) {
            const commtask_op operation = comms.operation(one);
            miniapp::require(commtask_post_operation(&operation, nullptr, nullptr), "commtask_post");
        };
        for (int segment = 0; segment < of.sizes().n_segments; ++segment) {
            segments_.emplace_back([&] {
                for_each_incoming(of, [&](const incoming_message& one) {
                    if (one.segment == segment) post(one);
                });
            });
        }
        sends_.record([&] {
            for (int chunk = 0; chunk < of.sizes().n_chunks(); ++chunk) for_each_outgoing(of, chunk, post);
        });
        for (std::size_t member = 0; member < sends_.size(); ++member) sends_.defer(member);
    }

    /// What a segment receives.
    commtask::plan& segment(int which) { return segments_[static_cast<std::size_t>(which)]; }
    /// All that is sent.
    commtask::plan& sends() { return sends_; }
    /// Any thread, once in every run of sends(): what the chunk sends may leave.
    void chunk_is_made(int chunk) {
        const std::size_t first = static_cast<std::size_t>(chunk) * n_per_chunk_;
        for (std::size_t member = first; member < first + n_per_chunk_; ++member) sends_.pready(member);
    }

private:
    std::size_t n_per_chunk_;
    std::vector<commtask::plan> segments_;
    commtask::plan sends_; ///< Chunk by chunk.
};

} // namespace tiled
