// SPDX-License-Identifier: Apache-2.0
//
// The parts of a communicator's info that concern lanes: the library's own key, and the standard's
// assertion keys.
#pragma once

#include "core/comm_striping.hpp"

#include <mpi.h>

#include <string_view>

namespace commtask::detail {

struct comm_hints {
    /// Values of `lane` that are not the number of a lane.
    static constexpr int any_lane = -1;
    /// The info names a lane that does not exist.
    static constexpr int no_lane = -2;
    static constexpr int by_thread = -3; ///< Several lanes, each for some threads.

    int lane = any_lane;
    message_promises promises;
};

/// @param value  of COMMTASK_LANE_KEY
[[nodiscard]] int lane_of_text(std::string_view value) noexcept;

/// With a progress lock.
[[nodiscard]] comm_hints hints_of(MPI_Comm comm) noexcept;

/// With a progress lock. The lane that a communicator's info selects. Messages that may overtake
/// each other go to lanes by thread. If the other assertions allow lanes by rank and tag, which
/// keep the order of messages, commtask_comm_stripe decides.
[[nodiscard]] int lane_asked_for(MPI_Comm comm) noexcept;

} // namespace commtask::detail
