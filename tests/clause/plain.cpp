// SPDX-License-Identifier: Apache-2.0
//
// OpenMP without communication, full of things called comm where a careless reader of pragmas would see a clause: this
// file must become the same object, bit for bit, with the plugin and without.
#include <cstddef>

namespace {

struct pair {
    int first;
    int second;
};
#pragma omp declare reduction(comm:pair : omp_out.first += omp_in.first) initializer(omp_priv = {0, 0})
#pragma omp declare reduction(send:pair : omp_out.second += omp_in.second) initializer(omp_priv = {0, 0})

int comm_state;
#pragma omp threadprivate(comm_state)

#define CLAUSES shared(total) depend(inout : total)
#define PRAGMA(text) _Pragma(#text)

int send(int x) { return x + 1; }
int comm(int x) { return x + 2; }

} // namespace

int run(int n, int* data);
int call(int* data);
int call(int* data) {
#pragma omp task if (comm(3) > 4) final(comm(1))
    data[1] = 1;
    return data[1];
}
int run(int n, int* data) {
    int comm = 0;
    int total = 0;
    pair both = {0, 0};
    static int x;
#pragma omp parallel num_threads(send(1)) reduction(comm : both) firstprivate(comm)
    {
        comm_state = comm;
#pragma omp for schedule(dynamic, send(3)) nowait
        for (int i = 0; i < n; ++i) both.first += data[i];
#pragma omp critical(comm)
        total += comm;
#pragma omp flush(comm)
#pragma omp single
        {
#pragma omp task CLAUSES if (comm > 1) final(comm > 2) mergeable
            total += 1;
#pragma omp task depend(in : total) priority(comm) untied
            { total += 2; }
            PRAGMA(omp task depend(out : total)) total += send(total);
            PRAGMA(omp taskwait)
#define comm private(x)
#pragma omp task comm
            x = 3;
#undef comm
#define comm(y) firstprivate(y)
#pragma omp task comm(total)
            data[0] = total;
#undef comm
        }
#pragma omp barrier
    }
#pragma omp taskgroup task_reduction(send : both)
    {
#pragma omp task in_reduction(send : both)
        both.second += comm;
    }
#pragma omp taskloop grainsize(4) shared(data)
    for (int i = 0; i < n; ++i) data[i] += i;
#pragma omp metadirective when(user = {condition(true)} : parallel num_threads(2)) default(nothing)
    for (int i = 0; i < n; ++i) data[i] *= send(comm);
#pragma omp simd
    for (int i = 0; i < n; ++i) data[i] *= 2;
    return total + both.first + both.second;
}
