/* SPDX-License-Identifier: Apache-2.0
 *
 * A function of a header with comm clauses in it: read by places.c and places.cpp, and made a precompiled header, in
 * which the clauses are already what they stand for. */
#ifndef COMMTASK_TESTS_CLAUSE_IN_HEADER_H
#define COMMTASK_TESTS_CLAUSE_IN_HEADER_H

#include "ring.h"

static inline void exchange_in_header(const int* out, int* in) {
#pragma omp task depend(in : *out) comm(send : out, 1, MPI_INT, right, 90, world)
#pragma omp task depend(out : *in) comm(recv : in, 1, MPI_INT, left, 90, world)
}

#endif
