/* SPDX-License-Identifier: Apache-2.0
 *
 * Many messages by one call, of docs/many.md: one buffer to a list of ranks, blocks to and from the ranks of a list, and
 * messages from any rank at any time. */
#include <commtask/commtask.h>
#include <stdlib.h>

/* [handler] */
static long n_spikes; /* the handler runs on one thread at a time */
static int take_spikes(commtask_message* spikes, void* all) {
    n_spikes += (long)(spikes->bytes / (MPI_Count)sizeof(int)); /* spikes->data, spikes->source */
    commtask_event_signal((commtask_event_t)all);
    return COMMTASK_MESSAGE_DONE;
}
/* [handler] */

int main(int argc, char** argv) {
    int level, rank, size, is_right = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (commtask_init(NULL) != COMMTASK_OK) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int* const everyone = (int*)malloc((size_t)size * sizeof(int));
    for (int i = 0; i < size; ++i) everyone[i] = i;
    /* [multicast] */
    int word = 7 + rank, heard = 0; /* rank 0 sends to all ranks, itself included */
    commtask_t tasks[2] = {COMMTASK_NULL, COMMTASK_NULL};
    commtask_post(commtask_op_recv(&heard, 1, MPI_INT, 0, 1, MPI_COMM_WORLD), NULL, &tasks[0]);
    if (rank == 0) {
        commtask_post(commtask_op_multicast(&word, 1, MPI_INT, everyone, size, 1, MPI_COMM_WORLD), NULL, &tasks[1]);
    }
    commtask_wait_all(2, tasks, NULL);
    /* [multicast] */
    is_right = is_right && heard == 7;
    /* [many] */
    const int others[2] = {(rank + size - 1) % size, (rank + 1) % size}; /* left, right */
    const int n_to[2] = {1, 3}, from[2] = {0, 1}, n_from[2] = {3, 1}, to[2] = {0, 3};
    const int mine[4] = {rank, rank + 1, rank + 2, rank + 3};
    int theirs[4] = {-1, -1, -1, -1};
    commtask_t task = COMMTASK_NULL;
    commtask_post(commtask_op_many_to_many_int(mine, n_to, from, MPI_INT, others, 2, theirs, n_from, to, MPI_INT,
                                               others, 2, 2, MPI_COMM_WORLD),
                  NULL, &task);
    commtask_wait(&task, NULL);
    /* [many] */
    if (size > 2) is_right = is_right && theirs[0] == others[0] + 1 && theirs[3] == others[1];
    /* [listen] */
    commtask_event_t all = COMMTASK_EVENT_NULL; /* here one message of every rank */
    commtask_event_create((unsigned)size, &all);
    commtask_listener_t listener = COMMTASK_LISTENER_NULL;
    commtask_listen(MPI_COMM_WORLD, 3, 1000 * sizeof(int), 16, take_spikes, all, &listener);
    const int spikes[2] = {rank, 100 + rank};
    commtask_post(commtask_op_multicast(spikes, 2, MPI_INT, everyone, size, 3, MPI_COMM_WORLD), NULL, &task);
    commtask_wait(&task, NULL);
    commtask_options when = COMMTASK_OPTIONS_INIT;
    when.events = &all;
    when.n_events = 1;
    commtask_post(commtask_op_noop(MPI_COMM_WORLD), &when, &task);
    commtask_wait(&task, NULL);
    commtask_unlisten(&listener); /* the handler is not called any more */
    /* [listen] */
    is_right = is_right && n_spikes == 2L * size;
    commtask_event_release(&all);
    free(everyone);
    commtask_finalize();
    MPI_Finalize();
    return !is_right;
}
