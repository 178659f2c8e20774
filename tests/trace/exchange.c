/* SPDX-License-Identifier: Apache-2.0
 *
 * What a trace must show: messages of every shape that has a rule of its own (any source, both at once, a second
 * communicator), a dependence on a task and one on an event, a collective. The argument says how it ends. */
#include <commtask/commtask.h>

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(int code) {
    if (code == COMMTASK_OK) return;
    fprintf(stderr, "exchange: %s\n", commtask_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void submit(commtask_op op, const commtask_options* options, commtask_t* task) {
    check(commtask_post_operation(&op, options, task));
}

static char large[1 << 20];

static void wait_for(commtask_t* task) { check(commtask_wait(task, NULL)); }

/* Rounds with an even number name their source. */
static void exchange(MPI_Comm comm, int rank, int peer) {
    enum { n_rounds = 10 };
    int given[n_rounds];
    int taken[n_rounds];
    commtask_t tasks[2 * n_rounds];
    for (int i = 0; i < n_rounds; ++i) {
        given[i] = rank * 100 + i;
        submit(commtask_op_recv(&taken[i], 1, MPI_INT, i % 2 == 0 ? peer : MPI_ANY_SOURCE, i / 2, comm), NULL,
               &tasks[i]);
    }
    for (int i = 0; i < n_rounds; ++i) {
        submit(commtask_op_send(&given[i], 1, MPI_INT, peer, i / 2, comm), NULL, &tasks[n_rounds + i]);
    }
    check(commtask_wait_all(2 * (size_t)n_rounds, tasks, NULL));
}

static void chain(MPI_Comm comm, int rank, int peer) {
    int words[3] = {rank, -1, -1};
    commtask_event_t event;
    commtask_t received;
    commtask_t forwarded;
    commtask_t back;
    check(commtask_event_create(1, &event));
    commtask_options after_event = COMMTASK_OPTIONS_INIT;
    after_event.events = &event;
    after_event.n_events = 1;
    submit(commtask_op_recv(&words[1], 1, MPI_INT, peer, 50, comm), NULL, &received);
    commtask_t sent;
    submit(commtask_op_send(&words[0], 1, MPI_INT, peer, 50, comm), &after_event, &sent);
    commtask_options after_task = COMMTASK_OPTIONS_INIT;
    after_task.after = &received;
    after_task.n_after = 1;
    submit(commtask_op_send(&words[1], 1, MPI_INT, peer, 51, comm), &after_task, &forwarded);
    submit(commtask_op_recv(&words[2], 1, MPI_INT, peer, 51, comm), NULL, &back);
    check(commtask_event_signal(event));
    check(commtask_event_release(&event));
    wait_for(&back);
    wait_for(&sent);
    wait_for(&received);
    wait_for(&forwarded);
    if (words[2] != rank) MPI_Abort(MPI_COMM_WORLD, 2);
}

static void others(MPI_Comm comm, int rank, int peer) {
    int both[2] = {rank, -1};
    int sum = 0;
    commtask_t task;
    submit(commtask_op_sendrecv(&both[0], 1, MPI_INT, peer, 60, &both[1], 1, MPI_INT, peer, 60, comm), NULL, &task);
    wait_for(&task);
    submit(commtask_op_allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm), NULL, &task);
    wait_for(&task);
}

/* All have ended when it returns: records that come later have nothing to do with them. */
static void many(long count) {
    commtask_t last;
    for (long i = 1; i < count; ++i) submit(commtask_op_noop(MPI_COMM_WORLD), NULL, NULL);
    submit(commtask_op_noop(MPI_COMM_WORLD), NULL, &last);
    wait_for(&last);
}

/* All have tried commtask_init when it returns: the others are processes that were started here, or the ones that did so. */
static void meet(MPI_Comm others) {
    MPI_Barrier(others);
    MPI_Comm_disconnect(&others);
}

int main(int argc, char** argv) {
    const char* end = argc > 1 ? argv[1] : "finish";
    int given = 0;
    int rank = 0;
    int size = 0;
    MPI_Init_thread(&argc, &argv, getenv("COMMTASK_LANES") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm parent = MPI_COMM_NULL;
    MPI_Comm_get_parent(&parent);
    const int is_refused = commtask_init(NULL) != COMMTASK_OK;
    if (is_refused) printf("rank %d refused: %s\n", rank, commtask_last_error());
    if (parent != MPI_COMM_NULL) {
        meet(parent);
        if (!is_refused) commtask_finalize();
        MPI_Finalize();
        return 0;
    }
    if (is_refused) {
        MPI_Finalize();
        return 3;
    }
    if (strcmp(end, "spawn") == 0) {
        MPI_Comm children = MPI_COMM_NULL;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        if (MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, size + 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                           MPI_ERRCODES_IGNORE) != MPI_SUCCESS) {
            commtask_finalize();
            MPI_Finalize();
            return 77;
        }
        meet(children);
        end = "finish";
    }
    const int peer = (size + rank - 1) % size == rank ? rank : (rank ^ 1);
    MPI_Comm second = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    MPI_Comm_set_name(second, "the second one");
    exchange(MPI_COMM_WORLD, rank, peer);
    exchange(second, rank, peer);
    chain(MPI_COMM_WORLD, rank, peer);
    others(MPI_COMM_WORLD, rank, peer);
    if (argc > 2) {
        many(strtol(argv[2], NULL, 10));
        exchange(second, rank, peer);
    }
    int never = 0;
    commtask_t open = COMMTASK_NULL;
    const int is_cut = strcmp(end, "_exit") == 0 || strcmp(end, "kill") == 0;
    const int stays = strcmp(end, "stay") == 0;
    if (stays && rank == 0) {
        puts("running");
        fflush(NULL);
        getchar();
    }
    if (strcmp(end, "finish") != 0 && !stays)
        submit(commtask_op_recv(&never, 1, MPI_INT, peer, 99, MPI_COMM_WORLD), NULL, &open);
    /* Synchronous: Intel MPI takes a standard send of this size into a buffer of its own, and ends it. */
    if (is_cut) submit(commtask_op_ssend(large, sizeof large, MPI_CHAR, peer, 98, MPI_COMM_WORLD), NULL, &open);
    commtask_t barrier;
    submit(commtask_op_barrier(MPI_COMM_WORLD), NULL, &barrier);
    wait_for(&barrier);
    fflush(NULL);
    if (strcmp(end, "_exit") == 0) _exit(0);
    if (strcmp(end, "kill") == 0) raise(SIGKILL);
    MPI_Comm_free(&second);
    commtask_finalize();
    MPI_Finalize();
    return 0;
}
