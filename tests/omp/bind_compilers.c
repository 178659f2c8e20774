/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks of every kind that compilers make in ways of their own, each holding a receive from the left rank and a send to the
 * right; what follows each must see what was received. Compiled by every clang there is (bind_compilers.py). */
#include <commtask/omp.h>
#include <commtask/omp_bind.h>
#include <stdio.h>

enum { n_kinds = 11, n_turns = 20 };

static int left, right, mine;
static int came[n_kinds];

static void exchange(int kind) {
    commtask_omp_bind(commtask_op_recv(&came[kind], 1, MPI_INT, left, kind, MPI_COMM_WORLD));
    commtask_omp_bind(commtask_op_send(&mine, 1, MPI_INT, right, kind, MPI_COMM_WORLD));
}

static int is_wrong(int kind) {
    if (came[kind] == 100 + left) return 0;
    fprintf(stderr, "kind %d: %d came, not %d\n", kind, came[kind], 100 + left);
    return 1;
}

static int look(void) {
    int n_wrong = 0;
    const int never = left < -1;
#pragma omp taskgroup
    {
#pragma omp task depend(out : came[0])
        exchange(0);
#pragma omp task untied depend(out : came[1])
        exchange(1);
#pragma omp task priority(5) depend(out : came[2])
        exchange(2);
#pragma omp task mergeable depend(out : came[3])
        exchange(3);
        for (int kind = 0; kind < 4; ++kind) {
#pragma omp task depend(in : came[kind]) firstprivate(kind) shared(n_wrong)
            if (is_wrong(kind)) {
#pragma omp atomic
                ++n_wrong;
            }
        }
    }
#pragma omp task if (never)
    exchange(4);
    n_wrong += is_wrong(4);
#pragma omp task final(1)
    exchange(5);
#pragma omp taskwait
    n_wrong += is_wrong(5);
#pragma omp task
    {
#pragma omp task
        exchange(6);
#pragma omp taskwait
    }
#pragma omp taskwait
    n_wrong += is_wrong(6);
    /* A copy of the task for every iteration, which waits for none of the others. */
#pragma omp taskloop grainsize(1)
    for (int kind = 7; kind < n_kinds; ++kind) exchange(kind);
    for (int kind = 7; kind < n_kinds; ++kind) n_wrong += is_wrong(kind);
    return n_wrong;
}

int main(int argc, char** argv) {
    int provided = 0, rank = 0, n_ranks = 0, n_wrong = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    left = (rank + n_ranks - 1) % n_ranks;
    right = (rank + 1) % n_ranks;
    mine = 100 + rank;
    if (commtask_init(NULL) != COMMTASK_OK || commtask_omp_bind_check() != COMMTASK_OK) {
        fprintf(stderr, "%s%s\n", commtask_last_error(), commtask_omp_last_error());
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
#pragma omp parallel
#pragma omp single
    for (int turn = 0; turn < n_turns; ++turn) {
        for (int kind = 0; kind < n_kinds; ++kind) came[kind] = -1;
        n_wrong += look();
    }
    commtask_finalize();
    MPI_Finalize();
    return n_wrong != 0;
}
