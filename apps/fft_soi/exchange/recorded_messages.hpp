// SPDX-License-Identifier: Apache-2.0
// The messages of a work as plans, recorded when it runs first: the halo, what each segment receives, and all that is sent,
// each held until its chunk is made. Then an exchange costs a post for each segment and two more, whatever its messages, and a
// chunk that is made costs no post at all. What is ready leaves at once: no message overtakes another in order of urgency.
#pragma once

#include "exchange/messages.hpp"

#include <commtask/commtask.hpp>

#include <cstddef>
#include <vector>

namespace tiled {

class recorded_messages {
public:
    recorded_messages(work& of, MPI_Comm comm);

    /// The halo both ways; empty where it does not travel.
    commtask::plan& halo() { return halo_; }
    /// What a segment receives.
    commtask::plan& segment(int which) { return segments_[static_cast<std::size_t>(which)]; }
    /// All that is sent.
    commtask::plan& sends() { return sends_; }
    /// Any thread, once in every run of sends(): what the chunk sends may leave.
    void chunk_is_made(int chunk);

private:
    std::size_t n_per_chunk_;
    commtask::plan halo_;
    std::vector<commtask::plan> segments_;
    commtask::plan sends_; ///< Chunk by chunk.
};

} // namespace tiled
