// SPDX-License-Identifier: Apache-2.0
// A receive writes its buffer: one that points to const must be refused by the compiler and not found at run time,
// when the page is read-only.
// expect: discards .*qualifier
#include <commtask/commtask.h>

#ifdef WRONG
commtask_op operation(const int* buffer) { return commtask_op_recv(buffer, 1, MPI_INT, 0, 0, MPI_COMM_WORLD); }
#else
commtask_op operation(int* buffer) { return commtask_op_recv(buffer, 1, MPI_INT, 0, 0, MPI_COMM_WORLD); }
#endif
