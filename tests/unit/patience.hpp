// SPDX-License-Identifier: Apache-2.0
//
// How tests with real threads wait for what another thread is about to do: by looking, so that nothing depends on how quick it
// is. The limit only makes a test that would hang fail.
#pragma once

#include "base/system.hpp"

#include <cstdint>
#include <thread>

namespace commtask::detail::testing {

inline constexpr std::uint64_t patience_ns = 30'000'000'000;

/// @return whether `condition()` was true before the patience was over
template <typename Condition>
[[nodiscard]] bool comes_true(Condition&& condition) {
    for (const std::uint64_t begin_ns = now_ns(); now_ns() - begin_ns < patience_ns;) {
        if (condition()) return true;
        std::this_thread::yield();
    }
    return false;
}

} // namespace commtask::detail::testing
