// SPDX-License-Identifier: Apache-2.0
// A coroutine that does not say where it goes on would have to go on on the worker, and stop all communication while it
// computes. The compiler asks for an executor instead.
// expect: this coroutine has no executor
#include <commtask/commtask.hpp>

#include <coroutine>
#include <exception>

struct foreign {
    struct promise_type {
        foreign get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

foreign waits(commtask::executor& where, commtask::task& awaited) {
#ifdef WRONG
    static_cast<void>(where);
    static_cast<void>(co_await awaited);
#else
    static_cast<void>(co_await commtask::resume_on(where, awaited));
#endif
}
