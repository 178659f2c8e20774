// SPDX-License-Identifier: Apache-2.0
//
// A gate in front of something that comes to an end: threads go in and out until it is closed, and who has closed it sees when the
// last one has left. One word, so that nobody can be between the look and the step. It costs whoever enters two locked instructions.
#pragma once

#include <atomic>
#include <cstdint>

namespace commtask::detail {

class gate {
public:
    /// Any thread. @return false: it is closed, and the caller is not inside
    [[nodiscard]] bool try_enter() noexcept {
        // acq_rel: partner of the same in close().
        if ((state_.fetch_add(1, std::memory_order_acq_rel) & closed) == 0) return true;
        leave();
        return false;
    }
    /// Any thread, for one that entered. release: partner of the acquire in close().
    void leave() noexcept { state_.fetch_sub(1, std::memory_order_release); }
    /// From here on nobody enters. May be called again. @return whether nobody is inside any more
    [[nodiscard]] bool close() noexcept {
        // acq_rel: sees what was done inside; who finds it closed sees what the caller did.
        return (state_.fetch_or(closed, std::memory_order_acq_rel) & ~closed) == 0;
    }

private:
    static constexpr std::uint32_t closed = std::uint32_t{1} << 31U;
    std::atomic<std::uint32_t> state_{0}; ///< How many are inside, and whether it is closed.
};

} // namespace commtask::detail
