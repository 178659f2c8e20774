// SPDX-License-Identifier: Apache-2.0
//
// Whether threads of the program drive a lane beside the worker that shares their core: passes that the worker has not made tell.
// They cost less than a change of threads, so it stays out of their way, also when a pass of its own has just ended what they had
// begun: who drives now and then comes again. How long a task of theirs is unfinished tells whether it would stand still meanwhile: by
// Little's law that is how many are unfinished on average, over how many end in a time. A pure function of counts and times, so it is
// tested without threads.
#pragma once

#include "base/tuning.hpp"

#include <algorithm>
#include <cstdint>

namespace commtask::detail {

/// What a lane has done so far, by whomever.
struct lane_flow {
    std::uint64_t n_ended = 0;
    std::uint64_t n_live = 0; ///< Unfinished now.
};

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

    /// Before it sleeps or naps: what is seen after it counts.
    void begin_pause() noexcept {
        n_pauses_alone_ = was_here_ ? 0 : std::min(n_pauses_alone_ + 1, tuning::pauses_until_others_are_gone);
        was_here_ = false;
    }

    /// After a nap of `nap_ns`, before its own pass, which may end what stood still meanwhile.
    void end_nap(std::uint64_t nap_ns, const lane_flow& flow) noexcept {
        live_time_ns_ = kept * live_time_ns_ + static_cast<double>(flow.n_live) * static_cast<double>(nap_ns);
        n_ends_ = kept * n_ends_ + static_cast<double>(flow.n_ended - n_ended_before_);
        n_ended_before_ = flow.n_ended;
    }

    /// After a sleep that something has ended: its length says nothing.
    void end_sleep(std::uint64_t n_ended) noexcept { n_ended_before_ = n_ended; }

    /// Others have driven since the last turn.
    [[nodiscard]] bool is_here() const noexcept { return is_here_; }
    /// Others have driven since the last pause began.
    [[nodiscard]] bool was_here() const noexcept { return was_here_; }
    /// Or in one of the pauses before it.
    [[nodiscard]] bool was_here_lately() const noexcept {
        return was_here_ || n_pauses_alone_ < tuning::pauses_until_others_are_gone;
    }
    /// Of late a task was unfinished for so short a time on average that nobody else need look after it: half of a nap beside them, since
    /// what waits for the worker alone waits for one.
    [[nodiscard]] bool is_brisk(std::int64_t nap_ns) const noexcept {
        return live_time_ns_ < n_ends_ * static_cast<double>(tuning::naps_when_others_drive * nap_ns / 2);
    }
    /// How long the worker naps beside them, in naps of `nap_ns`, after so many of these in a row: about as long as in all before together.
    /// Who stops driving in one of them is missed until the end of the next.
    [[nodiscard]] std::int64_t naps_beside(std::int64_t nap_ns, unsigned n_before) const noexcept {
        if (!is_brisk(nap_ns)) return tuning::naps_when_others_drive;
        const std::int64_t doubled = tuning::naps_beside_brisk_others << std::min(n_before, 30U);
        return std::min(doubled, tuning::most_naps_beside_brisk_others);
    }

private:
    static constexpr double kept = 1 - 1.0 / tuning::naps_remembered;

    std::uint64_t n_known_ = 0;
    bool is_here_ = false;
    bool was_here_ = false;
    int n_pauses_alone_ = tuning::pauses_until_others_are_gone;
    std::uint64_t n_ended_before_ = 0;
    double live_time_ns_ = 0;
    double n_ends_ = 0;
};

} // namespace commtask::detail
