// SPDX-License-Identifier: Apache-2.0
//
// One-sided communication: every way to make a window and every way to synchronise one, request-based operations in one
// array with messages, atomics. Windows have a multiple of 16 bytes per rank: MPICH 4.0.2 puts beside others.
// Synchronisation calls block without a nonblocking twin, so another rank's message must not depend on them.
#include "harness/own_window.h"
#include "probe.h"

enum { n = 64 };
static int own[n];
static bool is_own_exposed; ///< This MPI has windows over it here.
static int* memory;         ///< Of the last window that make() has made.

static void check_neighbour(const int* base, int salt) { EXPECT(is_filled(base, 8, previous_rank(), salt)); }

static void fences(void) {
    for (int kind = 0; kind < 4; ++kind) {
        if ((kind == 0 || kind == 3) && !is_own_exposed) continue;
        MPI_Win window;
        int* base = own;
        int out[8];
        int in[8];
        switch (kind) {
        case 0: MPI_Win_create(own, sizeof own, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window); break;
        case 1: MPI_Win_allocate(sizeof own, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window); break;
        case 2: MPI_Win_allocate_shared(sizeof own, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window); break;
        default:
            MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
            MPI_Win_attach(window, own, sizeof own);
            break;
        }
        MPI_Aint target = 0;
        if (kind == 3) {
            MPI_Aint address;
            MPI_Get_address(own, &address);
            MPI_Sendrecv(&address, 1, MPI_AINT, previous_rank(), 1, &target, 1, MPI_AINT, next_rank(), 1,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        fill(out, 8, me, kind);
        MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
        MPI_Put(out, 8, MPI_INT, next_rank(), target, 8, MPI_INT, window);
        MPI_Win_fence(0, window);
        check_neighbour(base, kind);
        MPI_Get(in, 8, MPI_INT, next_rank(), target, 8, MPI_INT, window);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
        EXPECT(is_filled(in, 8, me, kind));
        if (kind == 3) {
            MPI_Win_detach(window, own);
        }
        MPI_Win_free(&window);
        EXPECT(window == MPI_WIN_NULL);
    }
}

static void make(MPI_Win* window) {
    memory = own;
    if (is_own_exposed) {
        MPI_Win_create(own, sizeof own, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, window);
    } else {
        MPI_Win_allocate(sizeof own, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, (void*)&memory, window);
    }
    memset(memory, 0, sizeof own);
    MPI_Barrier(MPI_COMM_WORLD); // nobody writes before
}

static void accumulate(void) {
    MPI_Win window;
    make(&window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < 10; ++i) {
        MPI_Accumulate(&me, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
    }
    MPI_Win_fence(0, window);
    if (me == 0) {
        EXPECT(memory[0] == 10 * n_ranks * (n_ranks - 1) / 2);
    }
    MPI_Win_free(&window);
}

static void locks(void) {
    MPI_Win window;
    int out[8];
    int in[8] = {0};
    make(&window);
    fill(out, 8, me, 3);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next_rank(), 0, window);
    MPI_Put(out, 8, MPI_INT, next_rank(), 0, 8, MPI_INT, window);
    MPI_Win_flush(next_rank(), window);
    MPI_Get(in, 8, MPI_INT, next_rank(), 0, 8, MPI_INT, window);
    MPI_Win_flush_local(next_rank(), window);
    EXPECT(is_filled(in, 8, me, 3));
    MPI_Win_unlock(next_rank(), window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, window);
    check_neighbour(memory, 3);
    MPI_Win_unlock(me, window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    int before = -1;
    const int one = 1;
    for (int i = 0; i < 20; ++i) {
        MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 32, MPI_SUM, window);
        MPI_Win_flush(0, window);
    }
    MPI_Win_sync(window);
    MPI_Win_flush_all(window);
    MPI_Win_flush_local_all(window);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        EXPECT(memory[32] == 20 * n_ranks);
        MPI_Win_unlock(0, window);
    }
    MPI_Win_free(&window);
}

static void swaps(void) {
    MPI_Win window;
    make(&window);
    int turn = -1;
    // Rank by rank, each takes the place of the one before.
    for (MPI_Win_lock_all(0, window); turn != me;) {
        const int wanted = me;
        const int replaced = me + 1;
        MPI_Compare_and_swap(&replaced, &wanted, &turn, MPI_INT, 0, 0, window);
        MPI_Win_flush(0, window);
    }
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    int end = -1;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get_accumulate(NULL, 0, MPI_INT, &end, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, window);
    MPI_Win_unlock(0, window);
    EXPECT(end == n_ranks);
    MPI_Win_free(&window);
}

static void post_and_start(void) {
    MPI_Win window;
    MPI_Group world;
    MPI_Group to;
    MPI_Group from;
    const int next = next_rank();
    const int previous = previous_rank();
    int out[8];
    make(&window);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &next, &to);
    MPI_Group_incl(world, 1, &previous, &from);
    for (int turn = 0; turn < 5; ++turn) {
        fill(out, 8, me, turn);
        MPI_Win_post(from, 0, window);
        MPI_Win_start(to, 0, window);
        MPI_Put(out, 8, MPI_INT, next, 0, 8, MPI_INT, window);
        MPI_Win_complete(window);
        if (turn % 2) {
            MPI_Win_wait(window);
        } else {
            int flag = 0;
            while (!flag) {
                MPI_Win_test(window, &flag);
            }
        }
        check_neighbour(memory, turn);
    }
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&world);
    MPI_Win_free(&window);
}

static void requests(void) {
    MPI_Win window;
    int out[8];
    int in[8] = {0};
    int got = -1;
    MPI_Request all[6];
    make(&window);
    fill(out, 8, me, 4);
    MPI_Win_lock_all(0, window);
    MPI_Rput(out, 8, MPI_INT, next_rank(), 0, 8, MPI_INT, window, &all[0]);
    MPI_Irecv(&got, 1, MPI_INT, previous_rank(), 1, MPI_COMM_WORLD, &all[1]);
    MPI_Isend(&me, 1, MPI_INT, next_rank(), 1, MPI_COMM_WORLD, &all[2]);
    MPI_Raccumulate(&me, 1, MPI_INT, 0, 40, 1, MPI_INT, MPI_SUM, window, &all[3]);
    all[4] = MPI_REQUEST_NULL;
    MPI_Rget_accumulate(&me, 1, MPI_INT, &in[7], 1, MPI_INT, 0, 41, 1, MPI_INT, MPI_SUM, window, &all[5]);
    int n_done = 0;
    for (int index = 0; index != MPI_UNDEFINED; ++n_done) {
        MPI_Waitany(6, all, &index, MPI_STATUS_IGNORE);
    }
    EXPECT(n_done == 6 && got == previous_rank());
    MPI_Win_flush_all(window);
    MPI_Rget(in, 8, MPI_INT, next_rank(), 0, 8, MPI_INT, window, &all[0]);
    MPI_Wait(&all[0], MPI_STATUS_IGNORE);
    EXPECT(all[0] == MPI_REQUEST_NULL && is_filled(in, 8, me, 4));
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        EXPECT(memory[40] == n_ranks * (n_ranks - 1) / 2 && memory[41] == memory[40]);
    }
    MPI_Win_free(&window);
}

// The target of a passive epoch waits in a receive that the origin answers after its epoch.
static void passive_target_waits_in_mpi(void) {
    MPI_Win window;
    int token = -1;
    make(&window);
    if (me == 0) {
        for (int i = 1; i < n_ranks; ++i) {
            MPI_Recv(&token, 1, MPI_INT, i, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        EXPECT(memory[1] == 101 || n_ranks == 1);
        MPI_Win_unlock(0, window);
    } else {
        const int value = 100 + me;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Put(&value, 1, MPI_INT, 0, me, 1, MPI_INT, window);
        MPI_Win_unlock(0, window);
        MPI_Send(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
    MPI_Win_free(&window);
}

// A type that is freed right after the call that used it, and messages posted before an epoch.
static void mixed_with_messages(void) {
    MPI_Win window;
    MPI_Datatype every_other;
    MPI_Request requests[2];
    int out[16];
    int in = -1;
    make(&window);
    fill(out, 16, me, 6);
    MPI_Irecv(&in, 1, MPI_INT, previous_rank(), 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&me, 1, MPI_INT, next_rank(), 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Win_fence(0, window);
    MPI_Type_vector(8, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Put(out, 1, every_other, next_rank(), 0, 8, MPI_INT, window);
    MPI_Type_free(&every_other);
    MPI_Win_fence(0, window);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    int expected[16];
    fill(expected, 16, previous_rank(), 6);
    for (int i = 0; i < 8; ++i) {
        EXPECT(memory[i] == expected[2 * i]);
    }
    EXPECT(in == previous_rank());
    MPI_Win_free(&window);
}

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {
        {"fences", fences, 1},
        {"accumulate", accumulate, 1},
        {"locks", locks, 1},
        {"swaps", swaps, 1},
        {"post_and_start", post_and_start, 1},
        {"requests", requests, 1},
        {"passive_target_waits_in_mpi", passive_target_waits_in_mpi, 1},
        {"mixed_with_messages", mixed_with_messages, 1},
    };
    MPI_Init(&argc, &argv);
    probe_start();
    MPI_Win window = make_own_window(own, sizeof own, sizeof(int), MPI_COMM_WORLD);
    is_own_exposed = window != MPI_WIN_NULL;
    if (is_own_exposed) MPI_Win_free(&window);
    if (!is_own_exposed && me == 0) {
        printf("this MPI has no windows over memory of one's own here: allocated ones take their place\n");
    }
    probe_run(argc, argv, cases, PROBE_COUNT(cases));
    MPI_Finalize();
    return probe_result();
}
