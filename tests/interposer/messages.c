// SPDX-License-Identifier: Apache-2.0
//
// Point-to-point messages in every mode, blocking and not, of every size class, with wildcards, datatypes and the
// statuses that the standard promises. The order of messages is checked with bursts in which every message could
// overtake every other.
#include "probe.h"

static void blocking_modes(void) {
    int out[64];
    int in[64];
    int size = 0;
    MPI_Pack_size(64, MPI_INT, MPI_COMM_WORLD, &size);
    size += MPI_BSEND_OVERHEAD;
    char* buffer = malloc((size_t)size);
    MPI_Buffer_attach(buffer, size);
    for (int mode = 0; mode < 4; ++mode) {
        MPI_Request request;
        MPI_Status status;
        fill(out, 64, me, mode);
        MPI_Irecv(in, 64, MPI_INT, previous_rank(), mode, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        switch (mode) {
        case 0: MPI_Send(out, 64, MPI_INT, next_rank(), mode, MPI_COMM_WORLD); break;
        case 1: MPI_Ssend(out, 64, MPI_INT, next_rank(), mode, MPI_COMM_WORLD); break;
        case 2: MPI_Bsend(out, 64, MPI_INT, next_rank(), mode, MPI_COMM_WORLD); break;
        default: MPI_Rsend(out, 64, MPI_INT, next_rank(), mode, MPI_COMM_WORLD); break;
        }
        MPI_Wait(&request, &status);
        say_status("recv", &status, MPI_INT);
        EXPECT(is_filled(in, 64, previous_rank(), mode));
    }
    void* detached = NULL;
    MPI_Buffer_detach((void*)&detached, &size);
    EXPECT(detached == buffer);
    free(buffer);
}

static void bsend_may_reuse_its_buffer_at_once(void) {
    static char buffer[1 << 16];
    int value = 0;
    MPI_Buffer_attach(buffer, sizeof buffer);
    for (int i = 0; i < 20; ++i) {
        value = me * 100 + i;
        MPI_Bsend(&value, 1, MPI_INT, next_rank(), 7, MPI_COMM_WORLD);
        value = -1;
    }
    for (int i = 0; i < 20; ++i) {
        int got = -1;
        MPI_Recv(&got, 1, MPI_INT, previous_rank(), 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT(got == previous_rank() * 100 + i);
    }
    void* detached = NULL;
    int size = 0;
    MPI_Buffer_detach((void*)&detached, &size);
}

static void nonblocking_modes(void) {
    static char buffer[1 << 16];
    int out[64];
    int in[4][64];
    MPI_Request requests[8];
    MPI_Status statuses[8];
    MPI_Buffer_attach(buffer, sizeof buffer);
    fill(out, 64, me, 1);
    for (int i = 0; i < 4; ++i) {
        MPI_Irecv(in[i], 64, MPI_INT, previous_rank(), i, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(out, 64, MPI_INT, next_rank(), 0, MPI_COMM_WORLD, &requests[4]);
    MPI_Issend(out, 64, MPI_INT, next_rank(), 1, MPI_COMM_WORLD, &requests[5]);
    MPI_Ibsend(out, 64, MPI_INT, next_rank(), 2, MPI_COMM_WORLD, &requests[6]);
    MPI_Irsend(out, 64, MPI_INT, next_rank(), 3, MPI_COMM_WORLD, &requests[7]);
    MPI_Waitall(8, requests, statuses);
    for (int i = 0; i < 4; ++i) {
        say_status("recv", &statuses[i], MPI_INT);
        EXPECT(is_filled(in[i], 64, previous_rank(), 1));
    }
    void* detached = NULL;
    int size = 0;
    MPI_Buffer_detach((void*)&detached, &size);
}

static void sizes(void) {
    for (int n = 1; n <= 1 << 20; n *= 8) {
        int* out = malloc(sizeof(int) * (size_t)n);
        int* in = malloc(sizeof(int) * (size_t)n);
        MPI_Status status;
        fill(out, n, me, n);
        MPI_Sendrecv(out, n, MPI_INT, next_rank(), 5, in, n, MPI_INT, previous_rank(), 5, MPI_COMM_WORLD, &status);
        EXPECT(is_filled(in, n, previous_rank(), n));
        say_status("sendrecv", &status, MPI_INT);
        MPI_Request requests[2];
        memset(in, 0, sizeof(int) * (size_t)n);
        MPI_Isend(out, n, MPI_INT, next_rank(), 6, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(in, n, MPI_INT, previous_rank(), 6, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        EXPECT(is_filled(in, n, previous_rank(), n));
        free(out);
        free(in);
    }
}

static void empty_message(void) {
    MPI_Status status;
    MPI_Sendrecv(NULL, 0, MPI_INT, next_rank(), 5, NULL, 0, MPI_INT, previous_rank(), 5, MPI_COMM_WORLD, &status);
    say_status("empty", &status, MPI_INT);
}

static void replace(void) {
    int values[32];
    MPI_Status status;
    fill(values, 32, me, 9);
    MPI_Sendrecv_replace(values, 32, MPI_INT, next_rank(), 5, previous_rank(), 5, MPI_COMM_WORLD, &status);
    EXPECT(is_filled(values, 32, previous_rank(), 9));
    say_status("replaced", &status, MPI_INT);
}

#if MPI_VERSION >= 4
static void nonblocking_sendrecv(void) {
    int values[32];
    int in[32];
    MPI_Status status;
    MPI_Request request;
    fill(values, 32, me, 9);
    MPI_Isendrecv(values, 32, MPI_INT, next_rank(), 5, in, 32, MPI_INT, previous_rank(), 5, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    EXPECT(is_filled(in, 32, previous_rank(), 9) && request == MPI_REQUEST_NULL);
    MPI_Isendrecv_replace(values, 32, MPI_INT, next_rank(), 5, previous_rank(), 5, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    EXPECT(is_filled(values, 32, previous_rank(), 9));
}
#endif

static void wildcards(void) {
    if (me != 0) {
        for (int i = 0; i < 5; ++i) {
            MPI_Send(&i, 1, MPI_INT, 0, me * 10 + i, MPI_COMM_WORLD);
        }
        return;
    }
    int n_from[64] = {0};
    for (int i = 0; i < 5 * (n_ranks - 1); ++i) {
        int value = -1;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        EXPECT(status.MPI_TAG == status.MPI_SOURCE * 10 + value);
        EXPECT(value == n_from[status.MPI_SOURCE]++); // messages of one sender do not overtake
    }
    say("%d messages of the last rank", n_from[n_ranks - 1]);
}

static void order_in_a_burst(void) {
    enum { n = 500 };
    static int in[n];
    static int out[n];
    static MPI_Request requests[2 * n];
    for (int i = 0; i < n; ++i) {
        in[i] = -1;
        out[i] = i;
        MPI_Irecv(&in[i], 1, MPI_INT, i % 3 ? previous_rank() : MPI_ANY_SOURCE, i % 2 ? 3 : MPI_ANY_TAG, MPI_COMM_WORLD,
                  &requests[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; ++i) {
        MPI_Isend(&out[i], 1, MPI_INT, next_rank(), 3, MPI_COMM_WORLD, &requests[n + i]);
    }
    MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; ++i) {
        EXPECT(in[i] == i);
    }
}

static void blocking_and_nonblocking_keep_their_order(void) {
    int out[3] = {10 + me, 20 + me, 30 + me};
    int in[3] = {0, 0, 0};
    MPI_Request requests[2];
    MPI_Request first;
    MPI_Irecv(&in[0], 1, MPI_INT, previous_rank(), 4, MPI_COMM_WORLD, &first);
    MPI_Isend(&out[0], 1, MPI_INT, next_rank(), 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&out[1], 1, MPI_INT, next_rank(), 4, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(&out[2], 1, MPI_INT, next_rank(), 4, MPI_COMM_WORLD);
    MPI_Recv(&in[1], 1, MPI_INT, previous_rank(), 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&in[2], 1, MPI_INT, previous_rank(), 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&first, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; ++i) {
        EXPECT(in[i] == (i + 1) * 10 + previous_rank());
    }
}

static void shorter_than_expected(void) {
    double out[4] = {1, 2, 3, 4};
    double in[16] = {0};
    MPI_Status status;
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    MPI_Sendrecv(out, 3, MPI_DOUBLE, next_rank(), 5, in, 8, pair, previous_rank(), 5, MPI_COMM_WORLD, &status);
    int count = 0;
    int elements = 0;
    MPI_Count elements_x = 0;
    MPI_Get_count(&status, pair, &count);
    MPI_Get_elements(&status, pair, &elements);
    MPI_Get_elements_x(&status, pair, &elements_x);
    say("%s pairs, %d doubles, %d", count == MPI_UNDEFINED ? "undefined" : "some", elements, (int)elements_x);
    MPI_Get_count(&status, MPI_BYTE, &count);
    say("%d bytes", count);
    MPI_Type_free(&pair);
}

static void set_by_hand(void) {
    MPI_Status status;
    memset(&status, 0, sizeof status);
    MPI_Status_set_elements(&status, MPI_INT, 5);
    MPI_Status_set_cancelled(&status, 0);
    status.MPI_SOURCE = 3;
    status.MPI_TAG = 4;
    say_status("by hand", &status, MPI_INT);
}

static void bottom(void) {
    int out = me;
    int in = -1;
    MPI_Aint where[2];
    MPI_Datatype types[2];
    const int one = 1;
    MPI_Get_address(&out, &where[0]);
    MPI_Get_address(&in, &where[1]);
    for (int i = 0; i < 2; ++i) {
        MPI_Type_create_hindexed(1, &one, &where[i], MPI_INT, &types[i]);
        MPI_Type_commit(&types[i]);
    }
    MPI_Sendrecv(MPI_BOTTOM, 1, types[0], next_rank(), 5, MPI_BOTTOM, 1, types[1], previous_rank(), 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    EXPECT(*(volatile int*)&in == previous_rank());
    MPI_Type_free(&types[0]);
    MPI_Type_free(&types[1]);
}

static void ping_pong(void) {
    int value = 0;
    if (me == 0) {
        for (int i = 0; i < 2000; ++i) {
            MPI_Send(&i, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            EXPECT(value == 2 * i);
        }
    } else if (me == 1) {
        for (int i = 0; i < 2000; ++i) {
            MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            value *= 2;
            MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
    }
}

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {
        {"blocking_modes", blocking_modes, 1},
        {"bsend_may_reuse_its_buffer_at_once", bsend_may_reuse_its_buffer_at_once, 1},
        {"nonblocking_modes", nonblocking_modes, 1},
        {"sizes", sizes, 1},
        {"empty_message", empty_message, 1},
        {"replace", replace, 1},
#if MPI_VERSION >= 4
        {"nonblocking_sendrecv", nonblocking_sendrecv, 1},
#endif
        {"wildcards", wildcards, 2},
        {"order_in_a_burst", order_in_a_burst, 1},
        {"blocking_and_nonblocking_keep_their_order", blocking_and_nonblocking_keep_their_order, 2},
        {"shorter_than_expected", shorter_than_expected, 1},
        {"set_by_hand", set_by_hand, 1},
        {"bottom", bottom, 1},
        {"ping_pong", ping_pong, 2},
    };
    return probe_main(argc, argv, cases, PROBE_COUNT(cases));
}
