// SPDX-License-Identifier: Apache-2.0
//
// Directives whose operations are on a window: what is put is read by a task at its target that depends on the notification, and
// comes back by a get that waits for the computing task.
#include "ring.h"

enum { n = 64, at = 3 };

static void test_all(void) {
    int* exposed = NULL;
    int sent = 0, seen = -1, back = -1;
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_allocate(n * sizeof(int), sizeof(int), MPI_INFO_NULL, world, &exposed, &window);
    for (int i = 0; i < n; ++i) exposed[i] = -1;
    expect(commtask_win_register(window, world) == COMMTASK_OK, commtask_last_error());
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task depend(out : sent) shared(sent, rank)
        fill(&sent, 1, rank);
#pragma omp task depend(inout : sent) comm(put_notify : &sent, 1, MPI_INT, right, at, 1, MPI_INT, 7, window)
#pragma omp task depend(out : exposed) comm(await_notify : 7, 1, left, window)
#pragma omp task depend(in : exposed) shared(seen, exposed)
        seen = exposed[at];
#pragma omp task depend(in : sent) depend(out : back) comm(get : &back, 1, MPI_INT, right, at, 1, MPI_INT, window)
        ;
    }
    expect_from(&seen, 1, left, "what the left neighbour has put");
    expect_from(&back, 1, rank, "what was put, got back");
    expect(commtask_win_unregister(window) == COMMTASK_OK, commtask_last_error());
    MPI_Win_free(&window);
}
