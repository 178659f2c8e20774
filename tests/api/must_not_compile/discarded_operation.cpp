// SPDX-License-Identifier: Apache-2.0
// An operation is a value: making it sends nothing. Whoever makes one and forgets to post it waits for ever for a
// message that nobody sent, so the compiler must say that the value is unused.
// expect: unused|ignoring return value
#include <commtask/commtask.h>

void forgets_to_post(const int* buffer) {
#ifdef WRONG
    commtask_op_send(buffer, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
#else
    const auto operation = commtask_op_send(buffer, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    (void)commtask_post_operation(&operation, nullptr, nullptr);
#endif
}
