// SPDX-License-Identifier: Apache-2.0
//
// The floating-point modes of a thread as one word: rounding, flushing of denormals, traps. MPI
// does the arithmetic of reductions in any of its calls, on the calling thread. So while a
// reduction is in flight, the library calls MPI in the modes of the thread that posted it. The
// waiting thread gets the exception flags. MPI does not say on which reduction it works: if two
// have different modes, the newer modes are used for both. A call of MPI costs one more load, and
// about 20 ns while reductions are in flight.
#pragma once

#include "base/library_thread.hpp"

#include <atomic>
#include <cstdint>

namespace commtask::detail {

/// 0: unknown. The modes of a thread are never 0.
using float_modes = std::uint32_t;
/// Exception flags, in the processor's bits.
using float_flags = std::uint8_t;

/// The modes of the calling thread.
[[nodiscard]] float_modes modes_of_this_thread() noexcept;

/// Raises, in the calling thread, exceptions that occurred in another thread; takes no trap.
void raise_flags(float_flags flags) noexcept;

/// The reductions of the process that are in flight.
class reductions_in_flight {
public:
    static void begin(float_modes modes) noexcept;
    /// @return the flags that were raised in calls of MPI since begin(), by any reduction
    [[nodiscard]] static float_flags end(float_modes modes) noexcept;

    /// Called before a thread of the program calls MPI itself. Later calls by threads of the
    /// library use the same modes, as if the program had made both calls.
    static void caller_has(float_modes modes) noexcept {
        // relaxed: a late value has the same effect as an earlier call.
        if (caller_.load(std::memory_order_relaxed) != modes) caller_.store(modes, std::memory_order_relaxed);
    }

    /// The modes in which the calling thread should call MPI; 0: its own.
    [[nodiscard]] static float_modes wanted() noexcept {
        // relaxed: a thread that begins a reduction, or waits for one, takes the progress lock in
        // between.
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

/// The scope of a blocking reduction.
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
