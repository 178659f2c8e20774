// SPDX-License-Identifier: Apache-2.0
//
// What a worker that shares its core does after a turn that moved nothing and gave it no reason to stay awake. It leaves the core to
// threads of the program that drive, for long, and sleeps if nothing is in flight; but with a window it does neither, since what
// other processes want of that moves no pass, and need not ring. A pure function of what it knows, so it is tested without threads.
#pragma once

#include "base/tuning.hpp"

#include <cstdint>

namespace commtask::detail {

enum class next_pause : std::uint8_t {
    yield,          ///< A turn of whoever wants the core.
    nap,            ///< At most COMMTASK_NAP_MAX_US, but where neighbours ring for all that is in flight.
    beside_drivers, ///< Several times that: threads of the program drive.
    sleep,          ///< Until somebody rings.
};

struct idle_turn {
    bool has_work = false;            ///< Something is in flight, or to be attended.
    bool attends_windows = false;     ///< Then it has work, too.
    bool others_drive = false;        ///< Since the last turn.
    bool others_drove = false;        ///< Since the last pause.
    bool others_drove_lately = false; ///< Some pauses ago.
    bool core_is_idle = false;        ///< A deep sleeper is woken there at nobody's expense.
    int n_yields = 0;                 ///< In turns of this kind before, without a find between.
};

[[nodiscard]] constexpr next_pause pause_after(const idle_turn& turn) noexcept {
    // With nothing in flight longer, since to wake a deep sleeper costs the next post more than some naps cost here.
    const bool may_come_again = turn.others_drove || (!turn.has_work && turn.others_drove_lately);
    const bool is_beside_others = turn.others_drive || (may_come_again && !turn.core_is_idle);
    if (is_beside_others && !turn.attends_windows) return next_pause::beside_drivers;
    if (!turn.has_work) return next_pause::sleep;
    return turn.n_yields < tuning::yields_before_naps ? next_pause::yield : next_pause::nap;
}

} // namespace commtask::detail
