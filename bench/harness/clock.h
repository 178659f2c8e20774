// SPDX-License-Identifier: Apache-2.0
//
// A clock that disturbs little: the processor's time stamp counter where it is constant and runs on in sleep
// (10 ns a reading, no system call), CLOCK_MONOTONIC elsewhere. The counter is read so that it can neither move
// before earlier loads nor after later ones, or a time of a few nanoseconds would mean nothing.
#pragma once

#include <cstdint>
#include <ctime>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace commtask::bench {

constexpr std::int64_t ns_per_s = 1'000'000'000;

/// One of the system's clocks, for moments that are slept until and for processor time.
[[nodiscard]] inline std::int64_t now_ns(clockid_t clock = CLOCK_MONOTONIC) noexcept {
    timespec now{};
    clock_gettime(clock, &now);
    return (static_cast<std::int64_t>(now.tv_sec) * ns_per_s) + now.tv_nsec;
}

/// Leaves the core for as long, as if an accelerator computed; not at all where that is nothing.
inline void sleep_for(double ns) noexcept {
    if (ns <= 0) return;
    timespec left{static_cast<time_t>(ns / 1e9), static_cast<long>(ns) % ns_per_s};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) != 0) {}
}

/// Ticks of the clock; only differences mean anything.
[[nodiscard]] inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
    _mm_lfence();
    const std::uint64_t now = __rdtsc();
    _mm_lfence();
    return now;
#else
    return static_cast<std::uint64_t>(now_ns());
#endif
}

/// Nanoseconds of one tick: measured against CLOCK_MONOTONIC_RAW over 50 ms on first use, then remembered.
[[nodiscard]] double ns_per_tick();

/// Nanoseconds from `from` to `to`; negative when `to` is the earlier one.
[[nodiscard]] inline double ns_between(std::uint64_t from, std::uint64_t to) {
    return static_cast<double>(static_cast<std::int64_t>(to - from)) * ns_per_tick();
}

/// What two readings in a row differ by: the least that any time shown contains of the clock itself.
[[nodiscard]] double clock_cost_ns();

} // namespace commtask::bench
