// SPDX-License-Identifier: Apache-2.0
//
// A thread of the library. Functions of the program run on it (reductions, callbacks), so it has a stack of the size that the program's
// own thread has; and it takes no signal from the program's threads. std::thread has neither: its stack is 2 MiB where the
// limit is `unlimited`, and its signals are those of the thread that made it.
#pragma once

#include <csignal>
#include <cstddef>
#include <functional>

#include <pthread.h>

namespace commtask::detail {

/// @param asked_bytes  by COMMTASK_STACK_SIZE, or 0
/// @return the largest of that, the process's limit and 16 MiB
[[nodiscard]] std::size_t stack_for_functions_bytes(std::size_t asked_bytes) noexcept;

/// Like std::thread, and not copied or moved. One thread at a time uses it.
class library_thread {
public:
    struct plan {
        const char* name;            ///< At most 15 characters.
        std::size_t stack_bytes = 0; ///< Reserved, not touched; 0: the default of the system.
        sigset_t signals =
            {}; ///< Signals that it takes, by sigaddset; all others are blocked, but for faults of its own.
    };

    library_thread() noexcept = default;
    library_thread(const library_thread&) = delete;
    library_thread& operator=(const library_thread&) = delete;
    /// It was joined or detached.
    ~library_thread();

    /// Begins. A stack that the system does not give becomes smaller, down to the default.
    /// @throws std::system_error if the system gives no thread.
    void start(const plan& as, std::function<void()> function);

    [[nodiscard]] bool joinable() const noexcept { return is_joinable_; }
    void join() noexcept;
    void detach() noexcept;
    /// Whether the calling thread is this one.
    [[nodiscard]] bool is_me() const noexcept { return pthread_equal(id_, pthread_self()) != 0; }

    /// Whether the calling thread is one of the library's.
    [[nodiscard]] static bool am_i() noexcept { return i_am_one; }

private:
    static inline constinit thread_local bool i_am_one = false;
    static void* run(void* function);

    pthread_t id_{}; ///< No thread's at first, and again after its end.
    bool is_joinable_ = false;
};

} // namespace commtask::detail
