/* SPDX-License-Identifier: Apache-2.0 lint-allow(file-name): the name that programs for TAMPI include
 *
 * For Fortran programs that were written for TAMPI: included by the preprocessor. The subroutines have no interface here, as in
 * its documentation, so that buffers of every type and rank can be given; handles are integers. */
#ifndef COMMTASK_TAMPIF_H
#define COMMTASK_TAMPIF_H
#define MPI_TASK_MULTIPLE (MPI_THREAD_MULTIPLE + 1)
#endif
