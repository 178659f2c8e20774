// SPDX-License-Identifier: Apache-2.0
//
// How far this rank's clock is from rank 0's. Each rank asks rank 0 for its time a few times; of the answers the quickest
// counts, since the time was taken between asking and being answered (Cristian, "Probabilistic clock synchronization", 1989).
// Half of what that took is the error at most. Two comparisons give the drift.
#pragma once

#include "core/tracer.hpp"

#include <mpi.h>

#include <cstdint>
#include <optional>

namespace commtask::detail {

struct clock_comparison {
    std::uint64_t at_ns = 0;    ///< On this rank's clock.
    std::int64_t offset_ns = 0; ///< To be added to it.
    std::uint64_t error_ns = 0; ///< At most.
};

/// All ranks of `comm`, a communicator of the library's own. Takes rank 0 some microseconds per rank.
/// @return nothing if MPI refuses
[[nodiscard]] std::optional<clock_comparison> collective_compare_clocks(MPI_Comm comm);

/// The same where ranks come when they like, or never: not collective. Once per session and rank.
/// @param session  the same number at every rank
/// @param patience_ns  how long a rank waits for rank 0, and rank 0 without hearing from anybody
[[nodiscard]] std::optional<clock_comparison> compare_clocks_at_end(MPI_Comm comm, int session,
                                                                    std::uint64_t patience_ns);

/// Into the trace.
void record_clock(tracer& records, const clock_comparison& found, bool is_at_end) noexcept;

} // namespace commtask::detail
