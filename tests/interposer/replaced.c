// SPDX-License-Identifier: Apache-2.0
//
// MPI_Sendrecv_replace of more bytes than an int counts, from a rank to itself: all of them come back, and the status says how
// many. Under commtask-run alone, since it is commtask that keeps the copy. It needs three times the buffer; a machine
// without that skips it.
#include "probe.h"

static size_t available_bytes(void) {
    char line[200];
    size_t kilobytes = 0;
    FILE* const file = fopen("/proc/meminfo", "r");
    while (file != NULL && kilobytes == 0 && fgets(line, sizeof line, file) != NULL) {
        sscanf(line, "MemAvailable: %zu", &kilobytes);
    }
    if (file != NULL) {
        fclose(file);
    }
    return 1024 * kilobytes;
}

int main(int argc, char** argv) {
    enum { count = 270000000, step = 4096 / sizeof(double) }; // a double of each page is looked at
    const size_t size = count * sizeof(double);
    if (available_bytes() < 3 * size) {
        return 77;
    }
    int n_received = -1;
    size_t n_wrong = 0;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    probe_start();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    double* const buffer = malloc(size);
    EXPECT(buffer != NULL);
    for (size_t i = 0; i < count; i += step) {
        buffer[i] = (double)i;
    }
    const int code = MPI_Sendrecv_replace(buffer, count, MPI_DOUBLE, me, 3, me, 3, MPI_COMM_WORLD, &status);
    EXPECT(code == MPI_SUCCESS);
    if (code == MPI_SUCCESS) {
        MPI_Get_count(&status, MPI_DOUBLE, &n_received);
        EXPECT(n_received == count);
        for (size_t i = 0; i < count; i += step) {
            n_wrong += buffer[i] != (double)i;
        }
        EXPECT(n_wrong == 0);
    }
    free(buffer);
    MPI_Finalize();
    return probe_result();
}
