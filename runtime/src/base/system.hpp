// SPDX-License-Identifier: Apache-2.0
//
// The system calls and instructions that the runtime needs: waiting on a word (futex), an
// asymmetric barrier (membarrier), pause, prefetch, and clocks. Linux only. If the kernel has no
// membarrier, both sides of the asymmetric barrier are full fences.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace commtask::detail {

/// The size of a cache line. 128, for processors that fetch lines in pairs, would double the size
/// of every cell of a ring; all measurements used 64.
inline constexpr std::size_t cache_line_bytes = 64;

/// The pause instruction of a spin loop.
inline void pause_briefly() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
}

/// Prefetches a line for writing, so that the store does not wait for another core. The compiler's
/// builtin would prefetch for reading, unless the whole build requires newer processors. Older
/// processors ignore the instruction.
inline void prefetch_for_write(const void* address) noexcept {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
    __builtin_prefetch(address, 1, 3);
#endif
}

/// The monotonic clock in nanoseconds.
[[nodiscard]] std::uint64_t now_ns() noexcept;

/// The processor time that the calling thread has used, in nanoseconds; now_ns() if the system does
/// not report it. Costs a system call.
[[nodiscard]] std::uint64_t processor_time_ns() noexcept;

/// Sleeps while `word` is `expected`, at most `timeout_ns` (negative: without limit). May return
/// early.
void sleep_while_equal(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::int64_t timeout_ns) noexcept;

/// Wakes all threads that sleep on `word`.
void wake_sleepers(const std::atomic<std::uint32_t>& word) noexcept;

/// As the two functions above, for a word in memory that processes share; slightly slower.
void sleep_while_equal_shared(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                              std::int64_t timeout_ns) noexcept;
void wake_sleepers_shared(const std::atomic<std::uint32_t>& word) noexcept;

/// Requests short time slices for the calling thread: when it is woken, it soon preempts a
/// computing thread. No effect before Linux 6.12.
void request_short_time_slices() noexcept;

/// A scope in which the calling thread uses SCHED_BATCH. If another thread wakes it on the same
/// core, the other thread continues until its time slice ends.
class batch_scheduling {
public:
    batch_scheduling() noexcept;
    batch_scheduling(const batch_scheduling&) = delete;
    batch_scheduling& operator=(const batch_scheduling&) = delete;
    ~batch_scheduling();

private:
    bool is_changed_;
};

/// Registers the process for the asymmetric barrier. Called once, before any thread uses the
/// barrier.
/// @return whether the kernel has the barrier; if not, both sides are full fences
[[nodiscard]] bool register_heavy_barrier() noexcept;

/// Makes every running thread of the process execute a full barrier.
void heavy_barrier() noexcept;

/// The cheap side of the asymmetric barrier: a compiler barrier, since the other side makes this
/// thread execute a full barrier. Without membarrier a full fence.
inline void light_barrier(bool has_heavy_barrier) noexcept {
    if (has_heavy_barrier) {
        std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
}

/// The expensive side of the asymmetric barrier; partner of light_barrier().
inline void barrier_against_light(bool has_heavy_barrier) noexcept {
    if (has_heavy_barrier) {
        heavy_barrier();
    } else {
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
}

} // namespace commtask::detail
