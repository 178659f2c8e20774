// SPDX-License-Identifier: Apache-2.0
//
// A count of the threads that use an object, for its destruction. Threads acquire and release the
// object until it is closed; the thread that closes it learns when the last user has released it.
// The count and the state are one word, so there is no race between the check and the increment. A
// use costs two locked instructions.
#pragma once

#include <atomic>
#include <cstdint>

namespace commtask::detail {

class use_count {
public:
    /// Any thread.
    /// @return false if the object is closed: then it must not be used
    [[nodiscard]] bool try_acquire() noexcept {
        // acq_rel: partner of the fetch_or in close().
        if ((state_.fetch_add(1, std::memory_order_acq_rel) & closed) == 0) return true;
        release();
        return false;
    }
    /// Called after try_acquire(). release: partner of the acquire in close().
    void release() noexcept { state_.fetch_sub(1, std::memory_order_release); }
    /// Closes the object: try_acquire() fails from now on. May be called again.
    /// @return whether no thread uses the object any more
    [[nodiscard]] bool close() noexcept {
        // acq_rel: partner of try_acquire() and release(); the caller sees what all users wrote,
        // and a refused thread sees what the caller wrote.
        return (state_.fetch_or(closed, std::memory_order_acq_rel) & ~closed) == 0;
    }

private:
    static constexpr std::uint32_t closed = std::uint32_t{1} << 31U;
    /// The number of users; the highest bit is set once the object is closed.
    std::atomic<std::uint32_t> state_{0};
};

} // namespace commtask::detail
