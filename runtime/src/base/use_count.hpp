// SPDX-License-Identifier: Apache-2.0
//
// A gate for an object that comes to an end. Threads enter and leave until the gate is closed, and
// the thread that closes it sees when the last thread has left. The state is one word, so no thread
// can be between the check and the entry. A thread that enters pays two locked instructions.
#pragma once

#include <atomic>
#include <cstdint>

namespace commtask::detail {

class use_count {
public:
    /// Any thread.
    /// @return false if the gate is closed: then the caller is not inside
    [[nodiscard]] bool try_acquire() noexcept {
        // acq_rel: partner of the fetch_or in close().
        if ((state_.fetch_add(1, std::memory_order_acq_rel) & closed) == 0) return true;
        release();
        return false;
    }
    /// A thread that has entered. release: partner of the acquire in close().
    void release() noexcept { state_.fetch_sub(1, std::memory_order_release); }
    /// From here on no thread enters. May be called again.
    /// @return whether no thread is inside any more
    [[nodiscard]] bool close() noexcept {
        // acq_rel: the caller sees what was done inside; a thread that finds the gate closed sees
        // what the caller did.
        return (state_.fetch_or(closed, std::memory_order_acq_rel) & ~closed) == 0;
    }

private:
    static constexpr std::uint32_t closed = std::uint32_t{1} << 31U;
    /// The number of threads inside, and whether the gate is closed.
    std::atomic<std::uint32_t> state_{0};
};

} // namespace commtask::detail
