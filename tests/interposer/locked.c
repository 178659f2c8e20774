// SPDX-License-Identifier: Apache-2.0
//
// A program that locks its memory, as those with deadlines do: what the interposer keeps in reserve must not become memory
// then. Where the system does not allow so much to be locked there is nothing to see, natively too.
#include "probe.h"

#include <sys/mman.h>

static long resident_megabytes(void) {
    FILE* const file = fopen("/proc/self/statm", "r");
    long all = 0;
    long resident = 0;
    EXPECT(file != NULL && fscanf(file, "%ld %ld", &all, &resident) == 2);
    if (file != NULL) fclose(file);
    return resident / 256; // of 4 KiB; larger pages make it less
}

static void all_memory(void) {
    if (mlockall(MCL_CURRENT) != 0) return;
    EXPECT(resident_megabytes() < 1000);
    // Handles go on coming, more than were open when it was locked.
    enum { n_requests = 20000 };
    static MPI_Request requests[n_requests];
    static int in[n_requests];
    for (int i = 0; i < n_requests; ++i) {
        MPI_Irecv(&in[i], 1, MPI_INT, previous_rank(), 1, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < n_requests; ++i) MPI_Send(&i, 1, MPI_INT, next_rank(), 1, MPI_COMM_WORLD);
    MPI_Waitall(n_requests, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n_requests; ++i) EXPECT(in[i] == i);
    munlockall();
}

int main(int argc, char** argv) {
    const struct probe_case cases[] = {{"all_memory", all_memory, 1}};
    return probe_main(argc, argv, cases, 1);
}
