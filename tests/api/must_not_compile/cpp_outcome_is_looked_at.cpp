// SPDX-License-Identifier: Apache-2.0
// An outcome that nobody looks at is an error that nobody sees: the program goes on with a halo that never came.
// Whoever does not care says so with a cast.
// expect: nodiscard|ignoring return|ignoring returned
#include <commtask/commtask.hpp>

void forgets(commtask::task& received) {
#ifdef WRONG
    received.wait();
#else
    static_cast<void>(received.wait());
#endif
}
