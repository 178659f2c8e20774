// SPDX-License-Identifier: Apache-2.0
//
// Decides when a shared worker polls, yields and waits (drawn in docs/architecture.md). A pure
// function of times and of the last turn's result, so its test is a table. A reserved worker does
// not use it.
#pragma once

#include "base/tuning.hpp"

#include <algorithm>
#include <cstdint>

namespace commtask::detail {

/// The result of one turn of the worker.
struct worker_turn {
    std::uint64_t now_ns = 0;
    /// The poll started or completed a task, or the worker was woken.
    bool moved = false;
    /// The worker did not poll, since another thread has made progress since the last turn.
    bool others_progress = false;
    /// The worker did not poll, since another thread has the progress lock.
    bool lock_is_taken = false;
    /// Something is in flight, or other processes may need progress of this process.
    bool has_work = false;
    /// Other processes may access a window of this process. Polls do not report such accesses.
    bool has_window = false;
    bool is_rung = false; ///< Other ranks' doorbells announce every operation in flight.
};

/// The worker's next step.
struct worker_pause {
    enum class kind : std::uint8_t {
        poll,  ///< Poll again at once.
        yield, ///< Yield the core, then poll.
        wait,  ///< Wait at most `ns`.
        arm,   ///< Wait at most `ns`, with the doorbell armed.
        block, ///< Wait until a thread or another rank wakes the worker.
    };
    kind what = kind::poll;
    std::int64_t ns = 0;
};

class idle_strategy {
public:
    /// @param spin_ns  how long the worker stays active with nothing in flight: COMMTASK_SPIN_US
    /// @param longest_ns  the longest wait with something in flight that no doorbell announces:
    /// COMMTASK_WAIT_MAX_US
    idle_strategy(std::uint64_t spin_ns, std::int64_t longest_ns) noexcept
        : spin_ns_(spin_ns), longest_ns_(longest_ns) {}

    [[nodiscard]] worker_pause after(const worker_turn& turn) noexcept {
        if (turn.others_progress || turn.lock_is_taken || turn.moved || turn.has_work) n_idle_waits_ = 0;
        if (turn.lock_is_taken) return {worker_pause::kind::wait, longest_ns_};
        if (turn.others_progress) return {worker_pause::kind::wait, tuning::waits_while_others_progress * longest_ns_};
        if (turn.moved) {
            moved_ns_ = turn.now_ns;
            next_wait_ns_ = tuning::first_wait_ns;
            return {};
        }
        if (is_active(turn)) return {worker_pause::kind::yield};
        if (turn.has_work) return next_wait(turn.is_rung);
        if (n_idle_waits_ == tuning::idle_waits_before_block) return {worker_pause::kind::block};
        ++n_idle_waits_;
        return {worker_pause::kind::wait, longest_ns_};
    }

    /// Reports a yield. If it took long, another thread computes on this core.
    void yielded(std::uint64_t begin_ns, std::uint64_t end_ns) noexcept {
        if (end_ns - begin_ns > tuning::long_yield_ns) busy_until_ns_ = end_ns + tuning::busy_core_ns;
    }

private:
    [[nodiscard]] bool is_active(const worker_turn& turn) const noexcept {
        if (turn.now_ns < busy_until_ns_) return false;
        return turn.has_window || turn.now_ns - moved_ns_ < (turn.has_work ? tuning::active_ns : spin_ns_);
    }
    [[nodiscard]] worker_pause next_wait(bool is_rung) noexcept {
        const std::int64_t most_ns = is_rung ? std::max(longest_ns_, tuning::longest_rung_wait_ns) : longest_ns_;
        const std::int64_t ns = std::min(next_wait_ns_, most_ns);
        next_wait_ns_ = std::min(2 * ns, most_ns);
        // A short wait ends before a doorbell would ring, so it is not armed.
        const bool is_armed = is_rung && ns >= std::min(longest_ns_, tuning::longest_rung_wait_ns);
        return {is_armed ? worker_pause::kind::arm : worker_pause::kind::wait, ns};
    }

    const std::uint64_t spin_ns_;
    const std::int64_t longest_ns_;
    std::uint64_t moved_ns_ = 0;
    std::uint64_t busy_until_ns_ = 0;
    std::int64_t next_wait_ns_ = tuning::first_wait_ns;
    int n_idle_waits_ = 0;
};

} // namespace commtask::detail
