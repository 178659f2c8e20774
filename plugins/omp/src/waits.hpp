// SPDX-License-Identifier: Apache-2.0
//
// Makes progress on a thread that waits in OpenMP, if the worker is shared: libomp's own waiting
// spins, and each switch between this thread and the worker would cost a time slice of the
// operating system. An OMPT callback at the beginning of the wait makes progress until the
// communication tasks that the construct waits for have ended; libomp waits for all other tasks.
#pragma once

#include <omp-tools.h>

namespace commtask::omp::waits {

/// OMPT callbacks.
void on_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task,
             const void* where);
void on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t which, const void* where);
void on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t which, const void* where);

} // namespace commtask::omp::waits
