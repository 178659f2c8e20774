// SPDX-License-Identifier: Apache-2.0
//
// A thread of the library. Its stack is as large as that of the main thread, since it runs
// functions of the program (reductions, callbacks). Signals for the program's threads are blocked.
// std::thread has neither property: its stack has 2 MiB under the limit `unlimited`, and it
// inherits the signal mask.
#pragma once

#include <csignal>
#include <cstddef>
#include <functional>

#include <pthread.h>

namespace commtask::detail {

/// @param asked_bytes  the value of COMMTASK_STACK_SIZE, or 0
/// @return the largest of `asked_bytes`, the process's stack limit and 16 MiB
[[nodiscard]] std::size_t stack_for_functions_bytes(std::size_t asked_bytes) noexcept;

/// Like std::thread, but neither copyable nor movable. Not thread-safe.
class library_thread {
public:
    struct plan {
        const char* name;            ///< At most 15 characters.
        std::size_t stack_bytes = 0; ///< Reserved, not touched; 0: the system's default.
        /// The signals that the thread takes. All others are blocked, except for its own faults.
        sigset_t signals = {};
    };

    library_thread() noexcept = default;
    library_thread(const library_thread&) = delete;
    library_thread& operator=(const library_thread&) = delete;
    /// Precondition: the thread was joined or detached.
    ~library_thread();

    /// Starts the thread. If the system refuses the stack size, tries smaller ones, down to the
    /// default.
    /// @throws std::system_error if the system gives no thread
    void start(const plan& as, std::function<void()> function);

    [[nodiscard]] bool joinable() const noexcept { return is_joinable_; }
    void join() noexcept;
    void detach() noexcept;
    /// Whether the calling thread is this one.
    [[nodiscard]] bool is_me() const noexcept { return pthread_equal(id_, pthread_self()) != 0; }

    /// Whether the calling thread is any thread of the library.
    [[nodiscard]] static bool am_i() noexcept { return i_am_one; }

private:
    static inline constinit thread_local bool i_am_one = false;
    static void* run(void* function);

    pthread_t id_{}; ///< Zero before the start, and after join() or detach().
    bool is_joinable_ = false;
};

} // namespace commtask::detail
