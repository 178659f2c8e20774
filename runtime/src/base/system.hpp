// SPDX-License-Identifier: Apache-2.0
//
// The few calls into the operating system and the processor that the runtime needs: sleeping on a word, the barrier
// that lets submitters go without one, a pause, a clock. Linux only; the asymmetric barrier falls back to a full fence on
// the submitter's side where the kernel has no membarrier.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace commtask::detail {

/// What one core owns at a time. 128 where processors fetch lines in pairs would double every cell; 64 was measured.
inline constexpr std::size_t cache_line_bytes = 64;

/// Tells the core that this thread waits for memory.
inline void pause_briefly() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
}

/// Fetches a line to write it, so that the store does not wait for the other core. The compiler's builtin becomes a fetch
/// for reading unless the whole build asks for newer processors; the instruction is a no-op on those that lack it.
inline void prefetch_for_write(const void* address) noexcept {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
    __builtin_prefetch(address, 1, 3);
#endif
}

/// Monotonic, in nanoseconds.
[[nodiscard]] std::uint64_t now_ns() noexcept;

/// What the calling thread has used of the processor, in nanoseconds; now_ns() where the system does not say. A system call.
[[nodiscard]] std::uint64_t processor_time_ns() noexcept;

/// Sleeps while `word` is `expected`, at most `timeout_ns` (negative: without limit). May return early.
void sleep_while_equal(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::int64_t timeout_ns) noexcept;

/// Wakes all that sleep on `word`.
void wake_sleepers(const std::atomic<std::uint32_t>& word) noexcept;

/// The same for a word in memory that processes share; the kernel takes a little longer to find who sleeps there.
void sleep_while_equal_shared(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                              std::int64_t timeout_ns) noexcept;
void wake_sleepers_shared(const std::atomic<std::uint32_t>& word) noexcept;

/// Asks the scheduler for short turns of the calling thread: woken, it soon replaces a thread that computes, and a yield
/// costs it less. Without effect on kernels that do not know the request (before Linux 6.12).
void prefer_short_turns() noexcept;

/// While one of these lives, whoever wakes the calling thread keeps the processor: its turn begins when theirs is over.
class gentle_waking {
public:
    gentle_waking() noexcept;
    gentle_waking(const gentle_waking&) = delete;
    gentle_waking& operator=(const gentle_waking&) = delete;
    ~gentle_waking();

private:
    bool is_changed_;
};

/// Registers the process for the asymmetric barrier. Once, before any thread uses it.
/// @return whether the kernel has it; if not, both sides are full fences.
[[nodiscard]] bool register_heavy_barrier() noexcept;

/// Makes every running thread of the process pass a full barrier.
void heavy_barrier() noexcept;

/// The cheap side of an asymmetric barrier: only the compiler is held, since the other side makes this thread pass a
/// barrier when it matters. Without membarrier both sides are full fences.
inline void light_barrier(bool has_heavy_barrier) noexcept {
    if (has_heavy_barrier) {
        std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
}

/// The costly side: partner of light_barrier().
inline void barrier_against_light(bool has_heavy_barrier) noexcept {
    if (has_heavy_barrier) {
        heavy_barrier();
    } else {
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
}

} // namespace commtask::detail
