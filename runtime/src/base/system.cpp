// SPDX-License-Identifier: Apache-2.0
//
// The system calls of system.hpp. glibc has no wrappers for futex and membarrier, so syscall() is
// used. The only unexpected failure is a kernel without the call, which register_heavy_barrier()
// detects.
#include "base/system.hpp"

#include "base/tuning.hpp"

#include <cerrno>
#include <climits>
#include <ctime>

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace commtask::detail {
namespace {

/// Restores errno, which a post or a wait must not change.
class errno_guard {
public:
    errno_guard() noexcept : before_(errno) {}
    errno_guard(const errno_guard&) = delete;
    errno_guard& operator=(const errno_guard&) = delete;
    ~errno_guard() { errno = before_; }

private:
    int before_;
};

/// The kernel's struct sched_attr, version 1; its header conflicts with <sched.h>.
struct scheduling {
    std::uint32_t size;
    std::uint32_t policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime_ns; ///< For SCHED_OTHER the time slice, from Linux 6.12.
    std::uint64_t deadline_ns;
    std::uint64_t period_ns;
};
constexpr std::uint32_t ordinary = 0; // SCHED_OTHER
// SCHED_BATCH: as SCHED_OTHER, but a thread that is woken does not preempt another.
constexpr std::uint32_t batch = 3;

/// Changes the scheduling of the calling thread. Does nothing if its policy is not `expected`,
/// since a user has chosen it.
template <typename Change>
[[nodiscard]] bool change_scheduling(std::uint32_t expected, Change&& change) noexcept {
    const errno_guard guard;
    scheduling mine{};
    if (syscall(SYS_sched_getattr, 0, &mine, sizeof mine, 0) != 0 || mine.policy != expected) return false;
    mine.size = sizeof mine;
    change(mine);
    return syscall(SYS_sched_setattr, 0, &mine, 0) == 0;
}

void wait_on(const std::atomic<std::uint32_t>& word, int how, std::uint32_t expected,
             std::int64_t timeout_ns) noexcept {
    const timespec timeout{static_cast<time_t>(timeout_ns / 1'000'000'000),
                           static_cast<long>(timeout_ns % 1'000'000'000)};
    const errno_guard guard;
    syscall(SYS_futex, &word, how, expected, timeout_ns < 0 ? nullptr : &timeout, nullptr, 0);
}

} // namespace

std::uint64_t now_ns() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t processor_time_ns() noexcept {
    timespec used{};
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) != 0) return now_ns();
    return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(used.tv_nsec);
}

void sleep_while_equal(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::int64_t timeout_ns) noexcept {
    wait_on(word, FUTEX_WAIT_PRIVATE, expected, timeout_ns);
}

void wake_sleepers(const std::atomic<std::uint32_t>& word) noexcept {
    const errno_guard guard;
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void sleep_while_equal_shared(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                              std::int64_t timeout_ns) noexcept {
    wait_on(word, FUTEX_WAIT, expected, timeout_ns);
}

void wake_sleepers_shared(const std::atomic<std::uint32_t>& word) noexcept {
    const errno_guard guard;
    syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void request_short_time_slices() noexcept {
    static_cast<void>(
        change_scheduling(ordinary, [](scheduling& mine) { mine.runtime_ns = tuning::short_time_slice_ns; }));
}

batch_scheduling::batch_scheduling() noexcept
    : is_changed_(change_scheduling(ordinary, [](scheduling& mine) { mine.policy = batch; })) {}

batch_scheduling::~batch_scheduling() {
    if (is_changed_) static_cast<void>(change_scheduling(batch, [](scheduling& mine) { mine.policy = ordinary; }));
}

bool register_heavy_barrier() noexcept {
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void heavy_barrier() noexcept { syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); }

} // namespace commtask::detail
