/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a directive with a comm clause may stand in C, and how it may be written: every statement's place, macros of
 * every kind, _Pragma, included text, commas. Each way sends something around the ring, so that a directive which was
 * dropped, doubled or moved is seen. */
#include "ring.h"

#include "in_header.h"

#define COUNT 1
#define ARGUMENTS(buffer, to, tag)                                                                                     \
    send:                                                                                                              \
    buffer, COUNT, MPI_INT, to, tag, world
#define WHOLE_CLAUSE comm(recv : &in[1], COUNT, MPI_INT, left, 1, world)
#define CLAUSES depend(in : out[2]) comm(send : &out[2], 1, MPI_INT, right, 2, world)
#define PRAGMA(text) _Pragma(#text)
#define SEND(buffer, to, tag) PRAGMA(omp task depend(in : *buffer) comm(send : buffer, 1, MPI_INT, to, tag, world))
#define RECV(buffer, from, tag) PRAGMA(omp task depend(out : *buffer) comm(recv : buffer, 1, MPI_INT, from, tag, world))

static int n_calls;
static int* counted(int* pointer) {
    n_calls += 1;
    return pointer;
}

static void statements(int yes) {
    enum { n = 8 };
    int out[n], in[n];
    fill(out, n, rank);
    fill(in, n, -1);
#pragma omp parallel
#pragma omp single
    {
        if (yes)
#pragma omp task comm(recv : &in[0], 1, MPI_INT, left, 0, world)
            ;
        else
            expect(0, "else of a directive with ';'");
        if (!yes)
            expect(0, "if before a directive");
        else
#pragma omp task comm(send : &out[0], 1, MPI_INT, right, 0, world)
            ;
        for (int i = 1; i < 4; ++i)
#pragma omp task firstprivate(i) comm(recv : &in[i], 1, MPI_INT, left, i, world)
            ;
        int i = 1;
        while (i < 3 && (i += 1) > 0)
#pragma omp task comm(send : &out[i - 1], 1, MPI_INT, right, i - 1, world)
            ;
        do
#pragma omp task comm(send : &out[i], 1, MPI_INT, right, i, world)
            ;
        while (i++ < 3);
        switch (yes) {
        case 0: expect(0, "switch"); break;
        case 1:
#pragma omp task comm(recv : &in[4], 1, MPI_INT, left, 4, world)
        default:
#pragma omp task comm(send : &out[4], 1, MPI_INT, right, 4, world)
            break;
        }
        {
#pragma omp task comm(recv : &in[5], 1, MPI_INT, left, 5, world)
        }
        goto label;
    label:
#pragma omp task comm(send : &out[5], 1, MPI_INT, right, 5, world)
        ;
        if (yes) {
#pragma omp task comm(recv : &in[6], 1, MPI_INT, left, 6, world)
        } else {
        }
#pragma omp task comm(send : &out[6], 1, MPI_INT, right, 6, world)
        ;
#pragma omp taskgroup
        {
#pragma omp task comm(sendrecv : &out[7], 1, MPI_INT, right, 7, &in[7], 1, MPI_INT, left, 7, world)
        }
        expect_from(in + 7, 0, left, "taskgroup");
    }
    expect_from(in, n, left, "statements");
}

static void macros(int yes) {
    enum { n = 9 };
    int out[n], in[n];
    fill(out, n, rank);
    fill(in, n, -1);
#define comm world
#pragma omp parallel
#pragma omp single
    {
#pragma omp task comm(recv : &in[0], COUNT, MPI_INT, left, 0, comm)
#pragma omp task depend(in : out[0]), comm(ARGUMENTS(&out[0], right, 0)), priority(1)
#pragma omp task WHOLE_CLAUSE
#pragma omp task comm(ARGUMENTS(&out[1], right, 1))
#pragma omp task CLAUSES
#pragma omp task comm(recv : (&in[2]), (1), MPI_INT, ((void)yes, left), 2, comm)
        RECV(&in[3], left, 3);
        if (yes)
            SEND(&out[3], right, 3);
        else
            expect(0, "else behind a macro");
        if (!yes)
            expect(0, "if before a macro");
        else
            RECV(&in[4], left, 4);
        SEND(&out[4], right, 4) SEND(&out[5], right, 5) RECV(&in[5], left, 5);
        for (int i = 6; i < 8; ++i) SEND(&out[i], right, i);
        for (int i = 6; i < 8; ++i) RECV(&in[i], left, i);
        _Pragma("omp task comm(send : &out[8], 1, MPI_INT, right, 8, comm)")
            _Pragma("omp task comm(recv : &in[8], 1, MPI_INT, left, 8, comm)")
    }
#undef comm
    expect_from(in, n, left, "macros");
}

static void evaluated_once_and_at_once(void) {
    int out[2], in[2] = {-1, -1};
    fill(out, 2, rank);
    commtask_status status = COMMTASK_STATUS_INIT;
    int turn = 0;
    n_calls = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        int where = 0, gate = 0;
#pragma omp task depend(out : gate) shared(turn)
        {
#pragma omp atomic write
            turn = 1;
        }
#pragma omp task depend(in : gate) comm(recv : counted(&in[where]), 1, MPI_INT, left, 0, world) comm(status : &status)
        ; /* The task reads the values of now, though it starts later. */
        where = 1;
        expect(n_calls == 1, "an argument is evaluated once, when the task is created");
#pragma omp task comm(send : &out[0], 1, MPI_INT, right, 0, world)
#pragma omp taskwait
    }
    expect(n_calls == 1, "an argument is evaluated once");
    expect(turn == 1 && in[1] == -1, "arguments are those of the creation");
    expect_from(in, 1, left, "evaluated");
    expect(status.state == COMMTASK_STATE_COMPLETED && status.bytes == sizeof(int), "status");
}

static void included(void) {
    int out[2], in[2];
    fill(out, 2, rank);
    fill(in, 2, -1);
#pragma omp parallel
#pragma omp single
    {
        exchange_in_header(&out[0], &in[0]);
#define BUFFER_OUT &out[1]
#define BUFFER_IN &in[1]
#include "fragment.inc"
        ;
    }
    expect_from(in, 2, left, "included");
}

static void test_all(void) {
    statements(1);
    macros(1);
    evaluated_once_and_at_once();
    included();
}
