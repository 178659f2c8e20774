// SPDX-License-Identifier: Apache-2.0
//
// How often a blocking call polls before it yields. A yield delays threads of two ranks that answer
// each other, but ranks that share a core need it. The limit is therefore learned, by all threads
// of a rank together: it grows if an answer came while a call polled, and shrinks if none came.
#pragma once

#include "base/tuning.hpp"

#include <atomic>

namespace commtask::interposer {

class spin_limit {
public:
    static constexpr unsigned least = detail::tuning::steps_in_a_row;
    static constexpr unsigned most = detail::tuning::most_polls_of_a_call;

    [[nodiscard]] unsigned now() const noexcept { return limit_.load(std::memory_order_relaxed); }

    /// The answer came before any yield, at this poll. If that was one of the first few polls, the
    /// limit did not matter and stays.
    void ended_at_poll(unsigned n_polls) noexcept {
        if (const unsigned before = now(); n_polls > before / 8 && before < most) set(2 * before);
    }
    void ran_out() noexcept {
        if (const unsigned before = now(); before > least) set(before / 2);
    }

private:
    // relaxed, and not exact: if threads learn at once, the update of one is lost.
    void set(unsigned polls) noexcept { limit_.store(polls, std::memory_order_relaxed); }

    std::atomic<unsigned> limit_{least};
};

} // namespace commtask::interposer
