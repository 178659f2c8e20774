// SPDX-License-Identifier: Apache-2.0
//
// The C library's syscall() is what the runtime reads and changes masks by, of any thread, and DLB's functions are weak: both can be
// replaced from outside. Programs that call sched_setaffinity() see the real machine.
#include "four_cpus.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstring>

using namespace commtask::detail::testing;

namespace commtask::detail::testing {

four_cpus& machine() {
    static four_cpus one;
    return one;
}

} // namespace commtask::detail::testing

namespace {

using system_call = long (*)(long, ...);

/// The C library's.
[[nodiscard]] system_call real_system_call() {
    static std::atomic<system_call> found{nullptr}; // by its initialiser a constant: a guard would make a system call
    if (found.load() == nullptr) found = reinterpret_cast<system_call>(dlsym(RTLD_NEXT, "syscall"));
    return found;
}

} // namespace

extern "C" {
[[gnu::visibility("default")]] long syscall(long number, ...) noexcept;
[[gnu::visibility("default")]] int DLB_LendCpu(int cpu);
[[gnu::visibility("default")]] int DLB_ReclaimCpu(int cpu);
}

int DLB_LendCpu(int cpu) { return machine().lend(cpu, true); }
int DLB_ReclaimCpu(int cpu) { return machine().lend(cpu, false); }

long syscall(long number, ...) noexcept {
    long words[6];
    std::va_list list;
    va_start(list, number);
    for (long& each : words) each = va_arg(list, long);
    va_end(list);
    const long thread = words[0] == 0 ? gettid() : words[0];
    auto* const bytes = reinterpret_cast<char*>(words[2]);
    if (number == SYS_sched_setaffinity) {
        mask cpus = 0;
        std::memcpy(&cpus, bytes, sizeof cpus);
        machine().set_mask(static_cast<int>(thread), cpus);
        return 0;
    }
    const long answer =
        real_system_call()(number, words[0], words[1], words[2], words[3], words[4], words[5]); // also for who is gone
    if (number == SYS_sched_getaffinity && answer > 0) {
        const mask cpus = machine().mask_of(static_cast<int>(thread));
        std::memset(bytes, 0, static_cast<std::size_t>(words[1]));
        std::memcpy(bytes, &cpus, sizeof cpus);
    }
    return answer;
}
