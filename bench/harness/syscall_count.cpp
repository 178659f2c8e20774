// SPDX-License-Identifier: Apache-2.0
//
// The filter lets two things pass: the return from a signal handler, and calls made from one instruction of this file,
// which the handler uses to carry out what it has counted. Everything else comes as SIGSYS. Written for x86-64; on
// another machine the check says that it cannot run.
#include "harness/syscall_count.h"

#include <atomic>

#if defined(__x86_64__)
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#endif

namespace {

std::atomic<std::uint64_t> n_seen{0};
std::atomic<int> last_seen{-1};

} // namespace

#if defined(__x86_64__)

// Arguments as a C function receives them, turned into those of a system call; the label behind the instruction is what
// the kernel reports as the caller.
extern "C" long commtask_bench_system_call(long number, long a, long b, long c, long d, long e, long f);
extern "C" const char commtask_bench_after_system_call[];
__asm__(".text\n"
        ".type commtask_bench_system_call,@function\n"
        "commtask_bench_system_call:\n"
        "  mov %rdi, %rax\n"
        "  mov %rsi, %rdi\n"
        "  mov %rdx, %rsi\n"
        "  mov %rcx, %rdx\n"
        "  mov %r8, %r10\n"
        "  mov %r9, %r8\n"
        "  mov 8(%rsp), %r9\n"
        "  syscall\n"
        "commtask_bench_after_system_call:\n"
        "  ret\n");

namespace {

void on_system_call(int /*signal*/, siginfo_t* info, void* context) {
    n_seen.fetch_add(1, std::memory_order_relaxed); // read by the same thread, or after it has been joined
    last_seen.store(info->si_syscall, std::memory_order_relaxed);
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    registers[REG_RAX] =
        commtask_bench_system_call(info->si_syscall, registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                                   registers[REG_R10], registers[REG_R8], registers[REG_R9]);
}

} // namespace

std::string commtask::bench::watch_system_calls_of_this_thread() {
    struct sigaction action{};
    action.sa_sigaction = on_system_call;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    if (sigaction(SIGSYS, &action, nullptr) != 0) {
        return std::string("sigaction: ") + std::strerror(errno);
    }
    const auto pass = reinterpret_cast<std::uintptr_t>(commtask_bench_after_system_call);
    constexpr auto ip_low = static_cast<std::uint32_t>(offsetof(seccomp_data, instruction_pointer));
    std::array<sock_filter, 8> rules{
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 5, 0),
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ip_low),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(pass), 0, 2),
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ip_low + 4),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(pass >> 32U), 1, 0),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program{.len = rules.size(), .filter = rules.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        return std::string("seccomp: ") + std::strerror(errno);
    }
    return "";
}

#else

std::string commtask::bench::watch_system_calls_of_this_thread() { return "needs an x86-64 processor"; }

#endif

std::uint64_t commtask::bench::system_calls_seen() noexcept { return n_seen.load(std::memory_order_relaxed); }

int commtask::bench::last_system_call_seen() noexcept { return last_seen.load(std::memory_order_relaxed); }
