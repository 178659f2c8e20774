// SPDX-License-Identifier: Apache-2.0
//
// A thread of the library. Functions of the program run on it (reductions, callbacks), so its stack
// is as large as the stack of the program's main thread. It takes no signal from the program's
// threads. std::thread has neither property: its stack is 2 MiB where the limit is `unlimited`, and
// its signal mask is that of the thread that created it.
#pragma once

#include <csignal>
#include <cstddef>
#include <functional>

#include <pthread.h>

namespace commtask::detail {

/// @param asked_bytes  the value of COMMTASK_STACK_SIZE, or 0
/// @return the largest of `asked_bytes`, the process's limit and 16 MiB
[[nodiscard]] std::size_t stack_for_functions_bytes(std::size_t asked_bytes) noexcept;

/// Like std::thread, but never copied or moved. One thread at a time uses the object.
class library_thread {
public:
    struct plan {
        const char* name;            ///< At most 15 characters.
        std::size_t stack_bytes = 0; ///< Reserved, not touched; 0: the default of the system.
        /// Signals that the thread takes, set by sigaddset; all other signals are blocked, except
        /// for faults of its own.
        sigset_t signals = {};
    };

    library_thread() noexcept = default;
    library_thread(const library_thread&) = delete;
    library_thread& operator=(const library_thread&) = delete;
    /// The thread was joined or detached before.
    ~library_thread();

    /// Starts the thread. If the system does not give the stack, smaller stacks are tried, down to
    /// the default.
    /// @throws std::system_error if the system gives no thread
    void start(const plan& as, std::function<void()> function);

    [[nodiscard]] bool joinable() const noexcept { return is_joinable_; }
    void join() noexcept;
    void detach() noexcept;
    /// Whether the calling thread is this one.
    [[nodiscard]] bool is_me() const noexcept { return pthread_equal(id_, pthread_self()) != 0; }

    /// Whether the calling thread is a thread of the library.
    [[nodiscard]] static bool am_i() noexcept { return i_am_one; }

private:
    static inline constinit thread_local bool i_am_one = false;
    static void* run(void* function);

    pthread_t id_{}; ///< The id of no thread at first, and again after the thread's end.
    bool is_joinable_ = false;
};

} // namespace commtask::detail
