// SPDX-License-Identifier: Apache-2.0
//
// Generalized requests, which belong to the MPI and not to any task: completed by another thread, asked for together
// with ordinary requests, cancelled, freed while active. Their query, free and cancel functions are called when, and
// as often as, the standard says. Cancelled receives are here too, since both show in MPI_Test_cancelled.
#include "probe.h"

#include <pthread.h>

static int n_queries;
static int n_frees;
static int n_cancels;
static int cancel_saw_complete;

static int query(void* state, MPI_Status* status) {
    ++n_queries;
    MPI_Status_set_elements(status, MPI_INT, *(int*)state);
    MPI_Status_set_cancelled(status, n_cancels > 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
static int let_go(void* state) {
    (void)state;
    ++n_frees;
    return MPI_SUCCESS;
}
static int cancel(void* state, int is_complete) {
    (void)state;
    ++n_cancels;
    cancel_saw_complete = is_complete;
    return MPI_SUCCESS;
}

static void reset(void) { n_queries = n_frees = n_cancels = cancel_saw_complete = 0; }

static void complete_at_once(void) {
    int state = 4;
    int flag = 1;
    MPI_Request request;
    MPI_Status status;
    reset();
    MPI_Grequest_start(query, let_go, cancel, &state, &request);
    MPI_Test(&request, &flag, &status);
    EXPECT(flag == 0);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    EXPECT(request == MPI_REQUEST_NULL);
    int count = 0;
    MPI_Get_count(&status, MPI_INT, &count);
    say("count %d, queries %d, frees %d, cancels %d", count, n_queries, n_frees, n_cancels);
}

static void* complete_it(void* argument) {
    MPI_Grequest_complete(*(MPI_Request*)argument);
    return NULL;
}

static void completed_by_a_thread(void) {
    int level = 0;
    MPI_Query_thread(&level);
    int state = 2;
    MPI_Request request;
    pthread_t thread;
    reset();
    MPI_Grequest_start(query, let_go, cancel, &state, &request);
    MPI_Request copy = request;
    pthread_create(&thread, NULL, complete_it, &copy);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
    say("frees %d, queries %d", n_frees, n_queries > 0);
}

static void mixed_array(void) {
    int state = 1;
    int out[2] = {me, me + 1};
    int in = -1;
    MPI_Request requests[5];
    MPI_Status statuses[5];
    reset();
    MPI_Irecv(&in, 1, MPI_INT, previous_rank(), 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Grequest_start(query, let_go, cancel, &state, &requests[1]);
    MPI_Isend(out, 1, MPI_INT, next_rank(), 1, MPI_COMM_WORLD, &requests[2]);
    requests[3] = MPI_REQUEST_NULL;
    MPI_Grequest_start(query, let_go, cancel, &state, &requests[4]);
    MPI_Grequest_complete(requests[4]);
    int seen[5] = {0};
    for (int i = 0; i < 3; ++i) {
        int index = -1;
        MPI_Waitany(5, requests, &index, &statuses[0]);
        EXPECT(index == 0 || index == 2 || index == 4);
        ++seen[index];
        EXPECT(requests[index] == MPI_REQUEST_NULL);
    }
    EXPECT(seen[0] == 1 && seen[2] == 1 && seen[4] == 1);
    int index = -1;
    int flag = 1;
    MPI_Testany(5, requests, &index, &flag, MPI_STATUS_IGNORE);
    EXPECT(flag == 0 && index == MPI_UNDEFINED);
    MPI_Testall(5, requests, &flag, MPI_STATUSES_IGNORE);
    EXPECT(flag == 0);
    MPI_Grequest_complete(requests[1]);
    MPI_Irecv(&in, 1, MPI_INT, previous_rank(), 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 1, MPI_INT, next_rank(), 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(5, requests, statuses);
    say_status("recv", &statuses[0], MPI_INT);
    for (int i = 0; i < 5; ++i) {
        EXPECT(requests[i] == MPI_REQUEST_NULL);
    }
    say("frees %d", n_frees);
}

static void mixed_some(void) {
    int state = 1;
    int in = -1;
    int n_done = 0;
    MPI_Request requests[3];
    int indices[3];
    MPI_Status statuses[3];
    reset();
    MPI_Grequest_start(query, let_go, cancel, &state, &requests[0]);
    MPI_Irecv(&in, 1, MPI_INT, previous_rank(), 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&me, 1, MPI_INT, next_rank(), 1, MPI_COMM_WORLD, &requests[2]);
    while (n_done < 2) {
        int n = 0;
        MPI_Waitsome(3, requests, &n, indices, statuses);
        for (int i = 0; i < n; ++i) {
            EXPECT(indices[i] != 0);
        }
        n_done += n;
    }
    MPI_Grequest_complete(requests[0]);
    int n = 0;
    MPI_Testsome(3, requests, &n, indices, statuses);
    EXPECT(n == 1 && indices[0] == 0);
    EXPECT(in == previous_rank());
}

static void cancelled_and_freed(void) {
    int state = 0;
    MPI_Request request;
    MPI_Status status;
    reset();
    MPI_Grequest_start(query, let_go, cancel, &state, &request);
    MPI_Cancel(&request);
    EXPECT(n_cancels == 1 && cancel_saw_complete == 0);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    int is_cancelled = 0;
    MPI_Test_cancelled(&status, &is_cancelled);
    EXPECT(is_cancelled);
    reset();
    MPI_Grequest_start(query, let_go, cancel, &state, &request);
    MPI_Request copy = request;
    MPI_Request_free(&request);
    EXPECT(request == MPI_REQUEST_NULL);
    MPI_Grequest_complete(copy);
    say("frees %d", n_frees);
}

static void cancelled_receive(void) {
    int in = 5;
    MPI_Request request;
    MPI_Status status;
    for (int i = 0; i < 3; ++i) {
        MPI_Irecv(&in, 1, MPI_INT, i ? previous_rank() : MPI_ANY_SOURCE, 70, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        EXPECT(request != MPI_REQUEST_NULL);
        if (i < 2) {
            MPI_Wait(&request, &status);
            say_status("cancelled", &status, MPI_INT);
        } else {
            MPI_Request_free(&request);
        }
        EXPECT(request == MPI_REQUEST_NULL && in == 5);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    // The messages that come later go to the next receive, not to a cancelled one.
    MPI_Sendrecv(&me, 1, MPI_INT, next_rank(), 70, &in, 1, MPI_INT, previous_rank(), 70, MPI_COMM_WORLD, &status);
    EXPECT(in == previous_rank());
}

/// Cancelling a receive is local: nobody need act for the first test to find it done.
static void cancelled_and_tested(void) {
    int in = 5;
    int flag = 0;
    MPI_Request request;
    MPI_Status status;
    for (int i = 0; i < 20; ++i) {
        MPI_Irecv(&in, 1, MPI_INT, i % 2 ? previous_rank() : MPI_ANY_SOURCE, 72, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        MPI_Test(&request, &flag, &status);
        say("the first test of a cancelled receive: %d", flag);
        if (!flag) MPI_Wait(&request, &status);
    }
}

static void cancelled_too_late(void) {
    int in = -1;
    int flag = 0;
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Irecv(&in, 1, MPI_INT, previous_rank(), 71, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&me, 1, MPI_INT, next_rank(), 71, MPI_COMM_WORLD, &requests[1]);
    while (!flag) {
        MPI_Request_get_status(requests[0], &flag, &status);
    }
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    say_status("came first", &status, MPI_INT);
    EXPECT(in == previous_rank());
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static void cancelled_persistent(void) {
    int in = 5;
    MPI_Request request;
    MPI_Status status;
    MPI_Recv_init(&in, 1, MPI_INT, previous_rank(), 72, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 2; ++i) {
        MPI_Start(&request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        say_status("cancelled", &status, MPI_INT);
        EXPECT(request != MPI_REQUEST_NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Start(&request);
    MPI_Send(&me, 1, MPI_INT, next_rank(), 72, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    say_status("received", &status, MPI_INT);
    MPI_Request_free(&request);
}

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {
        {"complete_at_once", complete_at_once, 1},
        {"completed_by_a_thread", completed_by_a_thread, 1},
        {"mixed_array", mixed_array, 1},
        {"mixed_some", mixed_some, 1},
        {"cancelled_and_freed", cancelled_and_freed, 1},
        {"cancelled_receive", cancelled_receive, 1},
        {"cancelled_and_tested", cancelled_and_tested, 1},
        {"cancelled_too_late", cancelled_too_late, 1},
        {"cancelled_persistent", cancelled_persistent, 1},
    };
    return probe_main_with_threads(argc, argv, cases, PROBE_COUNT(cases));
}
