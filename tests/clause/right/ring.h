/* SPDX-License-Identifier: Apache-2.0
 *
 * What the programs with comm clauses share, in C and C++: a ring of ranks, a check that counts, and main(). A program
 * defines test_all(), whose directives send to the right and receive from the left. */
#ifndef COMMTASK_TESTS_CLAUSE_RING_H
#define COMMTASK_TESTS_CLAUSE_RING_H

#include <commtask/omp.h>
#include <stdio.h>

static MPI_Comm world;
static int rank, n_ranks, left, right;
static int n_wrong;

static void expect(int is_right, const char* what) {
    if (is_right) return;
    fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
    n_wrong += 1;
}

/* Fills what is sent with numbers that the receiver knows. */
static void fill(int* to, int n, int of_rank) {
    for (int i = 0; i < n; ++i) to[i] = 100 * of_rank + i;
}

static void expect_from(const int* from, int n, int of_rank, const char* what) {
    for (int i = 0; i < n; ++i) expect(from[i] == 100 * of_rank + i, what);
}

static void test_all(void);

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) return 77;
    world = MPI_COMM_WORLD;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &n_ranks);
    left = (rank + n_ranks - 1) % n_ranks;
    right = (rank + 1) % n_ranks;
    expect(commtask_init(NULL) == COMMTASK_OK, commtask_last_error());
    if (n_wrong == 0) test_all();
    char sentence[300];
    expect(commtask_omp_first_error(sentence, sizeof sentence) == COMMTASK_OK, sentence);
    expect(commtask_finalize() == COMMTASK_OK, "commtask_finalize");
    MPI_Finalize();
    return n_wrong != 0;
}

#endif
