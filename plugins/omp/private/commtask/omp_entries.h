/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of libcommtask-omp that libcommtask-omp-bind and libcommtask-tampi call; not
 * installed. */
#ifndef COMMTASK_OMP_ENTRIES_H
#define COMMTASK_OMP_ENTRIES_H

#include <commtask/commtask.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Registers libcommtask-omp-bind, which calls this function when it is loaded.
 *  @param runtime  the functions of the OpenMP runtime.
 *  @param inside   an address in libcommtask-omp-bind.
 *  @return the functions to which libcommtask-omp-bind forwards its calls. */
COMMTASK_API const struct commtask_omp_entries* commtask_omp_bind_(const struct commtask_omp_entries* runtime,
                                                                   const void* inside) COMMTASK_NOEXCEPT;

/** Lets a thread that waits in a task start any other task from now on, also one that is no
 *  descendant of its tied tasks. libcommtask-tampi needs that for tasks that block. */
COMMTASK_API void commtask_omp_untie_(void) COMMTASK_NOEXCEPT;

/** Tests whether the calling thread has entered a critical section or taken a lock of OpenMP since
 *  commtask_omp_untie_.
 *  @return 1 or 0. */
COMMTASK_API int commtask_omp_binds_mutex_(void) COMMTASK_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
