// SPDX-License-Identifier: Apache-2.0
//
// When a waiting thread reads the clock, goes on, sleeps or gives up. Pure functions of times and
// of the last turn's result, so they are tested without a clock. How the thread polls and makes
// progress meanwhile is in waiting.hpp.
#pragma once

#include "base/tuning.hpp"

#include <algorithm>
#include <cstdint>

namespace commtask::detail {

/// For a thread that polls or makes progress without a pause: how long nothing may move. The clock
/// is read once in tuning::steps_in_a_row polls, so short waits do not pay for it. The time begins
/// only with the first reading.
class poll_limit {
public:
    /// The limit is over when nothing has moved for `still_ns`, or at `deadline_ns`.
    explicit poll_limit(std::uint64_t still_ns, std::uint64_t deadline_ns = UINT64_MAX) noexcept
        : still_ns_(still_ns), deadline_ns_(deadline_ns) {}

    /// Counts one more poll.
    /// @return whether to read the clock, for is_over()
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
    std::uint64_t still_since_ns_ = 0; ///< While nothing moves: the first reading that found so.
};

/// The result of one turn of a thread that waits for tasks.
struct waiting_turn {
    bool has_moved = false; ///< This thread started or ended something.
    /// MPI has something in flight, and this thread makes progress: no other thread is as quick.
    bool goes_on = false;
    /// The thread has a progress lock: if it slept, no other thread could make progress.
    bool must_make_progress = false;
};

/// For a thread that waits for tasks: after each turn of polls or progress, the thread goes on,
/// sleeps, or leaves.
class wait_limit {
public:
    enum class verdict : std::uint8_t {
        go_on, ///< Another turn.
        sleep, ///< Sleep in the waiting room for sleep_ns(), then take another turn.
        leave, ///< The time is over.
    };

    /// @param timeout_ns  negative: without limit
    /// @param spin_ns  how long the wait is young, and the thread does not sleep
    wait_limit(std::uint64_t begin_ns, std::int64_t timeout_ns, std::uint64_t spin_ns) noexcept
        : deadline_ns_(timeout_ns < 0 ? UINT64_MAX : begin_ns + static_cast<std::uint64_t>(timeout_ns)),
          spin_until_ns_(begin_ns + spin_ns), now_ns_(begin_ns) {}

    [[nodiscard]] std::uint64_t deadline_ns() const noexcept { return deadline_ns_; }

    /// Whether a thread that may make progress instead of a reserved worker does so in its next
    /// turn.
    [[nodiscard]] bool may_take_over() const noexcept { return has_moved_ || may_spin(); }

    /// After a turn that has not ended the wait.
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
    std::uint64_t now_ns_; ///< The last reading.
    bool has_moved_ = false;
};

} // namespace commtask::detail
