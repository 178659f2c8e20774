// SPDX-License-Identifier: Apache-2.0
//
// Thousands of requests at once: far more than any table of fixed size holds, completed in and against the order in
// which they were posted, and with handles that stay distinct while they live.
#include "probe.h"

enum { n = 6000 };
static int out[n];
static int in[n];
static MPI_Request receives[n];
static MPI_Request sends[n];

static void post_all(int salt) {
    fill(out, n, me, salt);
    for (int i = 0; i < n; ++i) {
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, previous_rank(), i, MPI_COMM_WORLD, &receives[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void send_all(bool is_backwards) {
    for (int k = 0; k < n; ++k) {
        const int i = is_backwards ? n - 1 - k : k;
        MPI_Isend(&out[i], 1, MPI_INT, next_rank(), i, MPI_COMM_WORLD, &sends[i]);
    }
}

static void all_at_once(void) {
    post_all(1);
    send_all(false);
    MPI_Waitall(n, receives, MPI_STATUSES_IGNORE);
    MPI_Waitall(n, sends, MPI_STATUSES_IGNORE);
    EXPECT(is_filled(in, n, previous_rank(), 1));
    for (int i = 0; i < n; ++i) {
        EXPECT(receives[i] == MPI_REQUEST_NULL && sends[i] == MPI_REQUEST_NULL);
    }
}

static void backwards_and_by_some(void) {
    static int indices[n];
    static MPI_Status statuses[n];
    post_all(2);
    send_all(true);
    for (int done = 0; done < n;) {
        int count = 0;
        MPI_Waitsome(n, receives, &count, indices, statuses);
        for (int i = 0; i < count; ++i) {
            EXPECT(statuses[i].MPI_TAG == indices[i]);
        }
        done += count;
    }
    MPI_Waitall(n, sends, MPI_STATUSES_IGNORE);
    EXPECT(is_filled(in, n, previous_rank(), 2));
}

static int compare(const void* left, const void* right) { return memcmp(left, right, sizeof(MPI_Request)); }

static void distinct_handles(void) {
    static MPI_Request sorted[n];
    post_all(3);
    memcpy(sorted, receives, sizeof receives);
    qsort(sorted, n, sizeof *sorted, compare);
    int n_equal = 0;
    for (int i = 1; i < n; ++i) {
        n_equal += sorted[i] == sorted[i - 1];
    }
    EXPECT(n_equal == 0);
    send_all(false);
    for (int i = n - 1; i >= 0; --i) {
        MPI_Wait(&receives[i], MPI_STATUS_IGNORE);
    }
    MPI_Waitall(n, sends, MPI_STATUSES_IGNORE);
    EXPECT(is_filled(in, n, previous_rank(), 3));
}

static void many_times_few(void) {
    for (int turn = 0; turn < 3000; ++turn) {
        MPI_Request requests[4];
        int got[2] = {-1, -1};
        int sent[2] = {turn, turn + 1};
        for (int i = 0; i < 2; ++i) {
            MPI_Irecv(&got[i], 1, MPI_INT, previous_rank(), i, MPI_COMM_WORLD, &requests[i]);
            MPI_Isend(&sent[i], 1, MPI_INT, next_rank(), i, MPI_COMM_WORLD, &requests[2 + i]);
        }
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        EXPECT(got[0] == turn && got[1] == turn + 1);
    }
}

static void many_collectives(void) {
    enum { n_sums = 500 };
    static int sums[n_sums];
    static int parts[n_sums];
    static MPI_Request requests[n_sums];
    for (int i = 0; i < n_sums; ++i) {
        parts[i] = me + i;
        MPI_Iallreduce(&parts[i], &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = n_sums - 1; i >= 0; --i) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        EXPECT(sums[i] == n_ranks * (n_ranks - 1) / 2 + n_ranks * i);
    }
}

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {
        {"all_at_once", all_at_once, 1},           {"backwards_and_by_some", backwards_and_by_some, 1},
        {"distinct_handles", distinct_handles, 1}, {"many_times_few", many_times_few, 1},
        {"many_collectives", many_collectives, 1},
    };
    return probe_main(argc, argv, cases, PROBE_COUNT(cases));
}
