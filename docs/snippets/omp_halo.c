/* SPDX-License-Identifier: Apache-2.0
 *
 * A halo exchange, twice round a ring: by the macro, and with the detach clause written by hand, which only clang's
 * code gives to libomp. The part between the marks is shown in docs/openmp.md as it stands. */
#include <commtask/omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 100 };
static double edge[n], ghost[n], taken;
static int left, right, rank;

static void pack(double* to) {
    for (int i = 0; i < n; ++i) to[i] = rank;
}

static void unpack(const double* from) { taken = from[n - 1]; }

static void by_macro(MPI_Comm comm) {
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        COMM_TASK(recv(ghost, n, MPI_DOUBLE, left, 0, comm), out(ghost));
#pragma omp task depend(out : edge[0])
        pack(edge);
        COMM_TASK(send(edge, n, MPI_DOUBLE, right, 0, comm), in(edge));
#pragma omp task depend(in : ghost[0])
        unpack(ghost);
    }
}

#ifdef __clang__
static void by_hand(MPI_Comm comm) {
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        /* [detach] */
        omp_event_handle_t event;
        commtask_status came = COMMTASK_STATUS_INIT;
        commtask_omp_task receive =
            commtask_omp_prepare(commtask_op_recv(ghost, n, MPI_DOUBLE, left, 0, comm), COMMTASK_NONE, &came);
#pragma omp task untied detach(event) depend(out : ghost[0 : n]) firstprivate(receive)
        commtask_omp_start_prepared(&receive, event);
        /* [detach] */
        COMM_TASK(send(edge, n, MPI_DOUBLE, right, 0, comm), in(edge));
#pragma omp task depend(in : ghost[0])
        unpack(ghost);
#pragma omp taskwait /* `came` lives until here */
    }
}
#else
static void by_hand(MPI_Comm comm) { by_macro(comm); }
#endif

int main(int argc, char** argv) {
    int level, size, n_wrong = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (commtask_init(NULL) != COMMTASK_OK) return EXIT_FAILURE;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    void (*const ways[2])(MPI_Comm) = {by_macro, by_hand};
    for (int way = 0; way < 2; ++way) {
        taken = -1;
        ways[way](MPI_COMM_WORLD);
        n_wrong += taken != left || commtask_omp_error_count() > 0;
    }
    commtask_finalize();
    MPI_Finalize();
    if (n_wrong > 0) fprintf(stderr, "rank %d: %d of two ways are wrong\n", rank, n_wrong);
    return n_wrong > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
