// SPDX-License-Identifier: Apache-2.0
//
// Preloaded behind commtask-run's library: writes at an offset begin well and find no space on the device when they are
// completed, as those of a real file may. Every other call is MPI's own.
#include <mpi.h>
#include <stddef.h>

#define EXPORTED __attribute__((visibility("default")))

static int say_no_space(void* state, MPI_Status* status) {
    (void)state;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_ERROR = MPI_ERR_NO_SPACE; // where an MPI takes it from there
    return MPI_ERR_NO_SPACE;
}
static int do_nothing(void* state) {
    (void)state;
    return MPI_SUCCESS;
}
static int cannot_cancel(void* state, int has_ended) {
    (void)state;
    (void)has_ended;
    return MPI_SUCCESS;
}

// By both names, or it would look like the MPI of a tool.
EXPORTED int PMPI_File_iwrite_at(MPI_File file, MPI_Offset offset, const void* buffer, int n, MPI_Datatype type,
                                 MPI_Request* request) {
    (void)file;
    (void)offset;
    (void)buffer;
    (void)n;
    (void)type;
    const int code = PMPI_Grequest_start(say_no_space, do_nothing, cannot_cancel, NULL, request);
    return code == MPI_SUCCESS ? PMPI_Grequest_complete(*request) : code;
}
EXPORTED int MPI_File_iwrite_at(MPI_File file, MPI_Offset offset, const void* buffer, int n, MPI_Datatype type,
                                MPI_Request* request) {
    return PMPI_File_iwrite_at(file, offset, buffer, n, type, request);
}
