// SPDX-License-Identifier: Apache-2.0
//
// A new thread inherits the signal mask. The mask is set around the creation, so the new thread
// never takes a signal that it should not. Signals for the thread's own faults stay unblocked;
// otherwise the kernel would kill the process without calling the program's handler.
#include "base/library_thread.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include <sys/resource.h>

namespace commtask::detail {
namespace {

/// The stack size for functions of the program under the stack limit `unlimited`: the usual default
/// for a main thread.
constexpr std::size_t least_stack_bytes = std::size_t{16} << 20U;

/// The data that the new thread takes over.
struct beginning {
    std::string name;
    std::function<void()> function;
};

[[nodiscard]] int create(pthread_t& id, std::size_t stack_bytes, void* (*run)(void*), void* argument) noexcept {
    pthread_attr_t attributes;
    if (const int failure = pthread_attr_init(&attributes); failure != 0) return failure;
    int failure = stack_bytes == 0 ? 0 : pthread_attr_setstacksize(&attributes, stack_bytes);
    if (failure == 0) failure = pthread_create(&id, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return failure;
}

/// @return all signals except `taken` and the signals of faults
[[nodiscard]] sigset_t blocked_beside(const sigset_t& taken) noexcept {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&blocked, fault);
    for (int number = 1; number < NSIG; ++number) {
        if (sigismember(&taken, number) == 1) sigdelset(&blocked, number);
    }
    return blocked;
}

} // namespace

std::size_t stack_for_functions_bytes(std::size_t asked_bytes) noexcept {
    rlimit limit{};
    const bool has_limit = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    // glibc requires a multiple of the page size on some processors.
    constexpr std::size_t page_bytes = 4096;
    const std::size_t largest =
        std::max({least_stack_bytes, asked_bytes, has_limit ? static_cast<std::size_t>(limit.rlim_cur) : 0});
    return largest / page_bytes * page_bytes;
}

library_thread::~library_thread() { COMMTASK_ASSERT(!is_joinable_); }

void* library_thread::run(void* argument) {
    const std::unique_ptr<beginning> mine{static_cast<beginning*>(argument)};
    i_am_one = true;
    pthread_setname_np(pthread_self(), mine->name.c_str());
    mine->function();
    return nullptr;
}

void library_thread::start(const plan& as, std::function<void()> function) {
    auto begins = std::make_unique<beginning>(as.name, std::move(function));
    const sigset_t blocked = blocked_beside(as.signals);
    sigset_t before;
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    std::size_t stack_bytes = as.stack_bytes;
    int failure = create(id_, stack_bytes, &run, begins.get());
    while (failure != 0 && stack_bytes > 0) {
        stack_bytes = stack_bytes > least_stack_bytes ? stack_bytes / 2 : 0;
        failure = create(id_, stack_bytes, &run, begins.get());
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (failure != 0) throw std::system_error{failure, std::generic_category(), "a thread of commtask"};
    [[maybe_unused]] const beginning* const is_the_threads = begins.release();
    is_joinable_ = true;
}

void library_thread::join() noexcept {
    pthread_join(std::exchange(id_, pthread_t{}), nullptr);
    is_joinable_ = false;
}

void library_thread::detach() noexcept {
    pthread_detach(std::exchange(id_, pthread_t{}));
    is_joinable_ = false;
}

} // namespace commtask::detail
