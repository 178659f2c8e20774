/* SPDX-License-Identifier: Apache-2.0
 *
 * A task of OpenMP for each message that a standing receive takes, of docs/many.md. The handler runs on the worker, which is in no
 * team and cannot make a task: it puts the message into a box and rings. The bell is a plan whose one member is held; a task that
 * depends on its run empties the box, makes the tasks, and waits for the next ring. */
#include <commtask/omp.h>
#include <pthread.h>

enum { n_each = 50, n_slots = 8 };
static commtask_plan_t bell;
static long sum, n_seen; /* what the messages' tasks found */

/* [box] */
static commtask_message* box[n_slots]; /* as many as can be kept at a time */
static int n_in_box;
static pthread_mutex_t lid = PTHREAD_MUTEX_INITIALIZER;

static int put_into_box(commtask_message* message, void* nothing) { /* on the worker */
    (void)nothing;
    pthread_mutex_lock(&lid);
    box[n_in_box++] = message;
    pthread_mutex_unlock(&lid);
    commtask_plan_ready(bell, 0); /* refused if it has rung already: then the box will be looked at anyway */
    return COMMTASK_MESSAGE_KEPT;
}

static void use(commtask_message* message) {
#pragma omp atomic
    sum += *(const int*)message->data;
#pragma omp atomic
    ++n_seen;
    commtask_message_release(message);
}

static void serve(int n_left) { /* ends when as many messages have come */
    static char rung;
    if (n_left == 0) return;
    COMM_PLAN(bell, out(&rung));
#pragma omp task depend(in : rung) firstprivate(n_left)
    {
        commtask_message* taken[n_slots];
        pthread_mutex_lock(&lid);
        const int n_taken = n_in_box;
        for (; n_in_box > 0; --n_in_box) taken[n_in_box - 1] = box[n_in_box - 1];
        pthread_mutex_unlock(&lid);
        for (int i = 0; i < n_taken; ++i) {
            commtask_message* const message = taken[i];
#pragma omp task firstprivate(message)
            use(message);
        }
        serve(n_left - n_taken);
    }
}
/* [box] */

int main(int argc, char** argv) {
    int level, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (commtask_init(NULL) != COMMTASK_OK) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* [bell] */
    commtask_record_begin();
    commtask_submit(commtask_op_noop(MPI_COMM_SELF), NULL, NULL);
    commtask_record_end(&bell);
    commtask_plan_hold(bell, 0);
    /* [bell] */
    commtask_listener_t listener = COMMTASK_LISTENER_NULL;
    commtask_listen(MPI_COMM_WORLD, 3, sizeof(int), n_slots, put_into_box, NULL, &listener);
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup /* a barrier does not wait for what a task that has ended has left open */
    {
        static int numbers[n_each];
        serve(n_each * size);
        for (int i = 0; i < n_each; ++i) {
            numbers[i] = rank * n_each + i;
            for (int to = 0; to < size; ++to) COMM_TASK(send(&numbers[i], 1, MPI_INT, to, 3, MPI_COMM_WORLD));
        }
    }
    commtask_unlisten(&listener);
    commtask_plan_release(&bell);
    commtask_finalize();
    MPI_Finalize();
    const long n = (long)n_each * size;
    return n_seen != n || sum != n * (n - 1) / 2;
}
