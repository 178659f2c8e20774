// SPDX-License-Identifier: Apache-2.0
//
// A directive's task whose dependences are not met is in the list of unfinished tasks, with its operation and its line, and
// no longer when it has run.
#define _GNU_SOURCE
#include "ring.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Before commtask_init, which reads it. */
__attribute__((constructor)) static void ask_for_lists(void) { setenv("COMMTASK_SIGNAL", "SIGUSR1", 1); }

/* What is said at the signal, until `last` has been said. */
static void list_until(const char* last, char* text, size_t size) {
    int ends[2];
    expect(pipe(ends) == 0, "pipe");
    const int before = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    raise(SIGUSR1);
    size_t n = 0;
    do {
        n += read(ends[0], text + n, 1) == 1;
        text[n] = '\0';
    } while (n + 1 < size && strstr(text, last) == NULL);
    dup2(before, STDERR_FILENO);
    close(before);
    close(ends[0]);
    close(ends[1]);
}

static void test_all(void) {
    int sent[3] = {0}, received[3] = {0};
    char text[4096], wanted[200];
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        omp_event_handle_t gate = (omp_event_handle_t)0;
#pragma omp task detach(gate) depend(out : sent) shared(sent, rank)
        fill(sent, 3, rank);
        const int line = __LINE__ + 1;
#pragma omp task depend(in : sent) comm(send : sent, 3, MPI_INT, right, 77, world)
#pragma omp task depend(out : received) comm(recv : received, 3, MPI_INT, left, 77, world)
        ;
        snprintf(
            wanted, sizeof wanted,
            "send of 3 MPI_INT to rank %d, tag 77, MPI_COMM_WORLD, created at waiting.c:%d; for the dependences of its "
            "OpenMP task\n",
            right, line);
        list_until(wanted, text, sizeof text);
        expect(strstr(text, wanted) != NULL, text);
        omp_fulfill_event(gate);
    }
    expect_from(received, 3, left, "what was received");
    const commtask_op barrier = commtask_op_barrier(world);
    commtask_t task = COMMTASK_NULL;
    expect(commtask_post_operation(&barrier, NULL, &task) == COMMTASK_OK && commtask_wait(&task, NULL) == COMMTASK_OK,
           "a barrier");
    list_until("no task is unfinished\n", text, sizeof text);
}
