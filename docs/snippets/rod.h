/* SPDX-License-Identifier: Apache-2.0
 *
 * What the halo exchanges of docs/plans.md begin with, and what must come out: the rod in one piece, which each rank computes alone. It
 * changes in every step, so that a ghost of another step would be seen. */
#pragma once
#include <stdlib.h>

/* The rod in the beginning, with the ends, which stay as they are. */
static inline double at_first(int cell) { return cell * 37 % 101; }

/* How many of a rank's n cells, mine[1] to mine[n], are not what they must be after the last step: all, if there is no
 * memory to compare them. */
static inline int wrong_cells(const double* mine, int n, int n_steps, int rank, int size) {
    const int n_all = n * size;
    double* const memory = (double*)malloc(2 * (size_t)(n_all + 2) * sizeof(double));
    if (memory == NULL) return n;
    double *rod = memory, *before = memory + n_all + 2;
    int n_wrong = 0;
    for (int i = 0; i < n_all + 2; ++i) rod[i] = before[i] = at_first(i);
    for (int s = 0; s < n_steps; ++s) {
        double* const last = rod;
        rod = before;
        before = last;
        for (int i = 1; i <= n_all; ++i) rod[i] = 0.5 * (before[i - 1] + before[i + 1]);
    }
    for (int i = 1; i <= n; ++i) n_wrong += mine[i] != rod[rank * n + i];
    free(memory);
    return n_wrong;
}
