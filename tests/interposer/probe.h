// SPDX-License-Identifier: Apache-2.0
//
// What the probes of the interposer share. A probe is a small MPI program that says, line by line, what MPI told it;
// the same program runs natively and under commtask-run, and compare.py wants the same lines of each rank and the same
// exit status. A probe also checks itself (EXPECT), so that a wrong native run is no yardstick.
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Set by probe_start; -1 and 0 before.
extern int me;
extern int n_ranks;

/// A part of a probe with a name of its own; it is left out with fewer ranks than `min_ranks`.
struct probe_case {
    const char* name;
    void (*run)(void);
    int min_ranks;
};

/// Prints one line of this rank, in one piece: "[rank] case: text".
void say(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// Prints source, tag, number of elements and whether it was cancelled.
void say_status(const char* what, const MPI_Status* status, MPI_Datatype type);

/// Prints the number of elements: all that an operation on a file says, and the rest of its status is left as it was.
void say_count(const char* what, const MPI_Status* status, MPI_Datatype type);

/// Prints the class of an error code by its name in the standard.
void say_class(const char* what, int code);

/// Says that a check failed, and makes the probe end with 1.
void probe_fault(const char* file, int line, const char* condition);

#define EXPECT(condition) ((condition) ? (void)0 : probe_fault(__FILE__, __LINE__, #condition))

/// Fills me and n_ranks from MPI_COMM_WORLD.
void probe_start(void);

/// 0, or 1 after a fault: what main returns.
int probe_result(void);

/// MPI_Init, the cases (all, or the one named by argv[1]) with a barrier between them, MPI_Finalize.
int probe_main(int argc, char** argv, const struct probe_case* cases, size_t n_cases);

/// The same with MPI_THREAD_MULTIPLE, which it must get.
int probe_main_with_threads(int argc, char** argv, const struct probe_case* cases, size_t n_cases);

/// The same within a program that has started MPI itself and will end it.
void probe_run(int argc, char** argv, const struct probe_case* cases, size_t n_cases);

#define PROBE_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/// The neighbours in a ring; this rank itself when it is alone.
int next_rank(void);
int previous_rank(void);

/// Fills n ints with values that only this (rank, salt) has.
void fill(int* values, int n, int rank, int salt);
/// Whether they are what fill would have put there.
bool is_filled(const int* values, int n, int rank, int salt);

#ifdef __cplusplus
}
#endif
