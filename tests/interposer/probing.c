// SPDX-License-Identifier: Apache-2.0
//
// Probe, Iprobe, Mprobe, Improbe and the receives of what they found. A probe sees what a receive posted in its place
// would match: never a message that an earlier receive takes, even if that receive has only been handed to a worker.
#include "probe.h"

static void probe_then_recv(void) {
    int out[16];
    MPI_Request request;
    MPI_Status status = {0}; // a probe of MPICH 4.0.2 leaves the mark of cancellation as it was
    fill(out, 16, me, 1);
    MPI_Isend(out, 16, MPI_INT, next_rank(), 3, MPI_COMM_WORLD, &request);
    MPI_Probe(previous_rank(), 3, MPI_COMM_WORLD, &status);
    say_status("probe", &status, MPI_INT);
    int count = 0;
    MPI_Get_count(&status, MPI_INT, &count);
    int* in = malloc(sizeof(int) * (size_t)count);
    MPI_Recv(in, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
    say_status("recv", &status, MPI_INT);
    EXPECT(is_filled(in, 16, previous_rank(), 1));
    free(in);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void iprobe_loop(void) {
    int out = me;
    int in = -1;
    int flag = 1;
    MPI_Request request;
    MPI_Status status = {0}; // as above
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    EXPECT(flag == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(&out, 1, MPI_INT, next_rank(), 4, MPI_COMM_WORLD, &request);
    while (!flag) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    }
    say_status("iprobe", &status, MPI_INT);
    MPI_Recv(&in, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(in == previous_rank());
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, &status);
    EXPECT(flag == 1);
    say_status("null", &status, MPI_INT);
}

static void matched(void) {
    int out[2] = {me, me + 50};
    int in[2] = {-1, -1};
    int flag = 0;
    MPI_Request sends[2];
    MPI_Request request;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status = {0};
    MPI_Isend(&out[0], 1, MPI_INT, next_rank(), 5, MPI_COMM_WORLD, &sends[0]);
    MPI_Isend(&out[1], 1, MPI_INT, next_rank(), 5, MPI_COMM_WORLD, &sends[1]);
    MPI_Mprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &message, &status);
    say_status("mprobe", &status, MPI_INT);
    EXPECT(message != MPI_MESSAGE_NULL);
    // The first message is taken: an ordinary receive gets the second.
    MPI_Recv(&in[1], 1, MPI_INT, previous_rank(), 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Mrecv(&in[0], 1, MPI_INT, &message, &status);
    EXPECT(message == MPI_MESSAGE_NULL);
    say_status("mrecv", &status, MPI_INT);
    EXPECT(in[0] == previous_rank() && in[1] == previous_rank() + 50);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);

    MPI_Isend(&out[0], 1, MPI_INT, next_rank(), 6, MPI_COMM_WORLD, &sends[0]);
    while (!flag) {
        MPI_Improbe(previous_rank(), MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
    }
    say_status("improbe", &status, MPI_INT);
    MPI_Imrecv(&in[0], 1, MPI_INT, &message, &request);
    EXPECT(message == MPI_MESSAGE_NULL);
    MPI_Wait(&request, &status);
    say_status("imrecv", &status, MPI_INT);
    MPI_Wait(&sends[0], MPI_STATUS_IGNORE);
}

static void no_process(void) {
    int in = 3;
    int flag = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status = {0}; // as above
    MPI_Request request;
    MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &status);
    EXPECT(message == MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(&in, 1, MPI_INT, &message, &status);
    say_status("mrecv", &status, MPI_INT);
    MPI_Improbe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &message, &status);
    EXPECT(flag && message == MPI_MESSAGE_NO_PROC);
    MPI_Imrecv(&in, 1, MPI_INT, &message, &request);
    MPI_Wait(&request, &status);
    say_status("imrecv", &status, MPI_INT);
}

static void does_not_see_what_a_posted_receive_takes(void) {
    for (int turn = 0; turn < 200; ++turn) {
        int out = turn;
        int in = -1;
        int flag = 0;
        MPI_Request requests[2];
        MPI_Irecv(&in, 1, MPI_INT, previous_rank(), 8, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&out, 1, MPI_INT, next_rank(), 8, MPI_COMM_WORLD, &requests[1]);
        MPI_Iprobe(previous_rank(), 8, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        EXPECT(!flag);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        EXPECT(in == turn);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void sees_what_was_sent_before_a_barrier(void) {
    int in = -1;
    int flag = 0;
    MPI_Request request;
    MPI_Status status = {0}; // as above
    MPI_Isend(&me, 1, MPI_INT, me, 9, MPI_COMM_WORLD, &request);
    while (!flag) {
        MPI_Iprobe(me, 9, MPI_COMM_WORLD, &flag, &status);
    }
    // What was seen once stays to be seen.
    for (int i = 0; i < 20; ++i) {
        flag = 0;
        MPI_Iprobe(me, 9, MPI_COMM_WORLD, &flag, &status);
        EXPECT(flag == 1 && status.MPI_SOURCE == me);
    }
    MPI_Recv(&in, 1, MPI_INT, me, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(in == me);
}

static void master_and_workers(void) {
    if (me != 0) {
        int answer = 0;
        for (int i = 0; i < 50; ++i) {
            MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
            MPI_Recv(&answer, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            EXPECT(answer == i * me);
        }
        return;
    }
    for (int i = 0; i < 50 * (n_ranks - 1); ++i) {
        MPI_Status status = {0}; // as above
        int value = 0;
        MPI_Probe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        value *= status.MPI_SOURCE;
        MPI_Send(&value, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
    }
}

static void large_and_derived(void) {
    enum { n = 1 << 18 };
    int* out = malloc(sizeof(int) * n);
    int* in = malloc(sizeof(int) * n);
    MPI_Request request;
    MPI_Message message;
    MPI_Status status = {0}; // as above
    MPI_Datatype half;
    MPI_Type_vector(n / 2, 1, 2, MPI_INT, &half);
    MPI_Type_commit(&half);
    fill(out, n, me, 2);
    memset(in, 0, sizeof(int) * n);
    MPI_Isend(out, 1, half, next_rank(), 3, MPI_COMM_WORLD, &request);
    MPI_Mprobe(previous_rank(), 3, MPI_COMM_WORLD, &message, &status);
    MPI_Request receive;
    MPI_Imrecv(in, 1, half, &message, &receive);
    MPI_Type_free(&half);
    MPI_Wait(&receive, &status);
    say_status("half", &status, MPI_INT);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    fill(out, n, previous_rank(), 2);
    EXPECT(in[0] == out[0] && in[1] == 0 && in[n - 2] == out[n - 2]);
    free(out);
    free(in);
}

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {
        {"probe_then_recv", probe_then_recv, 1},
        {"iprobe_loop", iprobe_loop, 1},
        {"matched", matched, 1},
        {"no_process", no_process, 1},
        {"does_not_see_what_a_posted_receive_takes", does_not_see_what_a_posted_receive_takes, 1},
        {"sees_what_was_sent_before_a_barrier", sees_what_was_sent_before_a_barrier, 1},
        {"master_and_workers", master_and_workers, 2},
        {"large_and_derived", large_and_derived, 1},
    };
    return probe_main(argc, argv, cases, PROBE_COUNT(cases));
}
