// SPDX-License-Identifier: Apache-2.0
//
// Persistent requests: active and inactive by turns, and never MPI_REQUEST_NULL until they are freed. Started alone and
// together, completed by every call, mixed with ordinary and null ones, freed while active.
#include "probe.h"

static int out[4][64];
static int in[4][64];

static void init_pair(MPI_Request requests[2]) {
    MPI_Recv_init(in[0], 64, MPI_INT, previous_rank(), 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out[0], 64, MPI_INT, next_rank(), 1, MPI_COMM_WORLD, &requests[1]);
    EXPECT(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
}

static void start_again_and_again(void) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    init_pair(requests);
    const MPI_Request kept[2] = {requests[0], requests[1]};
    for (int turn = 0; turn < 50; ++turn) {
        fill(out[0], 64, me, turn);
        if (turn % 2) {
            MPI_Startall(2, requests);
        } else {
            MPI_Start(&requests[0]);
            MPI_Start(&requests[1]);
        }
        MPI_Waitall(2, requests, statuses);
        EXPECT(is_filled(in[0], 64, previous_rank(), turn));
        EXPECT(requests[0] == kept[0] && requests[1] == kept[1]);
    }
    say_status("last", &statuses[0], MPI_INT);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    EXPECT(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
}

static void inactive_is_complete_and_empty(void) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int index = 0;
    int flag = 0;
    int n = 0;
    int indices[2];
    init_pair(requests);
    MPI_Wait(&requests[0], &statuses[0]);
    say_status("wait", &statuses[0], MPI_INT);
    MPI_Test(&requests[0], &flag, &statuses[0]);
    EXPECT(flag == 1);
    say_status("test", &statuses[0], MPI_INT);
    flag = 0;
    MPI_Request_get_status(requests[1], &flag, &statuses[0]);
    EXPECT(flag == 1);
    MPI_Waitall(2, requests, statuses);
    say_status("waitall", &statuses[1], MPI_INT);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    EXPECT(index == MPI_UNDEFINED);
    MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
    EXPECT(index == MPI_UNDEFINED && flag == 1);
    MPI_Waitsome(2, requests, &n, indices, statuses);
    EXPECT(n == MPI_UNDEFINED);
    MPI_Testsome(2, requests, &n, indices, statuses);
    EXPECT(n == MPI_UNDEFINED);
    flag = 0;
    MPI_Testall(2, requests, &flag, statuses);
    EXPECT(flag == 1);
    EXPECT(requests[0] != MPI_REQUEST_NULL);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void any_passes_over_inactive_ones(void) {
    MPI_Request requests[5] = {MPI_REQUEST_NULL};
    int index = -1;
    int value = me;
    int got = -1;
    init_pair(&requests[1]);
    MPI_Irecv(&got, 1, MPI_INT, previous_rank(), 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Isend(&value, 1, MPI_INT, next_rank(), 2, MPI_COMM_WORLD, &requests[4]);
    for (int i = 0; i < 2; ++i) {
        MPI_Waitany(5, requests, &index, MPI_STATUS_IGNORE);
        EXPECT(index == 3 || index == 4);
    }
    EXPECT(got == previous_rank());
    fill(out[0], 64, me, 77);
    MPI_Startall(2, &requests[1]);
    for (int i = 0; i < 2; ++i) {
        MPI_Waitany(5, requests, &index, MPI_STATUS_IGNORE);
        EXPECT(index == 1 || index == 2);
        EXPECT(requests[index] != MPI_REQUEST_NULL);
    }
    MPI_Waitany(5, requests, &index, MPI_STATUS_IGNORE);
    EXPECT(index == MPI_UNDEFINED);
    EXPECT(is_filled(in[0], 64, previous_rank(), 77));
    MPI_Request_free(&requests[1]);
    MPI_Request_free(&requests[2]);
}

static void every_mode(void) {
    MPI_Request requests[8];
    int size = 0;
    MPI_Pack_size(64, MPI_INT, MPI_COMM_WORLD, &size);
    size += MPI_BSEND_OVERHEAD;
    char* buffer = malloc((size_t)size);
    MPI_Buffer_attach(buffer, size);
    for (int i = 0; i < 4; ++i) {
        MPI_Recv_init(in[i], 64, MPI_INT, previous_rank(), 10 + i, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Send_init(out[0], 64, MPI_INT, next_rank(), 10, MPI_COMM_WORLD, &requests[4]);
    MPI_Ssend_init(out[1], 64, MPI_INT, next_rank(), 11, MPI_COMM_WORLD, &requests[5]);
    MPI_Bsend_init(out[2], 64, MPI_INT, next_rank(), 12, MPI_COMM_WORLD, &requests[6]);
    MPI_Rsend_init(out[3], 64, MPI_INT, next_rank(), 13, MPI_COMM_WORLD, &requests[7]);
    for (int turn = 0; turn < 5; ++turn) {
        for (int i = 0; i < 4; ++i) {
            fill(out[i], 64, me, turn * 4 + i);
        }
        MPI_Startall(4, requests);
        MPI_Barrier(MPI_COMM_WORLD); // the ready send wants its receive posted
        MPI_Startall(4, &requests[4]);
        int n_done = 0;
        while (n_done < 8) {
            int n = 0;
            int indices[8];
            MPI_Testsome(8, requests, &n, indices, MPI_STATUSES_IGNORE);
            n_done += n == MPI_UNDEFINED ? 0 : n;
        }
        for (int i = 0; i < 4; ++i) {
            EXPECT(is_filled(in[i], 64, previous_rank(), turn * 4 + i));
        }
    }
    for (int i = 0; i < 8; ++i) {
        MPI_Request_free(&requests[i]);
    }
    void* detached = NULL;
    int detached_size = 0;
    MPI_Buffer_detach((void*)&detached, &detached_size);
    EXPECT(detached == buffer && detached_size == size);
    free(buffer);
}

static void freed_while_active(void) {
    MPI_Request requests[2];
    init_pair(requests);
    fill(out[0], 64, me, 5);
    MPI_Startall(2, requests);
    MPI_Request_free(&requests[1]);
    EXPECT(requests[1] == MPI_REQUEST_NULL);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    EXPECT(is_filled(in[0], 64, previous_rank(), 5));
    MPI_Request_free(&requests[0]);
}

static void wildcard(void) {
    MPI_Request request;
    MPI_Status status;
    MPI_Recv_init(in[0], 64, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    for (int turn = 0; turn < 3; ++turn) {
        MPI_Start(&request);
        MPI_Send(out[0], turn + 1, MPI_INT, next_rank(), 40 + turn, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
        say_status("wildcard", &status, MPI_INT);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Request_free(&request);
}

static void datatype_freed_before_the_start(void) {
    MPI_Datatype every_other;
    MPI_Request requests[2];
    MPI_Type_vector(32, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Recv_init(in[0], 1, every_other, previous_rank(), 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out[0], 1, every_other, next_rank(), 6, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&every_other);
    for (int turn = 0; turn < 3; ++turn) {
        fill(out[0], 64, me, turn);
        memset(in[0], 0, sizeof in[0]);
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        int expected[64];
        fill(expected, 64, previous_rank(), turn);
        for (int i = 0; i < 64; ++i) {
            EXPECT(i % 2 == 1 && i < 63 ? in[0][i] == 0 : i == 63 || in[0][i] == expected[i]);
        }
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void proc_null(void) {
    MPI_Request request;
    MPI_Status status;
    MPI_Recv_init(in[0], 64, MPI_INT, MPI_PROC_NULL, 6, MPI_COMM_WORLD, &request);
    for (int turn = 0; turn < 2; ++turn) {
        MPI_Start(&request);
        MPI_Wait(&request, &status);
        say_status("null", &status, MPI_INT);
        EXPECT(request != MPI_REQUEST_NULL);
    }
    MPI_Request_free(&request);
}

// Natively too MPICH 5 and Intel MPI refuse to cancel it.
#if !defined(I_MPI_VERSION) && (!defined(MPICH_NUMVERSION) || MPICH_NUMVERSION < 50000000)
#define CAN_CANCEL_WHAT_HAS_ENDED
/// For MPI a request that was seen complete is inactive; for the program it is active until a wait or test says so.
static void cancelled_after_the_end(void) {
    int value_out = 3;
    int value_in = -1;
    MPI_Request receive;
    MPI_Recv_init(&value_in, 1, MPI_INT, previous_rank(), 31, MPI_COMM_WORLD, &receive);
    MPI_Start(&receive);
    MPI_Send(&value_out, 1, MPI_INT, next_rank(), 31, MPI_COMM_WORLD);
    int has_ended = 0;
    while (!has_ended) {
        MPI_Request_get_status(receive, &has_ended, MPI_STATUS_IGNORE);
    }
    MPI_Cancel(&receive);
    MPI_Status status;
    MPI_Wait(&receive, &status);
    int was_cancelled = -1;
    MPI_Test_cancelled(&status, &was_cancelled);
    say("cancelled: %d, received %d", was_cancelled, value_in);
    MPI_Request_free(&receive);
}
#endif

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {
        {"start_again_and_again", start_again_and_again, 1},
        {"inactive_is_complete_and_empty", inactive_is_complete_and_empty, 1},
        {"any_passes_over_inactive_ones", any_passes_over_inactive_ones, 1},
        {"every_mode", every_mode, 1},
        {"freed_while_active", freed_while_active, 1},
#ifdef CAN_CANCEL_WHAT_HAS_ENDED
        {"cancelled_after_the_end", cancelled_after_the_end, 1},
#endif
        {"wildcard", wildcard, 1},
        {"datatype_freed_before_the_start", datatype_freed_before_the_start, 1},
        {"proc_null", proc_null, 1},
    };
    return probe_main(argc, argv, cases, PROBE_COUNT(cases));
}
