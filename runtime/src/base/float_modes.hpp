// SPDX-License-Identifier: Apache-2.0
//
// The floating-point modes of a thread as one word: rounding, flushing of denormals, traps. MPI
// does the arithmetic of reductions in any of its calls, on the calling thread. So while reductions
// are in flight, the library calls MPI in the modes of the threads that posted them, and keeps the
// exception flags for the threads that wait. If two reductions in flight have different modes, the
// later one's are used for both, since MPI does not say on which one it works. The cost of a call
// of MPI: one load without reductions in flight, else about 20 ns.
#pragma once

#include "base/library_thread.hpp"

#include <atomic>
#include <cstdint>

namespace commtask::detail {

/// 0: no modes. The modes of a thread are never 0.
using float_modes = std::uint32_t;
/// Exception flags, in the bits that the processor uses for them.
using float_flags = std::uint8_t;

/// The modes of the calling thread.
[[nodiscard]] float_modes modes_of_this_thread() noexcept;

/// Raises in the calling thread exceptions that occurred in another thread; no trap is taken.
void raise_flags(float_flags flags) noexcept;

/// The reductions of the process that MPI has in flight.
class reductions_in_flight {
public:
    static void begin(float_modes modes) noexcept;
    /// @return the flags that were raised in calls of MPI since begin(), for any reduction
    [[nodiscard]] static float_flags end(float_modes modes) noexcept;

    /// A thread of the program is about to call MPI itself, in its own modes. A thread of the
    /// library that calls MPI later uses the same modes, as if one thread made both calls without
    /// the library.
    static void caller_has(float_modes modes) noexcept {
        // relaxed: a thread that sees the modes late calls MPI as if it had called before.
        if (caller_.load(std::memory_order_relaxed) != modes) caller_.store(modes, std::memory_order_relaxed);
    }

    /// The modes in which the calling thread should call MPI; 0: its own.
    [[nodiscard]] static float_modes wanted() noexcept {
        // relaxed: a thread that has begun a reduction, or waits for one, has taken the progress
        // lock in between.
        const float_modes theirs = wanted_.load(std::memory_order_relaxed);
        return theirs != 0 || !library_thread::am_i() ? theirs : caller_.load(std::memory_order_relaxed);
    }

private:
    friend class float_scope;
    static inline constinit std::atomic<float_modes> wanted_{0};
    static inline constinit std::atomic<float_modes> caller_{0};
    static inline constinit std::atomic<float_flags> raised_{0};
};

/// The scope of a call of MPI.
class float_scope {
public:
    float_scope() noexcept {
        if (const float_modes wanted = reductions_in_flight::wanted(); wanted != 0) [[unlikely]]
            begin(wanted);
    }
    float_scope(const float_scope&) = delete;
    float_scope& operator=(const float_scope&) = delete;
    ~float_scope() {
        if (is_active_) [[unlikely]]
            end();
    }

private:
    void begin(float_modes wanted) noexcept;
    void end() noexcept;

    float_modes modes_before_ = 0;
    float_flags flags_before_ = 0;
    bool is_active_ = false;
};

/// The scope of a call that ends when its reduction has ended.
class reduction_under_way {
public:
    explicit reduction_under_way(bool is_one) noexcept : modes_(is_one ? modes_of_this_thread() : 0) {
        if (modes_ != 0) reductions_in_flight::begin(modes_);
    }
    reduction_under_way(const reduction_under_way&) = delete;
    reduction_under_way& operator=(const reduction_under_way&) = delete;
    ~reduction_under_way() {
        if (modes_ != 0) raise_flags(reductions_in_flight::end(modes_));
    }

private:
    float_modes modes_;
};

} // namespace commtask::detail
