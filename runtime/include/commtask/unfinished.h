/* SPDX-License-Identifier: Apache-2.0
 *
 * For faces that keep operations of their own before they post them, as the OpenMP face does with tasks whose dependences
 * are not met: what they hold appears in the lists of unfinished tasks. Not for callers. */
#ifndef COMMTASK_UNFINISHED_H
#define COMMTASK_UNFINISHED_H

#include <commtask/operation.h>
#include <commtask/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Takes one operation into a list. */
typedef void (*commtask_unfinished_add)(void* list, const commtask_op* operation, uint64_t since_ns, const char* where);

/** Lists what a face holds: calls `add` for each, with CLOCK_MONOTONIC's time and where it waits. With `add` null it only
 *  counts. Runs on any thread; must not block, nor call the library.
 *  Returns how many there are. */
typedef size_t (*commtask_unfinished_source)(commtask_unfinished_add add, void* list);

/** Says who lists what is not posted yet.
 *  @param source  one of the process; it must stay loaded. */
COMMTASK_API void commtask_unfinished_from(commtask_unfinished_source source) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
