// SPDX-License-Identifier: Apache-2.0
//
// Decides when a waiting thread reads the clock, continues, sleeps or stops waiting. Pure functions
// of times and of the last turn's result, so tests need no clock. waiting.hpp does the polls and
// progress calls in between.
#pragma once

#include "base/tuning.hpp"

#include <algorithm>
#include <cstdint>

namespace commtask::detail {

/// The limit of a thread that polls without a pause. The clock is read once in
/// tuning::steps_in_a_row polls, so that short waits do not pay for it. The time begins with the
/// first reading.
class poll_limit {
public:
    /// Ends when nothing has moved for `still_ns`, or at `deadline_ns`.
    explicit poll_limit(std::uint64_t still_ns, std::uint64_t deadline_ns = UINT64_MAX) noexcept
        : still_ns_(still_ns), deadline_ns_(deadline_ns) {}

    /// Counts a poll.
    /// @return whether to read the clock and call is_over()
    [[nodiscard]] bool wants_clock() noexcept { return ++n_polls_ % tuning::steps_in_a_row == 0; }

    void moved() noexcept { is_still_ = false; }

    [[nodiscard]] bool is_over(std::uint64_t now_ns) noexcept {
        if (!is_still_) still_since_ns_ = now_ns;
        is_still_ = true;
        return now_ns - still_since_ns_ >= still_ns_ || now_ns >= deadline_ns_;
    }

private:
    const std::uint64_t still_ns_;
    const std::uint64_t deadline_ns_;
    unsigned n_polls_ = 0;
    bool is_still_ = false;
    std::uint64_t still_since_ns_ = 0; ///< While nothing moves: the first reading of the clock.
};

/// The result of one turn of a thread that waits for tasks.
struct waiting_turn {
    bool has_moved = false; ///< This thread has started or completed a task.
    /// Something is in flight, and this thread makes progress for it.
    bool goes_on = false;
    /// The thread has a progress lock, so no other thread can make progress while it sleeps.
    bool must_make_progress = false;
};

/// For a thread that waits for tasks: decides after each turn whether the thread continues, sleeps,
/// or stops waiting.
class wait_limit {
public:
    enum class verdict : std::uint8_t {
        go_on, ///< Take another turn.
        sleep, ///< Sleep in the wait queue for sleep_ns(), then take another turn.
        leave, ///< Stop waiting: the timeout has passed.
    };

    /// @param timeout_ns  negative: without limit
    /// @param spin_ns  how long the thread spins before it may sleep
    wait_limit(std::uint64_t begin_ns, std::int64_t timeout_ns, std::uint64_t spin_ns) noexcept
        : deadline_ns_(timeout_ns < 0 ? UINT64_MAX : begin_ns + static_cast<std::uint64_t>(timeout_ns)),
          spin_until_ns_(begin_ns + spin_ns), now_ns_(begin_ns) {}

    [[nodiscard]] std::uint64_t deadline_ns() const noexcept { return deadline_ns_; }

    /// Whether a thread with waiting_policy::takes_over makes progress in its next turn.
    [[nodiscard]] bool may_take_over() const noexcept { return has_moved_ || may_spin(); }

    /// Called after each turn in which the wait has not ended.
    [[nodiscard]] verdict after(std::uint64_t now_ns, const waiting_turn& turn) noexcept {
        now_ns_ = now_ns;
        has_moved_ = turn.has_moved;
        if (now_ns >= deadline_ns_) return verdict::leave;
        return turn.must_make_progress || turn.goes_on || has_moved_ || may_spin() ? verdict::go_on : verdict::sleep;
    }

    /// After `verdict::sleep`.
    [[nodiscard]] std::int64_t sleep_ns() const noexcept {
        return static_cast<std::int64_t>(std::min(tuning::longest_unwoken_wait_ns, deadline_ns_ - now_ns_));
    }

private:
    [[nodiscard]] bool may_spin() const noexcept { return now_ns_ < spin_until_ns_; }

    const std::uint64_t deadline_ns_;
    const std::uint64_t spin_until_ns_;
    std::uint64_t now_ns_; ///< The last reading of the clock.
    bool has_moved_ = false;
};

} // namespace commtask::detail
