// SPDX-License-Identifier: Apache-2.0
//
// How often a blocking call polls before it yields. A yield delays threads of two ranks that reply
// to each other, but ranks that share a core need it. The limit is therefore learned, by all
// threads of a rank together: it grows if a call ended while it polled, and shrinks if none did.
#pragma once

#include "base/tuning.hpp"

#include <atomic>

namespace commtask::interposer {

class spin_limit {
public:
    static constexpr unsigned least = detail::tuning::steps_in_a_row;
    static constexpr unsigned most = detail::tuning::most_polls_of_a_call;

    [[nodiscard]] unsigned now() const noexcept { return limit_.load(std::memory_order_relaxed); }

    /// The call ended at this poll, before any yield. If that was one of the first few polls, the
    /// limit did not matter and does not change.
    void ended_at_poll(unsigned n_polls) noexcept {
        if (const unsigned before = now(); n_polls > before / 8 && before < most) set(2 * before);
    }
    void ran_out() noexcept {
        if (const unsigned before = now(); before > least) set(before / 2);
    }

private:
    // relaxed, and not exact: of two concurrent updates one is lost.
    void set(unsigned polls) noexcept { limit_.store(polls, std::memory_order_relaxed); }

    std::atomic<unsigned> limit_{least};
};

} // namespace commtask::interposer
