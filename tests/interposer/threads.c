// SPDX-License-Identifier: Apache-2.0
//
// Programs that call MPI from many threads: each with its own partner, tag or communicator, waiting for each other's
// requests, one blocked for long while the others go on, matched probes against each other.
#include "probe.h"

#include <pthread.h>
#include <stdatomic.h>

enum { n_threads = 4 };

static void in_threads(void* (*run)(void*)) {
    pthread_t threads[n_threads];
    for (intptr_t i = 0; i < n_threads; ++i) {
        pthread_create(&threads[i], NULL, run, (void*)i);
    }
    for (int i = 0; i < n_threads; ++i) {
        pthread_join(threads[i], NULL);
    }
}

static int n_rounds = 40;

static void* ping_pong_with_own_tag(void* argument) {
    const int tag = (int)(intptr_t)argument;
    for (int i = 0; i < n_rounds; ++i) {
        int out = me * 1000 + i;
        int in = -1;
        MPI_Sendrecv(&out, 1, MPI_INT, next_rank(), tag, &in, 1, MPI_INT, previous_rank(), tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        EXPECT(in == previous_rank() * 1000 + i);
    }
    return NULL;
}
static void own_tags(void) { in_threads(ping_pong_with_own_tag); }

static MPI_Comm comms[n_threads];
static void* sum_on_own_communicator(void* argument) {
    const intptr_t which = (intptr_t)argument;
    for (int i = 0; i < 20; ++i) {
        int out = me + i;
        int sum = -1;
        if (i % 2) {
            MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, comms[which]);
        } else {
            MPI_Request request;
            MPI_Iallreduce(&out, &sum, 1, MPI_INT, MPI_SUM, comms[which], &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        EXPECT(sum == n_ranks * (n_ranks - 1) / 2 + n_ranks * i);
    }
    return NULL;
}
static void own_communicators(void) {
    for (int i = 0; i < n_threads; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    in_threads(sum_on_own_communicator);
    for (int i = 0; i < n_threads; ++i) {
        MPI_Comm_free(&comms[i]);
    }
}

static void* split_own_communicator(void* argument) {
    const intptr_t which = (intptr_t)argument;
    for (int i = 0; i < 5; ++i) {
        MPI_Comm half;
        int sum = 0;
        const int one = 1;
        MPI_Comm_split(comms[which], me % 2, me, &half);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half);
        EXPECT(sum == (n_ranks + 1 - me % 2) / 2);
        MPI_Comm_free(&half);
    }
    return NULL;
}
// Blocking calls without a nonblocking twin, in several threads, which other ranks make in any order.
static void splits_at_a_time(void) {
    for (int i = 0; i < n_threads; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    in_threads(split_own_communicator);
    for (int i = 0; i < n_threads; ++i) {
        MPI_Comm_free(&comms[i]);
    }
}

static int late = -1;
static void* wait_for_long(void* argument) {
    (void)argument;
    MPI_Recv(&late, 1, MPI_INT, previous_rank(), 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}
static void* probe_for_long(void* argument) {
    (void)argument;
    MPI_Status status;
    MPI_Probe(previous_rank(), 98, MPI_COMM_WORLD, &status);
    MPI_Recv(&late, 1, MPI_INT, previous_rank(), 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}
static void others_go_on(void* (*blocked)(void*), int tag) {
    pthread_t thread;
    late = -1;
    pthread_create(&thread, NULL, blocked, NULL);
    // On this thread alone, and not often: MPICH's lock is not fair, and a native run with more of them may take minutes.
    n_rounds = 4;
    ping_pong_with_own_tag((void*)(intptr_t)0);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm); // an object is made while another thread waits
    MPI_Comm_free(&comm);
    const int value = 5;
    MPI_Send(&value, 1, MPI_INT, next_rank(), tag, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
    EXPECT(late == 5);
}
static void one_receives_for_long(void) { others_go_on(wait_for_long, 99); }
static void one_probes_for_long(void) { others_go_on(probe_for_long, 98); }

static MPI_Request shared[2 * n_threads];
static int shared_in[n_threads];
static int shared_out[n_threads];
static void* wait_for_another(void* argument) {
    const intptr_t which = ((intptr_t)argument + 1) % n_threads;
    MPI_Wait(&shared[which], MPI_STATUS_IGNORE);
    MPI_Wait(&shared[n_threads + which], MPI_STATUS_IGNORE);
    return NULL;
}
static void requests_of_another_thread(void) {
    for (int i = 0; i < n_threads; ++i) {
        shared_out[i] = me * 10 + i;
        MPI_Irecv(&shared_in[i], 1, MPI_INT, previous_rank(), i, MPI_COMM_WORLD, &shared[i]);
        MPI_Isend(&shared_out[i], 1, MPI_INT, next_rank(), i, MPI_COMM_WORLD, &shared[n_threads + i]);
    }
    in_threads(wait_for_another);
    for (int i = 0; i < n_threads; ++i) {
        EXPECT(shared_in[i] == previous_rank() * 10 + i);
    }
}

static atomic_int n_taken;
static atomic_int sum_taken;
static void* take_what_comes(void* argument) {
    (void)argument;
    for (int i = 0; i < 25; ++i) {
        MPI_Message message;
        int value = -1;
        MPI_Mprobe(previous_rank(), 50, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        atomic_fetch_add(&n_taken, 1);
        atomic_fetch_add(&sum_taken, value);
    }
    return NULL;
}
static void matched_probes(void) {
    static int values[25 * n_threads];
    static MPI_Request sends[25 * n_threads];
    for (int i = 0; i < 25 * n_threads; ++i) {
        values[i] = i;
        MPI_Isend(&values[i], 1, MPI_INT, next_rank(), 50, MPI_COMM_WORLD, &sends[i]);
    }
    in_threads(take_what_comes);
    MPI_Waitall(25 * n_threads, sends, MPI_STATUSES_IGNORE);
    say("%d messages, sum %d", atomic_load(&n_taken), atomic_load(&sum_taken));
}

static void* test_in_turn(void* argument) {
    const int tag = (int)(intptr_t)argument;
    for (int i = 0; i < 30; ++i) {
        MPI_Request requests[2];
        int in = -1;
        int flag = 0;
        MPI_Irecv(&in, 1, MPI_INT, previous_rank(), tag, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&i, 1, MPI_INT, next_rank(), tag, MPI_COMM_WORLD, &requests[1]);
        while (!flag) {
            MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
        }
        EXPECT(in == i);
    }
    return NULL;
}
static void testing(void) { in_threads(test_in_turn); }

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {
        {"own_tags", own_tags, 1},
        {"own_communicators", own_communicators, 1},
        {"splits_at_a_time", splits_at_a_time, 2},
        {"one_receives_for_long", one_receives_for_long, 1},
        {"one_probes_for_long", one_probes_for_long, 1},
        {"requests_of_another_thread", requests_of_another_thread, 1},
        {"matched_probes", matched_probes, 1},
        {"testing", testing, 1},
    };
    return probe_main_with_threads(argc, argv, cases, PROBE_COUNT(cases));
}
