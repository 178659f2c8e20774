/* SPDX-License-Identifier: Apache-2.0
 *
 * All operations, including the user-defined operations for MPI functions without an operation
 * of their own. The other headers of operations are generated from the table of operations;
 * docs/operations.md lists all operations. */
#ifndef COMMTASK_OPERATIONS_H
#define COMMTASK_OPERATIONS_H

#include <commtask/collectives.h>
#include <commtask/collectives_int.h>
#include <commtask/collectives_v.h>
#include <commtask/custom.h>
#include <commtask/files.h>
#include <commtask/many.h>
#include <commtask/messages.h>
#include <commtask/one_sided.h>

#endif
