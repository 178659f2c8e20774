/* SPDX-License-Identifier: Apache-2.0
 *
 * An OpenMP task for each message of an active-message handler, of docs/many.md. The tasks run at the same time, so what they find is
 * counted atomically; that of the last message ends the handler, as here it is known how many come. */
#include <commtask/omp_listen.h>

enum { n_each = 50, n_slots = 8 };
static long sum, n_seen; /* what the messages' tasks found */

/* [use] */
static commtask_omp_listener numbers; /* stays until the tasks have ended */

static void use(commtask_message* message, void* expected) { /* a task, on any thread of the team */
    long n;
#pragma omp atomic
    sum += *(const int*)message->data;
#pragma omp atomic capture
    n = ++n_seen;
    if (n == *(const long*)expected) commtask_omp_unlisten(&numbers);
}
/* [use] */

int main(int argc, char** argv) {
    int level, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (commtask_init(NULL) != COMMTASK_OK) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long n = (long)n_each * size;
    int code = COMMTASK_OK;
    /* [listen] */
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup /* its end waits for the messages' tasks; a taskwait or a barrier would not */
    {
        static int mine[n_each];
        code = commtask_omp_listen(MPI_COMM_WORLD, 3, sizeof(int), n_slots, use, &n, &numbers);
        for (int i = 0; i < n_each; ++i) {
            mine[i] = rank * n_each + i;
            for (int to = 0; to < size; ++to) COMM_TASK(send(&mine[i], 1, MPI_INT, to, 3, MPI_COMM_WORLD));
        }
    }
    /* [listen] */
    commtask_finalize();
    MPI_Finalize();
    return code != COMMTASK_OK || n_seen != n || sum != n * (n - 1) / 2;
}
