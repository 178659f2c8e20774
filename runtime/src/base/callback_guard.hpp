// SPDX-License-Identifier: Apache-2.0
//
// Measures how much processor time the program's callbacks take from the progress thread; time in
// which the operating system runs other threads does not count. The cheap clock is read before and
// after each timed callback. The thread's processor clock costs a system call. So this clock is
// read before a callback only if the last reading is old. After a callback it is read only if the
// callback took long by the cheap clock.
#pragma once

#include "base/system.hpp"

#include <cstdint>
#include <optional>

namespace commtask::detail {

/// The processor time that a thread has used up to a point in time.
struct processor_reading {
    std::uint64_t at_ns = 0;
    std::uint64_t used_ns = 0;
};

/// Whether a new reading is needed before a callback. An old reading hides at most an eighth of the
/// limit.
[[nodiscard]] constexpr bool is_too_old(const processor_reading& last, std::uint64_t begin_ns,
                                        std::uint64_t limit_ns) noexcept {
    return begin_ns - last.at_ns >= limit_ns / 8;
}

/// A lower bound of a callback's processor time: the time used since the reading, minus the time
/// from the reading to the callback's begin.
[[nodiscard]] constexpr std::uint64_t least_used_ns(const processor_reading& last, std::uint64_t begin_ns,
                                                    std::uint64_t used_at_end_ns) noexcept {
    const std::uint64_t used_ns = used_at_end_ns - last.used_ns;
    const std::uint64_t before_ns = begin_ns - last.at_ns;
    return used_ns > before_ns ? used_ns - before_ns : 0;
}

/// Times the callbacks of a lane. Used only by the lane's progress thread.
class callback_guard {
public:
    /// @param limit_ns  0: callbacks are not timed
    explicit callback_guard(std::uint64_t limit_ns) noexcept : limit_ns_(limit_ns) {}

    /// The data for a warning about a callback that exceeded the limit.
    struct verdict {
        std::uint64_t used_ns;
        /// The number of callbacks that exceeded the limit since the last warning and were not
        /// reported.
        std::uint64_t n_suppressed;
    };

    /// Runs the callback.
    /// @return nothing if the callback kept to the limit, or if there was a warning less than 1 s
    /// ago
    template <typename Callback>
    [[nodiscard]] std::optional<verdict> run(Callback&& callback) noexcept {
        if (limit_ns_ == 0) {
            callback();
            return std::nullopt;
        }
        const std::uint64_t begin_ns = now_ns();
        // Per thread, since the progress thread of a lane changes.
        thread_local constinit processor_reading last;
        if (is_too_old(last, begin_ns, limit_ns_)) last = {begin_ns, processor_time_ns()};
        // A copy, since the callback may make progress for another lane.
        const processor_reading before = last;
        callback();
        const std::uint64_t end_ns = now_ns();
        if (end_ns - begin_ns <= limit_ns_) return std::nullopt;
        last = {end_ns, processor_time_ns()};
        const std::uint64_t used_ns = least_used_ns(before, begin_ns, last.used_ns);
        return used_ns <= limit_ns_ ? std::nullopt : judge(used_ns, end_ns);
    }

private:
    /// At most one warning per second, since writing delays the other tasks.
    [[nodiscard]] std::optional<verdict> judge(std::uint64_t used_ns, std::uint64_t end_ns) noexcept {
        constexpr std::uint64_t pause_ns = 1'000'000'000;
        if (last_warning_ns_ != 0 && end_ns - last_warning_ns_ < pause_ns) {
            ++n_suppressed_;
            return std::nullopt;
        }
        last_warning_ns_ = end_ns;
        const verdict excess{used_ns, n_suppressed_};
        n_suppressed_ = 0;
        return excess;
    }

    const std::uint64_t limit_ns_;
    std::uint64_t last_warning_ns_ = 0;
    std::uint64_t n_suppressed_ = 0;
};

} // namespace commtask::detail
