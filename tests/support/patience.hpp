// SPDX-License-Identifier: Apache-2.0
//
// How tests with real threads wait for what another thread is about to do: by looking, so that nothing depends on how quick it
// is. The limit only makes a test that would hang fail.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

namespace commtask::detail::testing {

inline constexpr std::uint64_t patience_ns = 30'000'000'000;

/// @return whether `condition()` was true before the patience was over
template <typename Condition>
[[nodiscard]] bool comes_true(Condition&& condition) {
    using clock = std::chrono::steady_clock;
    for (const auto give_up = clock::now() + std::chrono::nanoseconds{patience_ns}; clock::now() < give_up;) {
        if (condition()) return true;
        std::this_thread::yield();
    }
    return false;
}

} // namespace commtask::detail::testing
