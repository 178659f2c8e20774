/* SPDX-License-Identifier: Apache-2.0
 *
 * All operations, from the smallest message to the doors for what has no function here. These headers are written
 * from the table of operations; docs/operations.md lists what is in them. */
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
