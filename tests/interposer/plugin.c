// SPDX-License-Identifier: Apache-2.0
//
// The plugin of plugin_host.c: a whole MPI run from Init to Finalize in a library that was loaded late. It says enough
// for the comparison to see that its calls did their work.
#include "probe.h"

static void ring(void) {
    int in = -1;
    int sum = -1;
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Irecv(&in, 1, MPI_INT, previous_rank(), 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&me, 1, MPI_INT, next_rank(), 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[0], &status);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    say_status("ring", &status, MPI_INT);
    MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say("sum %d", sum);
}

__attribute__((visibility("default"))) int probe_plugin_run(void);
int probe_plugin_run(void) {
    static const struct probe_case cases[] = {{"ring", ring, 1}};
    char* words[] = {(char[]){"plugin"}, NULL};
    return probe_main(1, words, cases, PROBE_COUNT(cases));
}
