// SPDX-License-Identifier: Apache-2.0
//
// What a communicator's info says that concerns lanes: the library's own key, and what the program promises of its messages by
// the keys of the standard.
#pragma once

#include "core/comm_striping.hpp"

#include <mpi.h>

#include <string_view>

namespace commtask::detail {

struct comm_hints {
    /// Beside the numbers of lanes.
    static constexpr int any_lane = -1;
    static constexpr int no_lane = -2;   ///< Something is asked for that there is not.
    static constexpr int by_thread = -3; ///< Several, each for some threads.

    int lane = any_lane;
    message_promises promises;
};

/// @param value  of COMMTASK_LANE_KEY
[[nodiscard]] int lane_of_text(std::string_view value) noexcept;

/// A driver.
[[nodiscard]] comm_hints hints_of(MPI_Comm comm) noexcept;

/// A driver. The lane of a communicator as its info asks for it. Messages that may overtake each other go by threads, unless
/// the other promises allow to go by ranks and tags, which keeps their order: that is left to commtask_comm_stripe.
[[nodiscard]] int lane_asked_for(MPI_Comm comm) noexcept;

} // namespace commtask::detail
