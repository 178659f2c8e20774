/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded: a program that asks MPI for less gets MPI_THREAD_MULTIPLE. So what that level costs a program with one lane is
 * seen apart from what a second lane does. */
#include <mpi.h>

__attribute__((visibility("default"))) int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    (void)required;
    return PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, provided);
}
