// SPDX-License-Identifier: Apache-2.0
//
// Keeps compute threads off the worker's CPU. commtask_init has narrowed the masks of the existing
// threads, and new threads inherit that. But oneTBB binds the threads of an arena with a NUMA node
// to the CPUs that the node had when oneTBB started. The program may also have bound threads
// itself. So the mask of each thread that enters an arena is checked again.
#include <commtask/commtask.h>
#include <commtask/tbb_support.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>

#include <sched.h>

namespace commtask::tbb_detail {
namespace {

/// The mask of the calling thread, as large as the kernel's.
class thread_mask {
public:
    [[nodiscard]] static std::optional<thread_mask> read() noexcept {
        // The kernel refuses a mask shorter than its own.
        for (std::size_t n_cpus = CPU_SETSIZE; n_cpus <= most_cpus; n_cpus *= 4) {
            thread_mask mask{n_cpus};
            if (mask.set_ == nullptr) return std::nullopt;
            if (sched_getaffinity(0, mask.size_bytes_, mask.set_.get()) == 0) return mask;
        }
        return std::nullopt;
    }

    [[nodiscard]] bool has(int cpu) const noexcept {
        return cpu >= 0 && CPU_ISSET_S(static_cast<std::size_t>(cpu), size_bytes_, set_.get());
    }
    [[nodiscard]] int size() const noexcept { return CPU_COUNT_S(size_bytes_, set_.get()); }
    void remove(int cpu) noexcept { CPU_CLR_S(static_cast<std::size_t>(cpu), size_bytes_, set_.get()); }
    [[nodiscard]] bool apply() const noexcept { return sched_setaffinity(0, size_bytes_, set_.get()) == 0; }

private:
    static constexpr std::size_t most_cpus = 1U << 16U;
    struct release {
        void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
    };
    explicit thread_mask(std::size_t n_cpus) noexcept : set_(CPU_ALLOC(n_cpus)), size_bytes_(CPU_ALLOC_SIZE(n_cpus)) {}

    std::unique_ptr<cpu_set_t, release> set_;
    std::size_t size_bytes_;
};

/// The CPU that only the worker uses, or -1.
[[nodiscard]] int reserved_cpu() noexcept {
    auto facts = commtask_sized_<commtask_info>();
    if (commtask_get_info(&facts) != COMMTASK_OK || facts.worker_is_reserved == 0) return -1;
    return facts.worker_cpu;
}

} // namespace
} // namespace commtask::tbb_detail

using commtask::tbb_detail::reserved_cpu;
using commtask::tbb_detail::thread_mask;

int commtask_tbb_cpus_count() noexcept {
    const std::optional<thread_mask> mask = thread_mask::read();
    if (!mask) return 1;
    return std::max(1, mask->size() - (mask->has(reserved_cpu()) ? 1 : 0));
}

int commtask_tbb_thread_leave(int cpu) noexcept {
    if (cpu < 0) return COMMTASK_OK;
    std::optional<thread_mask> mask = thread_mask::read();
    if (!mask) return COMMTASK_ERR_ARGUMENT;
    if (!mask->has(cpu)) return COMMTASK_OK;
    if (mask->size() == 1) return COMMTASK_ERR_ARGUMENT;
    mask->remove(cpu);
    return mask->apply() ? COMMTASK_OK : COMMTASK_ERR_ARGUMENT;
}
