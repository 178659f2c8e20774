// SPDX-License-Identifier: Apache-2.0
//
// What a worker that shares its core knows of it: its own yields tell. One that comes back at once found nobody else who
// wants the core; one that takes long found somebody who computes. Such a worker may stay awake on an idle core, where it
// takes nothing from anybody and is there when something comes. A pure function of times, so it is tested without a clock.
#pragma once

#include <algorithm>
#include <cstdint>

namespace commtask::detail {

class core_gauge {
public:
    static constexpr std::uint64_t at_once_ns = 5'000;               ///< A yield that found nobody.
    static constexpr std::uint64_t long_ns = 50'000;                 ///< A yield that found somebody who computes.
    static constexpr std::uint64_t longest_with_work_ns = 5'000'000; ///< How long to linger with something in flight.
    static constexpr std::uint64_t shortest_distrust_ns =
        500'000; ///< After a long yield: quick ones say nothing so long,
    static constexpr std::uint64_t longest_distrust_ns = 2'000'000; ///< twice as long each time they were wrong,
    static constexpr std::uint64_t soon_ns = 4'000'000; ///< which is what a long one within this time shows.

    /// `linger_ns`: how long to stay awake on an idle core with nothing in flight.
    explicit core_gauge(std::uint64_t linger_ns) noexcept : linger_ns_(linger_ns) {}

    /// A yield that left at `begin_ns` and came back at `end_ns`.
    void yielded(std::uint64_t begin_ns, std::uint64_t end_ns) noexcept {
        const std::uint64_t took_ns = end_ns - begin_ns;
        if (took_ns > long_ns) return found_wanted(end_ns);
        if (is_idle_ || took_ns >= at_once_ns || end_ns < others_until_ns_) return;
        is_idle_ = true;
        idle_since_ns_ = end_ns;
    }

    /// Others need the core.
    void found_wanted(std::uint64_t now_ns) noexcept {
        if (is_idle_) {
            const bool was_soon = now_ns - idle_since_ns_ < soon_ns;
            distrust_ns_ = was_soon ? std::clamp(2 * distrust_ns_, shortest_distrust_ns, longest_distrust_ns)
                                    : shortest_distrust_ns;
        }
        is_idle_ = false;
        others_until_ns_ = now_ns + distrust_ns_;
    }

    [[nodiscard]] bool is_idle() const noexcept { return is_idle_; }

    /// A pass moved something, or the worker was woken.
    void found_something() noexcept { nothing_since_ns_ = 0; }

    /// Whether a worker that found nothing stays awake all the same.
    [[nodiscard]] bool may_linger(std::uint64_t now_ns, bool has_work) noexcept {
        if (!is_idle_) return false;
        if (nothing_since_ns_ == 0) nothing_since_ns_ = now_ns;
        return now_ns - nothing_since_ns_ < (has_work ? longest_with_work_ns : linger_ns_);
    }

private:
    const std::uint64_t linger_ns_;
    bool is_idle_ = false; ///< The last yields came back at once.
    std::uint64_t idle_since_ns_ = 0;
    std::uint64_t others_until_ns_ = 0;
    std::uint64_t distrust_ns_ = 0;
    std::uint64_t nothing_since_ns_ = 0; ///< When it began to find nothing; 0: not yet.
};

} // namespace commtask::detail
