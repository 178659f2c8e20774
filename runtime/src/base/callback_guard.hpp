// SPDX-License-Identifier: Apache-2.0
//
// Measures how long the program's callbacks hold up the progress thread, in processor time: time
// that the operating system gives to other threads meanwhile does not count. The cheap clock is
// read twice for each timed callback. The thread's processor clock costs a system call. So it is
// read before a callback only if the last reading is old. It is read after a callback only if the
// callback took long by the cheap clock.
#pragma once

#include "base/system.hpp"

#include <cstdint>
#include <optional>

namespace commtask::detail {

/// The processor time that a thread had used at a moment.
struct processor_reading {
    std::uint64_t at_ns = 0;
    std::uint64_t used_ns = 0;
};

/// Whether a callback that begins needs a new reading: otherwise up to an eighth of the limit goes
/// unnoticed.
[[nodiscard]] constexpr bool is_too_old(const processor_reading& last, std::uint64_t begin_ns,
                                        std::uint64_t limit_ns) noexcept {
    return begin_ns - last.at_ns >= limit_ns / 8;
}

/// The processor time that a callback used for certain: all time since the reading, minus the time
/// between the reading and the callback's begin.
[[nodiscard]] constexpr std::uint64_t surely_used_ns(const processor_reading& last, std::uint64_t begin_ns,
                                                     std::uint64_t used_at_end_ns) noexcept {
    const std::uint64_t used_ns = used_at_end_ns - last.used_ns;
    const std::uint64_t before_ns = begin_ns - last.at_ns;
    return used_ns > before_ns ? used_ns - before_ns : 0;
}

/// Times the callbacks of a lane. Only the lane's progress thread uses it.
class callback_guard {
public:
    /// @param limit_ns  0: callbacks are not timed
    explicit callback_guard(std::uint64_t limit_ns) noexcept : limit_ns_(limit_ns) {}

    /// A callback that exceeded the limit, for a warning.
    struct verdict {
        std::uint64_t used_ns;
        /// Callbacks over the limit since the last warning that were not reported.
        std::uint64_t n_suppressed;
    };

    /// Runs the callback.
    /// @return nothing if the callback kept to the limit, or another warning was written just now
    template <typename Callback>
    [[nodiscard]] std::optional<verdict> run(Callback&& callback) noexcept {
        if (limit_ns_ == 0) {
            callback();
            return std::nullopt;
        }
        const std::uint64_t begin_ns = now_ns();
        // Per thread, since a lane has many progress threads.
        thread_local constinit processor_reading last;
        if (is_too_old(last, begin_ns, limit_ns_)) last = {begin_ns, processor_time_ns()};
        // A copy, since the callback may make progress for another lane.
        const processor_reading before = last;
        callback();
        const std::uint64_t end_ns = now_ns();
        if (end_ns - begin_ns <= limit_ns_) return std::nullopt;
        last = {end_ns, processor_time_ns()};
        const std::uint64_t used_ns = surely_used_ns(before, begin_ns, last.used_ns);
        return used_ns <= limit_ns_ ? std::nullopt : judge(used_ns, end_ns);
    }

private:
    /// One warning per second is enough to read, and writing holds up the other tasks too.
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
