// SPDX-License-Identifier: Apache-2.0
//
// Two ranks; the target of one-sided operations computes, and calls nothing, until it sees in its own memory that they have
// come: locks, accumulates, fetches and unlocks of the other rank's. Only under commtask-run does that end with MPICH, which
// makes progress for others in the target's own calls; Open MPI has no windows on memory of one's own here, and needs nobody
// for those that it allocates.
#include "harness/own_window.h"
#include "probe.h"

enum { n = 64, n_turns = 4 };
static const double give_up_s = 30;
static volatile unsigned long work;

static MPI_Win make(int** base) {
    static int memory[n];
    const MPI_Aint bytes = n * sizeof(int);
    MPI_Win window = make_own_window(memory, bytes, sizeof(int), MPI_COMM_WORLD);
    *base = memory;
    if (window == MPI_WIN_NULL) {
        MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, (void*)base, &window);
    }
    memset(*base, 0, (size_t)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    return window;
}

// Computes until the first element has that value. Returns whether it came to that.
static bool compute_until(const int* base, int value) {
    const double begin = MPI_Wtime();
    for (unsigned long x = 1; *(const volatile int*)base != value;) {
        for (int i = 0; i < 10000; ++i) {
            x = x * 6364136223846793005UL + 1442695040888963407UL;
        }
        work = x;
        if (MPI_Wtime() - begin > give_up_s) {
            return false;
        }
    }
    return true;
}

static void lock_epochs(void) {
    int* base = NULL;
    MPI_Win window = make(&base);
    if (me == 0) {
        EXPECT(compute_until(base, 2 * n_turns));
    } else {
        const int one = 1;
        for (int i = 0; i < n_turns; ++i) {
            int before = -1;
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
            MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
            MPI_Win_flush(0, window);
            MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, window);
            MPI_Win_unlock(0, window);
            EXPECT(before == 2 * i + 1);
        }
    }
    MPI_Win_free(&window);
}

// The origin computes too, until the target has answered: nobody is in MPI but the workers.
static void both_compute(void) {
    const int one = 1;
    int* base = NULL;
    MPI_Win window = make(&base);
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < n_turns; ++i) {
        MPI_Request request;
        if (me == 0) {
            EXPECT(compute_until(base, i + 1));
        }
        MPI_Raccumulate(&one, 1, MPI_INT, 1 - me, 0, 1, MPI_INT, MPI_SUM, window, &request);
        if (me == 1) {
            EXPECT(compute_until(base, i + 1));
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {{"lock_epochs", lock_epochs, 2}, {"both_compute", both_compute, 2}};
    return probe_main(argc, argv, cases, PROBE_COUNT(cases));
}
