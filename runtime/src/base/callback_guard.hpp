// SPDX-License-Identifier: Apache-2.0
//
// How long the program's callbacks hold the worker up, in processor time: what the scheduler gives to other threads
// meanwhile is not their doing. The cheap clock is read twice for each callback that is timed. The thread's own clock costs a
// system call, so it is read ahead of a callback only where the last reading is old, and once more after one that took long
// by the cheap clock.
#pragma once

#include "base/system.hpp"

#include <cstdint>
#include <optional>

namespace commtask::detail {

/// What a thread had used of the processor at a moment.
struct processor_reading {
    std::uint64_t at_ns = 0;
    std::uint64_t used_ns = 0;
};

/// Whether a callback that begins needs a new reading: else up to an eighth of the limit goes unseen.
[[nodiscard]] constexpr bool is_too_old(const processor_reading& last, std::uint64_t begin_ns,
                                        std::uint64_t limit_ns) noexcept {
    return begin_ns - last.at_ns >= limit_ns / 8;
}

/// What a callback used for certain: all since the reading, but for the time between the reading and its begin.
[[nodiscard]] constexpr std::uint64_t surely_used_ns(const processor_reading& last, std::uint64_t begin_ns,
                                                     std::uint64_t used_at_end_ns) noexcept {
    const std::uint64_t used_ns = used_at_end_ns - last.used_ns;
    const std::uint64_t before_ns = begin_ns - last.at_ns;
    return used_ns > before_ns ? used_ns - before_ns : 0;
}

/// Times a lane's callbacks. Its driver only.
class callback_guard {
public:
    /// `limit_ns` 0: times nothing.
    explicit callback_guard(std::uint64_t limit_ns) noexcept : limit_ns_(limit_ns) {}

    /// What there is to say about a callback.
    struct verdict {
        std::uint64_t used_ns;
        std::uint64_t n_unsaid; ///< Others over the limit since the last time that there was something to say.
    };

    /// Runs it. @return nothing if it kept to the limit, or somebody heard of another one just now
    template <typename Callback>
    [[nodiscard]] std::optional<verdict> run(Callback&& callback) noexcept {
        if (limit_ns_ == 0) {
            callback();
            return std::nullopt;
        }
        const std::uint64_t begin_ns = now_ns();
        thread_local constinit processor_reading last; // a lane has many drivers
        if (is_too_old(last, begin_ns, limit_ns_)) last = {begin_ns, processor_time_ns()};
        const processor_reading before = last; // a callback may drive another lane
        callback();
        const std::uint64_t end_ns = now_ns();
        if (end_ns - begin_ns <= limit_ns_) return std::nullopt;
        last = {end_ns, processor_time_ns()};
        const std::uint64_t used_ns = surely_used_ns(before, begin_ns, last.used_ns);
        return used_ns <= limit_ns_ ? std::nullopt : judge(used_ns, end_ns);
    }

private:
    /// One in a second is enough to read, and writing holds the other tasks up too.
    [[nodiscard]] std::optional<verdict> judge(std::uint64_t used_ns, std::uint64_t end_ns) noexcept {
        constexpr std::uint64_t pause_ns = 1'000'000'000;
        if (last_said_ns_ != 0 && end_ns - last_said_ns_ < pause_ns) {
            ++n_unsaid_;
            return std::nullopt;
        }
        last_said_ns_ = end_ns;
        const verdict said{used_ns, n_unsaid_};
        n_unsaid_ = 0;
        return said;
    }

    const std::uint64_t limit_ns_;
    std::uint64_t last_said_ns_ = 0;
    std::uint64_t n_unsaid_ = 0;
};

} // namespace commtask::detail
