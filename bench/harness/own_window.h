/* SPDX-License-Identifier: Apache-2.0
 *
 * A window over memory of one's own, where this MPI has such windows: Open MPI 4.1 only where processes may copy from each other
 * (docs/mpis.md). Tests have the question from here, too. */
#ifndef COMMTASK_BENCH_OWN_WINDOW_H
#define COMMTASK_BENCH_OWN_WINDOW_H

#include <mpi.h>

/** Collective. @return MPI_WIN_NULL, on all ranks, where this MPI has none */
static inline MPI_Win make_own_window(void* memory, MPI_Aint bytes, int unit_bytes, MPI_Comm comm) {
    MPI_Win made = MPI_WIN_NULL;
    MPI_Errhandler before = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(comm, &before);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    const int code = MPI_Win_create(memory, bytes, unit_bytes, MPI_INFO_NULL, comm, &made);
    MPI_Comm_set_errhandler(comm, before);
    if (before != MPI_ERRORS_ARE_FATAL && before != MPI_ERRORS_RETURN) MPI_Errhandler_free(&before);
    return code == MPI_SUCCESS ? made : MPI_WIN_NULL;
}

#endif
