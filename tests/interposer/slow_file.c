// SPDX-License-Identifier: Apache-2.0
//
// Preloaded behind commtask-run's library: a write at an offset is done only when MPI has been asked for it again and again, as one
// of a slow device would be, and is lost if the file is closed before. Every other call is MPI's own.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

#define EXPORTED __attribute__((visibility("default")))

enum { looks = 100 };
static struct {
    MPI_File file;
    MPI_Offset offset;
    const void* buffer;
    int n;
    MPI_Datatype type;
    MPI_Request request;
    int n_looks;
    int is_open;
    int code;
} write_now;

static int say_what_came_of_it(void* state, MPI_Status* status) {
    (void)state;
    PMPI_Status_set_elements(status, write_now.type, write_now.code == MPI_SUCCESS ? write_now.n : 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_ERROR = write_now.code;
    return write_now.code;
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
static void end_it(int code) {
    write_now.is_open = 0;
    write_now.code = code;
    PMPI_Grequest_complete(write_now.request);
}

// By both names, or it would look like the MPI of a tool.
EXPORTED int PMPI_File_iwrite_at(MPI_File file, MPI_Offset offset, const void* buffer, int n, MPI_Datatype type,
                                 MPI_Request* request) {
    const int code = PMPI_Grequest_start(say_what_came_of_it, do_nothing, cannot_cancel, NULL, request);
    write_now.file = file;
    write_now.offset = offset;
    write_now.buffer = buffer;
    write_now.n = n;
    write_now.type = type;
    write_now.request = *request;
    write_now.n_looks = 0;
    write_now.is_open = code == MPI_SUCCESS;
    return code;
}
EXPORTED int MPI_File_iwrite_at(MPI_File file, MPI_Offset offset, const void* buffer, int n, MPI_Datatype type,
                                MPI_Request* request) {
    return PMPI_File_iwrite_at(file, offset, buffer, n, type, request);
}

static void look(void) {
    if (!write_now.is_open || ++write_now.n_looks < looks) return;
    end_it(PMPI_File_write_at(write_now.file, write_now.offset, write_now.buffer, write_now.n, write_now.type,
                              MPI_STATUS_IGNORE));
}
EXPORTED int PMPI_Testsome(int n, MPI_Request* requests, int* n_ended, int* indices, MPI_Status* statuses) {
    static int (*next)(int, MPI_Request*, int*, int*, MPI_Status*);
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Testsome");
    look();
    return next(n, requests, n_ended, indices, statuses);
}
EXPORTED int MPI_Testsome(int n, MPI_Request* requests, int* n_ended, int* indices, MPI_Status* statuses) {
    return PMPI_Testsome(n, requests, n_ended, indices, statuses);
}
EXPORTED int PMPI_File_close(MPI_File* file) {
    static int (*next)(MPI_File*);
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_File_close");
    if (write_now.is_open && write_now.file == *file) end_it(MPI_ERR_IO);
    return next(file);
}
EXPORTED int MPI_File_close(MPI_File* file) { return PMPI_File_close(file); }
