// SPDX-License-Identifier: Apache-2.0
//
// The offset of this rank's clock from rank 0's. Each rank asks rank 0 for its time a few times,
// and uses the reply with the shortest round trip. Rank 0 read its clock within that round trip, so
// the error is at most half of it (Cristian, "Probabilistic clock synchronization", 1989). Two
// comparisons give the drift.
#pragma once

#include "core/tracer.hpp"

#include <mpi.h>

#include <cstdint>
#include <optional>

namespace commtask::detail {

struct clock_comparison {
    std::uint64_t at_ns = 0;    ///< On this rank's clock.
    std::int64_t offset_ns = 0; ///< Added to this rank's clock, gives rank 0's.
    std::uint64_t error_ns = 0; ///< The maximum error of the offset.
};

/// Called by all ranks of `comm`, a communicator of the library's own. Takes some microseconds per
/// rank on rank 0.
/// @return nothing if MPI returns an error
[[nodiscard]] std::optional<clock_comparison> collective_compare_clocks(MPI_Comm comm);

/// Like compare_clocks(), without collective calls: each rank may call at any time, or never. Once
/// per session and rank.
/// @param session  the same number on every rank
/// @param patience_ns  how long a rank waits for rank 0, and rank 0 for the next message of any
/// rank
[[nodiscard]] std::optional<clock_comparison> compare_clocks_at_end(MPI_Comm comm, int session,
                                                                    std::uint64_t patience_ns);

/// Writes the comparison to the trace.
void record_clock(tracer& records, const clock_comparison& found, bool is_at_end) noexcept;

} // namespace commtask::detail
