// SPDX-License-Identifier: Apache-2.0
//
// The few calls into the operating system and the processor that the runtime needs: waiting on a
// word (futex), the asymmetric barrier that saves submitters a barrier, a pause, and clocks. Linux
// only. If the kernel has no membarrier, the asymmetric barrier becomes a full fence on both sides.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace commtask::detail {

/// The unit that one core owns at a time. 128, for processors that fetch lines in pairs, would
/// double the size of every cell; the measurements used 64.
inline constexpr std::size_t cache_line_bytes = 64;

/// Tells the core that this thread waits for memory.
inline void pause_briefly() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
}

/// Fetches a line for writing, so that the store does not wait for another core. The compiler's
/// builtin becomes a fetch for reading, unless the whole build requires newer processors. The
/// instruction is a no-op on processors that lack it.
inline void prefetch_for_write(const void* address) noexcept {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
    __builtin_prefetch(address, 1, 3);
#endif
}

/// Monotonic, in nanoseconds.
[[nodiscard]] std::uint64_t now_ns() noexcept;

/// The processor time that the calling thread has used, in nanoseconds; now_ns() if the system does
/// not report it. A system call.
[[nodiscard]] std::uint64_t processor_time_ns() noexcept;

/// Sleeps while `word` is `expected`, at most `timeout_ns` (negative: without limit). May return
/// early.
void sleep_while_equal(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::int64_t timeout_ns) noexcept;

/// Wakes all threads that sleep on `word`.
void wake_sleepers(const std::atomic<std::uint32_t>& word) noexcept;

/// The same two functions for a word in memory that processes share. The kernel takes a little
/// longer to find the sleeping threads.
void sleep_while_equal_shared(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                              std::int64_t timeout_ns) noexcept;
void wake_sleepers_shared(const std::atomic<std::uint32_t>& word) noexcept;

/// Asks the operating system for short time slices of the calling thread: when it is woken, it soon
/// replaces a thread that computes, and a yield takes less time. No effect on kernels without this
/// request (before Linux 6.12).
void request_short_time_slices() noexcept;

/// While one of these lives, a thread that wakes the calling thread keeps the processor: the
/// calling thread runs when the waking thread's time slice is over.
class batch_scheduling {
public:
    batch_scheduling() noexcept;
    batch_scheduling(const batch_scheduling&) = delete;
    batch_scheduling& operator=(const batch_scheduling&) = delete;
    ~batch_scheduling();

private:
    bool is_changed_;
};

/// Registers the process for the asymmetric barrier. Called once, before any thread uses it.
/// @return whether the kernel has the barrier; if not, both sides are full fences
[[nodiscard]] bool register_heavy_barrier() noexcept;

/// Makes every running thread of the process execute a full barrier.
void heavy_barrier() noexcept;

/// The cheap side of an asymmetric barrier: only the compiler is restricted, since the other side
/// makes this thread execute a barrier when it matters. Without membarrier both sides are full
/// fences.
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
