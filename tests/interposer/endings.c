// SPDX-License-Identifier: Apache-2.0
//
// How a program ends, one way per run (argv[1]), judged by the exit status of the whole job: Abort, fatal errors, exit
// without Finalize, without Init, with work unfinished. Each must end the interposed program as it ends the native one,
// and none may hang.
#include "probe.h"

#include <unistd.h>

static int buffer[4];
static MPI_Request request;

static void start(int* argc, char*** argv) {
    MPI_Init(argc, argv);
    probe_start();
}

static int fatal_error(void) {
    say("before");
    MPI_Send(buffer, 1, MPI_INT, n_ranks + 3, 1, MPI_COMM_WORLD);
    say("FAULT: the fatal error came back");
    return 0;
}

static int fatal_isend(void) {
    MPI_Isend(buffer, 1, MPI_INT, n_ranks + 3, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("FAULT: the fatal error came back");
    return 0;
}

static int fatal_truncation(void) {
    int out[8] = {0};
    MPI_Irecv(buffer, 2, MPI_INT, previous_rank(), 1, MPI_COMM_WORLD, &request);
    MPI_Send(out, 8, MPI_INT, next_rank(), 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("FAULT: the fatal error came back");
    return 0;
}

static int abort_all(void) {
    say("before");
    MPI_Abort(MPI_COMM_WORLD, 7);
    return 0;
}

static int abort_while_others_wait(void) {
    if (me == n_ranks - 1) {
        MPI_Abort(MPI_COMM_WORLD, 9);
    }
    MPI_Recv(buffer, 1, MPI_INT, n_ranks - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}

static int abort_with_work_posted(void) {
    for (int i = 0; i < 100; ++i) {
        MPI_Irecv(buffer, 1, MPI_INT, next_rank(), i, MPI_COMM_WORLD, &request);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Abort(MPI_COMM_WORLD, 5);
    return 0;
}

static int exit_after_finalize(void) {
    MPI_Finalize();
    say("after");
    exit(3);
}

static int return_after_finalize(void) {
    MPI_Finalize();
    say("after");
    return 4;
}

static int exit_without_finalize(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    say("before");
    exit(6);
}

static int exit_with_work_posted(void) {
    MPI_Irecv(buffer, 1, MPI_INT, next_rank(), 1, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    say("before");
    exit(6);
}

static int quick_end(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    _exit(11);
}

static void last_words(void) { say("atexit, finalized: %d", (MPI_Finalized(&buffer[0]), buffer[0])); }

static int atexit_after_finalize(void) {
    atexit(last_words);
    MPI_Finalize();
    return 0;
}

/// Registered before MPI_Init: runs after what the libraries have registered themselves.
static void work_and_finalize(void) {
    int out = me;
    int in = -1;
    int sum = -1;
    MPI_Isend(&out, 1, MPI_INT, next_rank(), 2, MPI_COMM_WORLD, &request);
    MPI_Recv(&in, 1, MPI_INT, previous_rank(), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say("in the handler: received %d, sum %d", in, sum);
    MPI_Finalize();
}

static void work_and_finalize_once(void) {
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (is_over == 0) {
        work_and_finalize();
    }
}

static int finalize_in_atexit(void) { return 0; }

static int finalize_in_atexit_of_one(void) {
    if (me > 0) work_and_finalize();
    exit(me > 0 ? 0 : probe_result());
}

static int finalize_with_receive_posted(void) {
    // Erroneous for a send, tolerated by MPIs for a receive that was cancelled.
    MPI_Irecv(buffer, 1, MPI_INT, next_rank(), 1, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    MPI_Finalize();
    say("after");
    return 0;
}

static int finalize_completes_sends(void) {
    static int out[1 << 16];
    int* in = malloc(sizeof out);
    fill(out, 1 << 16, me, 1);
    MPI_Irecv(in, 1 << 16, MPI_INT, previous_rank(), 1, MPI_COMM_WORLD, &request);
    MPI_Request send;
    MPI_Isend(out, 1 << 16, MPI_INT, next_rank(), 1, MPI_COMM_WORLD, &send);
    MPI_Request_free(&send);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(is_filled(in, 1 << 16, previous_rank(), 1));
    free(in);
    MPI_Finalize();
    say("after");
    return probe_result();
}

enum { n_late = 1 << 13 }; // more than what is left to MPI
static int late_in[n_late];
static int late_out[n_late];

/// MPI_Finalize calls it first: the receive that was posted long before is still open.
static int complete_late(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)extra;
    int is_over = 1;
    MPI_Finalized(&is_over);
    MPI_Request send;
    fill(late_out, n_late, me, 3);
    MPI_Isend(late_out, n_late, MPI_INT, next_rank(), 3, MPI_COMM_WORLD, &send);
    MPI_Wait(value, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    say("deleted late: finalized %d, received %d", is_over, is_filled(late_in, n_late, previous_rank(), 3));
    return MPI_SUCCESS;
}

static int say_number(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)extra;
    say("deleted %d", *(int*)value);
    return MPI_SUCCESS;
}

static int finalize_completes_in_callback(void) {
    static int numbers[3] = {0, 1, 2};
    int key = MPI_KEYVAL_INVALID;
    int other_key = MPI_KEYVAL_INVALID;
    MPI_Irecv(late_in, n_late, MPI_INT, previous_rank(), 3, MPI_COMM_WORLD, &request);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, say_number, &other_key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, other_key, &numbers[0]);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, complete_late, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &request);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_set_attr(MPI_COMM_SELF, other_key, &numbers[1]); // deletes 0
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, say_number, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &numbers[2]);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    MPI_Finalize();
    say("after");
    return 0;
}

static int crash(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        abort();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}

int main(int argc, char** argv) {
    static const struct {
        const char* name;
        int (*run)(void);
    } endings[] = {{"fatal_error", fatal_error},
                   {"fatal_isend", fatal_isend},
                   {"fatal_truncation", fatal_truncation},
                   {"abort_all", abort_all},
                   {"abort_while_others_wait", abort_while_others_wait},
                   {"abort_with_work_posted", abort_with_work_posted},
                   {"exit_after_finalize", exit_after_finalize},
                   {"return_after_finalize", return_after_finalize},
                   {"exit_without_finalize", exit_without_finalize},
                   {"exit_with_work_posted", exit_with_work_posted},
                   {"quick_end", quick_end},
                   {"atexit_after_finalize", atexit_after_finalize},
                   {"finalize_in_atexit", finalize_in_atexit},
                   {"finalize_in_atexit_of_one", finalize_in_atexit_of_one},
                   {"finalize_with_receive_posted", finalize_with_receive_posted},
                   {"finalize_completes_sends", finalize_completes_sends},
                   {"finalize_completes_in_callback", finalize_completes_in_callback},
                   {"crash", crash}};
    if (argc > 1 && strcmp(argv[1], "without_init") == 0) {
        int flag = 1;
        MPI_Initialized(&flag);
        printf("[0] initialized: %d\n", flag);
        return 5;
    }
    const bool ends_late = argc > 1 && strncmp(argv[1], "finalize_in_atexit", strlen("finalize_in_atexit")) == 0;
    if (ends_late) {
        atexit(work_and_finalize_once);
    }
    start(&argc, &argv);
    for (size_t i = 0; argc > 1 && i < PROBE_COUNT(endings); ++i) {
        if (strcmp(argv[1], endings[i].name) == 0) {
            return endings[i].run();
        }
    }
    say("FAULT: no such ending");
    return 1;
}
