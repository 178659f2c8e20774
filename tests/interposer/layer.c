// SPDX-License-Identifier: Apache-2.0
//
// The program that runs below a profiling tool (layer_tool.c), and what such a program may rely on itself: that it may
// call PMPI_X where it likes, and mix both names on the same requests.
#include "probe.h"

static void counted(void) {
    int in[3] = {-1, -1, -1};
    int sum = -1;
    MPI_Request requests[4];
    for (int i = 0; i < 2; ++i) {
        MPI_Irecv(&in[i], 1, MPI_INT, previous_rank(), i, MPI_COMM_WORLD, &requests[i]);
        MPI_Isend(&me, 1, MPI_INT, next_rank(), i, MPI_COMM_WORLD, &requests[2 + i]);
    }
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Irecv(&in[2], 1, MPI_INT, previous_rank(), 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(&me, 1, MPI_INT, next_rank(), 5, MPI_COMM_WORLD);
    MPI_Waitall(1, requests, MPI_STATUSES_IGNORE);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 3; ++i) {
        EXPECT(in[i] == previous_rank());
    }
    EXPECT(sum == n_ranks * (n_ranks - 1) / 2);
}

static void by_its_other_name(void) {
    int in[2] = {-1, -1};
    int sum = -1;
    MPI_Request requests[4];
    PMPI_Irecv(&in[0], 1, MPI_INT, previous_rank(), 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, previous_rank(), 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&me, 1, MPI_INT, next_rank(), 0, MPI_COMM_WORLD, &requests[2]);
    PMPI_Isend(&me, 1, MPI_INT, next_rank(), 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    PMPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    PMPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(in[0] == previous_rank() && in[1] == previous_rank() && sum == n_ranks * (n_ranks - 1) / 2);
    for (int i = 0; i < 4; ++i) {
        EXPECT(requests[i] == MPI_REQUEST_NULL);
    }
}

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {{"counted", counted, 1}, {"by_its_other_name", by_its_other_name, 1}};
    return probe_main(argc, argv, cases, PROBE_COUNT(cases));
}
