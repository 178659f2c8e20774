// SPDX-License-Identifier: Apache-2.0
//
// How often a blocking call looks before it yields. Threads of two ranks that answer each other lose step by a yield; ranks
// that share a core need it. So it is learned, by all threads of a rank together: an answer that came while a call looked is
// worth looking longer for; one that did not come is not.
#pragma once

#include "base/tuning.hpp"

#include <atomic>

namespace commtask::interposer {

class spin_limit {
public:
    static constexpr unsigned least = detail::tuning::steps_in_a_row;
    static constexpr unsigned most = detail::tuning::most_polls_of_a_call;

    [[nodiscard]] unsigned now() const noexcept { return looks_.load(std::memory_order_relaxed); }

    /// The answer came before any yield, at this look. At one of the first few, patience has nothing to do with it.
    void was_answered_after(unsigned n_looks) noexcept {
        if (const unsigned before = now(); n_looks > before / 8 && before < most) set(2 * before);
    }
    void was_in_vain() noexcept {
        if (const unsigned before = now(); before > least) set(before / 2);
    }

private:
    // relaxed, and not exact: when threads learn at once, one of them has learned for nothing.
    void set(unsigned looks) noexcept { looks_.store(looks, std::memory_order_relaxed); }

    std::atomic<unsigned> looks_{least};
};

} // namespace commtask::interposer
