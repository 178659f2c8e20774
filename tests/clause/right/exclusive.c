/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations that keep an order, in tasks that exclude each other by a mutexinoutset: of the clause, and of dependence objects by
 * themselves, in a list, and by an iterator. A task that has the mutex must not wait for its turn. The computing tasks of the same
 * objects go on excluding each other in any order. C and C++. */
#include <commtask/omp.h>
#include <mpi.h>
#include <stdio.h>

enum { n_rounds = 20, n = 4 };
static int rank, left, right, n_wrong;

static void create(int how, omp_depend_t* objects, int* x, int* one, int* in, int* out, int* counted) {
    omp_event_handle_t gate = (omp_event_handle_t)0;
#pragma omp task detach(gate) depend(out : x[0], x[1])
    ; /* complete when all tasks of the round are created */
    for (int i = 0; i < n; ++i) {
#pragma omp task depend(depobj : objects[0]) firstprivate(counted)
        *counted += 1; /* no other task of the set runs */
        if (how == 0) {
#pragma omp task depend(mutexinoutset : x[0]) comm(allreduce : one, &in[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)
        } else if (how == 1) {
#pragma omp task depend(depobj : objects[0]) comm(allreduce : one, &in[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)
        } else if (how == 2) {
#pragma omp task comm(recv : &in[i], 1, MPI_INT, left, 1, MPI_COMM_WORLD) depend(depobj : objects[1], *(objects + 2))
#pragma omp task depend(depobj : objects[2]) comm(ordered, send : &out[i], 1, MPI_INT, right, 1, MPI_COMM_WORLD)
        } else {
#pragma omp task depend(iterator(k = 0 : 2), depobj : objects[k])                                                      \
    comm(recv : &in[i], 1, MPI_INT, left, 1, MPI_COMM_WORLD)
#pragma omp task depend(depobj : objects[3]) depend(in : out[i])                                                       \
    comm(unordered, send : &out[i], 1, MPI_INT, right, 1, MPI_COMM_WORLD)
        }
    }
    omp_fulfill_event(gate);
}

int main(int argc, char** argv) {
    int level = 0, n_ranks = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (commtask_init(NULL) != COMMTASK_OK) return 2;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    left = (rank + n_ranks - 1) % n_ranks;
    right = (rank + 1) % n_ranks;
    int x[2] = {0, 0}, one = 1, read_only = 0;
    omp_depend_t objects[4];
#pragma omp depobj(objects[0]) depend(mutexinoutset : x[0])
#pragma omp depobj(objects[1]) depend(mutexinoutset : x[0], x[1])
#pragma omp depobj(objects[2]) depend(in : read_only)
#pragma omp depobj(objects[3]) depend(inoutset : read_only)
    for (int round = 0; round < n_rounds; ++round) {
        for (int how = 0; how < 4; ++how) {
            int out[n], in[n], counted = 0;
            for (int i = 0; i < n; ++i) {
                out[i] = 100 * rank + (how == 3 ? 0 : i);
                in[i] = -1;
            }
#pragma omp parallel num_threads(2)
#pragma omp single
            create(how, objects, x, &one, in, out, &counted);
            for (int i = 0; i < n; ++i) {
                n_wrong += in[i] != (how < 2 ? n_ranks : 100 * left + (how == 3 ? 0 : i));
            }
            n_wrong += counted != n;
        }
    }
#pragma omp depobj(objects[0]) destroy
#pragma omp depobj(objects[1]) destroy
#pragma omp depobj(objects[2]) destroy
#pragma omp depobj(objects[3]) destroy
    printf("rank %d: %d wrong\n", rank, n_wrong);
    if (commtask_finalize() != COMMTASK_OK || commtask_omp_error_count() != 0) return 3;
    MPI_Finalize();
    return n_wrong != 0;
}
