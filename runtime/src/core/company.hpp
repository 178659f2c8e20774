// SPDX-License-Identifier: Apache-2.0
//
// Whether threads of the program drive a lane beside the worker that shares their core: passes that the worker has not made tell.
// They cost less than a change of threads, so it stays out of their way, also when a pass of its own has just ended what they had
// begun: who drives now and then comes again. How many tasks ended meanwhile tells whether what they begin is in flight for long.
// A pure function of counts, so it is tested without threads.
#pragma once

#include "base/tuning.hpp"

#include <cstdint>

namespace commtask::detail {

class company {
public:
    /// Before a turn of the worker's. @param n_passes  of the lane, by whomever
    void look(std::uint64_t n_passes) noexcept {
        is_here_ = n_passes != n_known_;
        was_here_ = was_here_ || is_here_;
    }

    /// After the worker's own passes, which are among these.
    void know(std::uint64_t n_passes) noexcept { n_known_ = n_passes; }
    /// After so many of its own, beside which others may have made some.
    void know_of_more(std::uint64_t n_passes) noexcept { n_known_ += n_passes; }

    /// Before it sleeps or naps: what is seen after it counts. @param n_ended  tasks of the lane, by whomever
    void begin_pause(std::uint64_t n_ended) noexcept {
        was_here_ = false;
        is_brisk_ = n_ended - n_ended_before_ >= tuning::ends_of_brisk_others;
        n_ended_before_ = n_ended;
    }

    /// Others have driven since the last turn.
    [[nodiscard]] bool is_here() const noexcept { return is_here_; }
    /// Others have driven since the last pause began.
    [[nodiscard]] bool was_here() const noexcept { return was_here_; }
    /// In the pause before the one that begins many tasks ended: what they begin needs nobody else.
    [[nodiscard]] bool is_brisk() const noexcept { return is_brisk_; }

private:
    std::uint64_t n_known_ = 0;
    bool is_here_ = false;
    bool was_here_ = false;
    bool is_brisk_ = false;
    std::uint64_t n_ended_before_ = 0;
};

} // namespace commtask::detail
