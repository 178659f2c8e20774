/* SPDX-License-Identifier: Apache-2.0
 *
 * The other clauses of OpenMP beside comm: each is accepted, in any order and with or without commas, and dependences
 * do what they say: what reads a buffer runs after the message that fills it, in every team. */
#include "ring.h"

static void dependences(void) {
    enum { n = 6 };
    int out[n] = {0}, in[n] = {0}, seen[n] = {0};
    int* where[n];
    for (int i = 0; i < n; ++i) where[i] = &in[i];
    omp_depend_t object;
#pragma omp depobj(object) depend(out : in[4])
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : out) shared(out)
        fill(out, n, rank);
#pragma omp task depend(in : out[0 : n]) depend(out : in[0 : 1]) comm(recv : in, 1, MPI_INT, left, 0, world)
#pragma omp task depend(iterator(i = 1 : 3), out : in[i]) comm(recv : &in[1], 2, MPI_INT, left, 1, world)              \
    depend(in : out)
#pragma omp task depend(iterator(int i = 3 : 4), out : *where[i]), comm(recv : where[3], 1, MPI_INT, left, 3, world)
#pragma omp task comm(recv : &in[4], 1, MPI_INT, left, 4, world) depend(depobj : object)
#pragma omp task depend(inout : in[5]) comm(recv : &in[5], 1, MPI_INT, left, 5, world)
#pragma omp task depend(in : out) comm(send : out, 1, MPI_INT, right, 0, world)
#pragma omp task depend(in : out) comm(send : out + 1, 2, MPI_INT, right, 1, world)
#pragma omp task depend(in : out) comm(send : out + 3, 1, MPI_INT, right, 3, world)
#pragma omp task depend(in : out) comm(send : out + 4, 1, MPI_INT, right, 4, world)
#pragma omp task depend(in : out) depend(mutexinoutset : left) comm(send : out + 5, 1, MPI_INT, right, 5, world)
        ;
        for (int i = 0; i < n; ++i) {
#pragma omp task depend(in : in[i]) firstprivate(i) shared(in, seen)
            seen[i] = in[i];
        }
    }
#pragma omp depobj(object) destroy
    expect_from(seen, n, left, "a dependent ran before its message had come");
}

static void data_sharing(void) {
    int out[4], in[4] = {-1, -1, -1, -1};
    fill(out, 4, rank);
    int unused = 0;
#pragma omp parallel default(none) shared(out, in, world, left, right, unused)
#pragma omp single
    {
#pragma omp task default(none) shared(in, world) comm(recv : in, 1, MPI_INT, left, 0, world)
#pragma omp task default(none) comm(send : out, 1, MPI_INT, right, 0, world)
#pragma omp task private(unused) firstprivate(left) shared(in) comm(recv : in + 1, 1, MPI_INT, left, 1, world)
#pragma omp task default(shared) untied priority(3) comm(send : out + 1, 1, MPI_INT, right, 1, world)
#pragma omp task affinity(in[2]) comm(recv : in + 2, 1, MPI_INT, left, 2, world)
#pragma omp task comm(ordered, send : out + 2, 1, MPI_INT, right, 2, world)
#pragma omp task comm(ordered, recv : in + 3, 1, MPI_INT, left, 3, world), allocate(left), firstprivate(left)
#pragma omp task comm(unordered, send : out + 3, 1, MPI_INT, right, 3, world)
    }
    expect_from(in, 4, left, "data sharing");
}

struct sum {
    int value;
};
static void add(struct sum* to, const struct sum* from) { to->value += from->value; }
#pragma omp declare reduction(send : struct sum : add(&omp_out, &omp_in)) initializer(omp_priv = {0})

/* A reduction may be called like an operation: it is in another clause. */
static void reduction_named_send(void) {
    struct sum total = {0};
    int out = 100 * rank, in = -1;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(send : total)
    {
        for (int i = 1; i <= 4; ++i) {
#pragma omp task in_reduction(send : total) firstprivate(i)
            total.value += i;
        }
#pragma omp task comm(send : &out, 1, MPI_INT, right, 0, world)
#pragma omp task comm(recv : &in, 1, MPI_INT, left, 0, world)
    }
    expect(total.value == 10, "a reduction named send");
    expect_from(&in, 1, left, "beside a reduction named send");
}

/* Tasks that create communication tasks and wait for them: with tied ones this hangs. */
static void nested(void) {
    enum { n = 12 };
    int out[n], in[n];
    fill(out, n, rank);
    fill(in, n, -1);
    int n_right = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < n; ++i) {
#pragma omp task firstprivate(i) shared(out, in, n_right)
        {
#pragma omp task comm(recv : &in[i], 1, MPI_INT, left, i, world) depend(out : in[i])
#pragma omp task comm(send : &out[i], 1, MPI_INT, right, i, world)
#pragma omp task depend(in : in[i]) shared(n_right, in)
            if (in[i] == 100 * left + i) {
#pragma omp atomic
                n_right += 1;
            }
#pragma omp taskwait
        }
    }
    expect(n_right == n, "nested tasks");
}

static void in_taskloop(void) {
    enum { n = 6 };
    int out[n], in[n];
    fill(out, n, rank);
    fill(in, n, -1);
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp taskloop shared(out, in) grainsize(2)
        for (int i = 0; i < n; ++i) {
#pragma omp task comm(recv : &in[i], 1, MPI_INT, left, i, world)
#pragma omp task comm(send : &out[i], 1, MPI_INT, right, i, world)
        }
    }
    expect_from(in, n, left, "taskloop");
}

static void test_all(void) {
    dependences();
    data_sharing();
    reduction_named_send();
    nested();
    in_taskloop();
}
