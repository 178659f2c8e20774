// SPDX-License-Identifier: Apache-2.0
// A callback runs on the worker, below C functions: an exception that leaves it has nobody to catch it and would end the
// program. Its type must promise that there is none.
// expect: must be noexcept
#include <commtask/commtask.hpp>

#ifdef WRONG
#define PROMISE
#else
#define PROMISE noexcept
#endif
commtask::task posted(commtask::event& done) {
    return commtask::post(commtask::noop(),
                          commtask::then([&done]() PROMISE { static_cast<void>(done.try_signal()); }));
}
