// SPDX-License-Identifier: Apache-2.0
//
// A file is closed while a write to it goes on (slow_file.c), and the program waits for the write afterwards: MPI does not promise
// anything then, and nothing is lost.
#include "probe.h"

static void waits_after_the_close(void) {
    char path[32];
    snprintf(path, sizeof path, "closed.%d.of.%d", me, n_ranks);
    enum { n = 64 };
    int out[n];
    int in[n];
    int count = 0;
    MPI_File file = MPI_FILE_NULL;
    MPI_Request request;
    MPI_Status status;
    fill(out, n, me, 1);
    EXPECT(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    EXPECT(MPI_File_iwrite_at(file, 0, out, n, MPI_INT, &request) == MPI_SUCCESS);
    EXPECT(MPI_File_close(&file) == MPI_SUCCESS && file == MPI_FILE_NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    EXPECT(MPI_Wait(&request, &status) == MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Get_count(&status, MPI_INT, &count);
    EXPECT(count == n);
    EXPECT(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file) ==
           MPI_SUCCESS);
    MPI_File_read_at(file, 0, in, n, MPI_INT, MPI_STATUS_IGNORE);
    EXPECT(is_filled(in, n, me, 1));
    MPI_File_close(&file);
}

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {{"waits_after_the_close", waits_after_the_close, 1}};
    return probe_main(argc, argv, cases, PROBE_COUNT(cases));
}
