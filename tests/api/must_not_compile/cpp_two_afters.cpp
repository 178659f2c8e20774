// SPDX-License-Identifier: Apache-2.0
// The options of a post become one struct with one list of predecessors: a second after() would silently replace the
// first, and the task would start too early.
// expect: name all predecessors in one after
#include <commtask/commtask.hpp>

commtask::task posted(const commtask::task& first, const commtask::event& second) {
#ifdef WRONG
    return commtask::post(commtask::noop(), commtask::after(first), commtask::after(second));
#else
    return commtask::post(commtask::noop(), commtask::after(first, second));
#endif
}
