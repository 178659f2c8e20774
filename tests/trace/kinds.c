/* SPDX-License-Identifier: Apache-2.0
 *
 * What a trace must show of operations that are no single message: one-sided ones and their notifications, epochs, one call for many
 * messages beside ordinary ones of the same tag, a standing receive, and a file. Two ranks; the argument is a file. */
#include <commtask/commtask.h>

#include <mpi.h>
#include <stdio.h>

enum { n = 64, tag = 5, notification = 7, listened = 9 };

static int rank, peer;
static double mine[n], theirs[n];

static void check(int code) {
    if (code == COMMTASK_OK) return;
    fprintf(stderr, "kinds: %s\n", commtask_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void run(commtask_op op) {
    commtask_t task = COMMTASK_NULL;
    check(commtask_post_operation(&op, NULL, &task));
    check(commtask_wait(&task, NULL));
}

static MPI_Win window_named(const char* name) {
    MPI_Win window;
    double* base;
    MPI_Win_allocate(n * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_set_name(window, name);
    return window;
}

static void one_sided(void) {
    MPI_Win window = window_named("halos");
    check(commtask_win_register(window, MPI_COMM_WORLD));
    run(commtask_op_put(mine, n, MPI_DOUBLE, peer, 0, n, MPI_DOUBLE, window));
    run(commtask_op_flush(peer, window));
    run(commtask_op_get(theirs, n, MPI_DOUBLE, peer, 0, n, MPI_DOUBLE, window));
    for (int i = 0; i < 2; ++i)
        run(commtask_op_put_notify(mine, n, MPI_DOUBLE, peer, 0, n, MPI_DOUBLE, notification, window));
    run(commtask_op_await_notify(notification, 2, peer, window));
    check(commtask_win_unregister(window));
    MPI_Win_free(&window);
}

static void epochs(void) {
    MPI_Win window = window_named("epochs");
    check(commtask_win_register_epochs(window, MPI_COMM_WORLD));
    run(commtask_op_win_fence(0, window));
    run(commtask_op_put(mine, n, MPI_DOUBLE, peer, 0, n, MPI_DOUBLE, window));
    run(commtask_op_win_fence(0, window));
    check(commtask_win_unregister(window));
    MPI_Win_free(&window);
}

static void many(void) {
    const int both[2] = {rank, peer};
    const int one_each[2] = {1, 1}, places[2] = {0, 1};
    commtask_t tasks[5];
    const commtask_op ops[5] = {
        commtask_op_recv(&theirs[0], 1, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD),
        commtask_op_recv(&theirs[1], 1, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD),
        commtask_op_recv(&theirs[2], 1, MPI_DOUBLE, rank, tag, MPI_COMM_WORLD),
        commtask_op_multicast(&mine[0], 1, MPI_DOUBLE, both, 2, tag, MPI_COMM_WORLD),
        commtask_op_send(&mine[1], 1, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD),
    };
    for (int i = 0; i < 5; ++i) check(commtask_post_operation(&ops[i], NULL, &tasks[i]));
    check(commtask_wait_all(5, tasks, NULL));
    run(commtask_op_many_to_many_int(mine, one_each, places, MPI_DOUBLE, both, 2, theirs, one_each, places, MPI_DOUBLE,
                                     both, 2, tag, MPI_COMM_WORLD));
}

/* MPI says nothing of lengths in the status of a collective: what a receive left there is not its. */
static void hand_over(void) {
    for (int i = 0; i < 20; ++i) {
        commtask_t tasks[3] = {COMMTASK_NULL, COMMTASK_NULL, COMMTASK_NULL};
        MPI_Request request;
        commtask_op ops[3] = {commtask_op_recv(theirs, n, MPI_DOUBLE, peer, 100 + i, MPI_COMM_WORLD),
                              commtask_op_send(mine, n, MPI_DOUBLE, peer, 100 + i, MPI_COMM_WORLD)};
        for (int k = 0; k < 2; ++k) check(commtask_post_operation(&ops[k], NULL, &tasks[k]));
        check(commtask_wait_all(2, tasks, NULL));
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        ops[2] = commtask_op_attach(&request, MPI_COMM_WORLD);
        ops[2].array_form = COMMTASK_OP_BARRIER; /* as commtask-run does */
        check(commtask_post_operation(&ops[2], NULL, &tasks[2]));
        check(commtask_wait(&tasks[2], NULL));
    }
}

static int take(commtask_message* message, void* all) {
    (void)message;
    commtask_event_signal((commtask_event_t)all);
    return COMMTASK_MESSAGE_DONE;
}

static void listen_to_peer(void) {
    commtask_event_t all = COMMTASK_EVENT_NULL;
    commtask_listener_t listener = COMMTASK_LISTENER_NULL;
    commtask_t task = COMMTASK_NULL;
    check(commtask_event_create(1, &all));
    check(commtask_listen(MPI_COMM_WORLD, listened, sizeof mine, 2, take, all, &listener));
    run(commtask_op_send(mine, n, MPI_DOUBLE, peer, listened, MPI_COMM_WORLD));
    commtask_options when = COMMTASK_OPTIONS_INIT;
    when.events = &all;
    when.n_events = 1;
    const commtask_op heard = commtask_op_noop(MPI_COMM_WORLD);
    check(commtask_post_operation(&heard, &when, &task));
    check(commtask_wait(&task, NULL));
    check(commtask_unlisten(&listener));
    check(commtask_event_release(&all));
}

static void write_file(const char* name) {
    MPI_File file;
    if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 3);
    run(commtask_op_file_write_at(rank * (MPI_Offset)sizeof mine, mine, n, MPI_DOUBLE, file, MPI_COMM_WORLD));
    MPI_File_close(&file);
}

int main(int argc, char** argv) {
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level); /* epochs need it */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = rank ^ 1;
    check(commtask_init(NULL));
    one_sided();
    if (level == MPI_THREAD_MULTIPLE) epochs();
    many();
    if (level == MPI_THREAD_MULTIPLE) hand_over();
    listen_to_peer();
    if (argc > 1) write_file(argv[1]);
    run(commtask_op_barrier(MPI_COMM_WORLD));
    check(commtask_finalize());
    MPI_Finalize();
    return 0;
}
