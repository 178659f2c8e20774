/* SPDX-License-Identifier: Apache-2.0
 *
 * A datatype, a communicator and a list that the program frees or uses again right after the directive, while the operation waits for
 * its dependences. */
#include <commtask/omp.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

enum { n_rounds = 20, n = 60 };

int main(int argc, char** argv) {
    int level = 0, rank = 0, n_ranks = 0, n_wrong = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (commtask_init(NULL) != COMMTASK_OK) return 2;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    const int left = (rank + n_ranks - 1) % n_ranks, right = (rank + 1) % n_ranks;
    for (int round = 0; round < n_rounds; ++round) {
        int out[n], in[n], word = 100 + rank, came = -1, is_freed = 0;
        for (int i = 0; i < n; ++i) out[i] = 1000 * rank + i;
        memset(in, -1, sizeof in);
#pragma omp parallel num_threads(2)
#pragma omp single
        {
#pragma omp task depend(out : out, in, word) shared(is_freed)
            for (int seen = 0; seen == 0; sched_yield()) {
#pragma omp atomic read
                seen = is_freed;
            }
            MPI_Comm comm;
            MPI_Datatype column;
            int dests[1] = {right};
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            MPI_Type_vector(n / 5, 1, 5, MPI_INT, &column);
            MPI_Type_commit(&column);
#pragma omp task depend(out : in) comm(recv : in, 1, column, left, 1, comm)
#pragma omp task depend(in : out) comm(send : out, 1, column, right, 1, comm)
#pragma omp task depend(in : word) comm(multicast : &word, 1, MPI_INT, dests, 1, 2, comm)
#pragma omp task depend(out : came) comm(recv : &came, 1, MPI_INT, left, 2, comm)
            ;
            MPI_Type_free(&column);
            MPI_Comm_free(&comm);
            dests[0] = -7;
            MPI_Type_contiguous(3, MPI_DOUBLE, &column);
            MPI_Type_commit(&column);
            MPI_Type_free(&column);
#pragma omp atomic write
            is_freed = 1;
        }
        for (int i = 0; i < n; ++i) n_wrong += in[i] != (i % 5 == 0 ? 1000 * left + i : -1);
        n_wrong += came != 100 + left;
    }
    printf("rank %d: %d wrong\n", rank, n_wrong);
    if (commtask_finalize() != COMMTASK_OK || commtask_omp_error_count() != 0) return 3;
    MPI_Finalize();
    return n_wrong != 0;
}
