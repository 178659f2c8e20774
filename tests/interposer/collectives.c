// SPDX-License-Identifier: Apache-2.0
//
// Every collective operation, blocking, nonblocking and (where the MPI has them) persistent, in one body: COLLECTIVE
// makes the call in the form that the case asks for. Sums and permutations whose result every rank can compute, with
// MPI_IN_PLACE, different counts per rank, and roots that change.
#include "probe.h"

enum form { form_blocking, form_nonblocking, form_persistent };
static enum form form;
enum { max_ranks = 16, n_each = 5 };

static void complete(MPI_Request* request) {
    MPI_Status status;
    MPI_Wait(request, &status);
    EXPECT(*request == MPI_REQUEST_NULL);
}

static void start_twice(MPI_Request* request) {
    EXPECT(*request != MPI_REQUEST_NULL);
    for (int i = 0; i < 2; ++i) {
        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
        EXPECT(*request != MPI_REQUEST_NULL);
    }
    MPI_Request_free(request);
}

#if MPI_VERSION >= 4
#define PERSISTENT(name, ...)                                                                                          \
    MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request);                                                           \
    start_twice(&request);
#else
#define PERSISTENT(name, ...) (void)start_twice;
#endif
#define COLLECTIVE(name, iname, ...)                                                                                   \
    do {                                                                                                               \
        MPI_Request request = MPI_REQUEST_NULL;                                                                        \
        if (form == form_blocking) {                                                                                   \
            MPI_##name(__VA_ARGS__);                                                                                   \
        } else if (form == form_nonblocking) {                                                                         \
            MPI_##iname(__VA_ARGS__, &request);                                                                        \
            complete(&request);                                                                                        \
        } else {                                                                                                       \
            PERSISTENT(name, __VA_ARGS__)                                                                              \
        }                                                                                                              \
    } while (0)

static int sum_of_ranks(void) { return n_ranks * (n_ranks - 1) / 2; }

static void movements(void) {
    int mine[n_each * max_ranks];
    int all[n_each * max_ranks];
    int counts[max_ranks];
    int places[max_ranks];
    int total = 0;
    for (int i = 0; i < n_ranks; ++i) {
        counts[i] = i % n_each + 1;
        places[i] = total;
        total += counts[i];
    }
    COLLECTIVE(Barrier, Ibarrier, MPI_COMM_WORLD);
    for (int root = 0; root < n_ranks; ++root) {
        fill(mine, n_each, me, 1);
        COLLECTIVE(Bcast, Ibcast, mine, n_each, MPI_INT, root, MPI_COMM_WORLD);
        EXPECT(is_filled(mine, n_each, root, 1));

        fill(mine, n_each, me, 2);
        COLLECTIVE(Gather, Igather, mine, n_each, MPI_INT, all, n_each, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < n_ranks && me == root; ++i) {
            EXPECT(is_filled(&all[i * n_each], n_each, i, 2));
        }
        COLLECTIVE(Gatherv, Igatherv, mine, counts[me], MPI_INT, all, counts, places, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < n_ranks && me == root; ++i) {
            EXPECT(is_filled(&all[places[i]], counts[i], i, 2));
        }
        for (int i = 0; i < n_ranks; ++i) {
            fill(&all[i * n_each], n_each, i, 3 + root);
        }
        if (form != form_persistent) { // MPICH 4.0.2 cannot start it twice with four ranks
            COLLECTIVE(Scatter, Iscatter, all, n_each, MPI_INT, mine, n_each, MPI_INT, root, MPI_COMM_WORLD);
            EXPECT(is_filled(mine, n_each, me, 3 + root));
        }
        for (int i = 0; i < n_ranks; ++i) {
            fill(&all[places[i]], counts[i], i, 4 + root);
        }
        COLLECTIVE(Scatterv, Iscatterv, all, counts, places, MPI_INT, mine, counts[me], MPI_INT, root, MPI_COMM_WORLD);
        EXPECT(is_filled(mine, counts[me], me, 4 + root));
    }
    fill(mine, n_each, me, 5);
    COLLECTIVE(Allgather, Iallgather, mine, n_each, MPI_INT, all, n_each, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < n_ranks; ++i) {
        EXPECT(is_filled(&all[i * n_each], n_each, i, 5));
    }
    fill(mine, n_each, me, 6);
    COLLECTIVE(Allgatherv, Iallgatherv, mine, counts[me], MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < n_ranks; ++i) {
        EXPECT(is_filled(&all[places[i]], counts[i], i, 6));
    }
    for (int i = 0; i < n_ranks; ++i) {
        fill(&mine[i * n_each], n_each, me, 10 + i);
    }
    COLLECTIVE(Alltoall, Ialltoall, mine, n_each, MPI_INT, all, n_each, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < n_ranks; ++i) {
        EXPECT(is_filled(&all[i * n_each], n_each, i, 10 + me));
    }
}

static void different_counts(void) {
    int out[n_each * max_ranks];
    int in[n_each * max_ranks];
    int out_counts[max_ranks];
    int out_places[max_ranks];
    int in_counts[max_ranks];
    int in_places[max_ranks];
    int byte_places[max_ranks];
    int in_byte_places[max_ranks];
    MPI_Datatype types[max_ranks];
    for (int i = 0; i < n_ranks; ++i) {
        out_counts[i] = (me + i) % n_each + 1;
        in_counts[i] = out_counts[i];
        out_places[i] = in_places[i] = i * n_each;
        byte_places[i] = in_byte_places[i] = i * n_each * (int)sizeof(int);
        types[i] = MPI_INT;
        fill(&out[i * n_each], n_each, me, 20 + i);
    }
    memset(in, 0, sizeof in);
    COLLECTIVE(Alltoallv, Ialltoallv, out, out_counts, out_places, MPI_INT, in, in_counts, in_places, MPI_INT,
               MPI_COMM_WORLD);
    for (int i = 0; i < n_ranks; ++i) {
        EXPECT(is_filled(&in[i * n_each], in_counts[i], i, 20 + me));
    }
    memset(in, 0, sizeof in);
    COLLECTIVE(Alltoallw, Ialltoallw, out, out_counts, byte_places, types, in, in_counts, in_byte_places, types,
               MPI_COMM_WORLD);
    for (int i = 0; i < n_ranks; ++i) {
        EXPECT(is_filled(&in[i * n_each], in_counts[i], i, 20 + me));
    }
}

static void reductions(void) {
    int mine[n_each * max_ranks];
    int all[n_each * max_ranks];
    int counts[max_ranks];
    for (int i = 0; i < n_each * n_ranks; ++i) {
        mine[i] = me + i;
    }
    for (int root = 0; root < n_ranks; ++root) {
        COLLECTIVE(Reduce, Ireduce, mine, all, n_each, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        for (int i = 0; i < n_each && me == root; ++i) {
            EXPECT(all[i] == sum_of_ranks() + n_ranks * i);
        }
    }
    COLLECTIVE(Allreduce, Iallreduce, mine, all, n_each, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < n_each; ++i) {
        EXPECT(all[i] == n_ranks - 1 + i);
    }
    COLLECTIVE(Scan, Iscan, mine, all, n_each, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n_each; ++i) {
        EXPECT(all[i] == me * (me + 1) / 2 + (me + 1) * i);
    }
    COLLECTIVE(Exscan, Iexscan, mine, all, n_each, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n_each && me > 0; ++i) {
        EXPECT(all[i] == me * (me - 1) / 2 + me * i);
    }
    for (int i = 0; i < n_ranks; ++i) {
        counts[i] = n_each;
    }
    COLLECTIVE(Reduce_scatter, Ireduce_scatter, mine, all, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n_each; ++i) {
        EXPECT(all[i] == sum_of_ranks() + n_ranks * (me * n_each + i));
    }
    COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, mine, all, n_each, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n_each; ++i) {
        EXPECT(all[i] == sum_of_ranks() + n_ranks * (me * n_each + i));
    }
    double pair[2][2] = {{1.0 / (1 + me), 1}, {0, 0}};
    COLLECTIVE(Allreduce, Iallreduce, pair[0], pair[1], 2, MPI_DOUBLE, MPI_PROD, MPI_COMM_WORLD);
    say("product %.17g %.17g", pair[1][0], pair[1][1]);
    struct {
        double value;
        int index;
    } own = {(double)((me + 1) % n_ranks), me}, best = {0, 0};
    COLLECTIVE(Allreduce, Iallreduce, &own, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    say("best %g at %d", best.value, best.index);
}

static void in_place(void) {
    int all[n_each * max_ranks];
    if (form == form_persistent) {
        return; // the second start would take the first one's result
    }
    for (int i = 0; i < n_each; ++i) {
        all[i] = me + i;
    }
    COLLECTIVE(Allreduce, Iallreduce, MPI_IN_PLACE, all, n_each, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n_each; ++i) {
        EXPECT(all[i] == sum_of_ranks() + n_ranks * i);
    }
    for (int i = 0; i < n_ranks; ++i) {
        fill(&all[i * n_each], n_each, i == me ? me : -1, 7);
    }
    COLLECTIVE(Allgather, Iallgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, n_each, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < n_ranks; ++i) {
        EXPECT(is_filled(&all[i * n_each], n_each, i, 7));
    }
    for (int i = 0; i < n_ranks; ++i) {
        fill(&all[i * n_each], n_each, me, 30 + i);
    }
    COLLECTIVE(Alltoall, Ialltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, n_each, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < n_ranks; ++i) {
        EXPECT(is_filled(&all[i * n_each], n_each, i, 30 + me));
    }
    int value = me + 1;
    if (me == 0) {
        COLLECTIVE(Reduce, Ireduce, MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        EXPECT(value == sum_of_ranks() + n_ranks);
    } else {
        COLLECTIVE(Reduce, Ireduce, &value, NULL, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    }
    fill(all, n_each * n_ranks, 0, 8);
    if (me == 0) {
        COLLECTIVE(Scatter, Iscatter, all, n_each, MPI_INT, MPI_IN_PLACE, n_each, MPI_INT, 0, MPI_COMM_WORLD);
    } else {
        COLLECTIVE(Scatter, Iscatter, NULL, 0, MPI_DATATYPE_NULL, all, n_each, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (me == 0) {
        fill(all, n_each, me, 9);
        COLLECTIVE(Gather, Igather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, n_each, MPI_INT, 0, MPI_COMM_WORLD);
        for (int i = 0; i < n_ranks; ++i) {
            EXPECT(is_filled(&all[i * n_each], n_each, i, 9));
        }
    } else {
        fill(all, n_each, me, 9);
        COLLECTIVE(Gather, Igather, all, n_each, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
    }
    value = me + 1;
    COLLECTIVE(Scan, Iscan, MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(value == (me + 1) * (me + 2) / 2);
}

static void large(void) {
    enum { n = 1 << 17 };
    int* out = malloc(sizeof(int) * n);
    int* in = malloc(sizeof(int) * n);
    for (int i = 0; i < n; ++i) {
        out[i] = me * i;
    }
    COLLECTIVE(Allreduce, Iallreduce, out, in, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; ++i) {
        if (in[i] != sum_of_ranks() * i) {
            EXPECT(false);
            break;
        }
    }
    fill(out, n, me, 3);
    COLLECTIVE(Bcast, Ibcast, out, n, MPI_INT, n_ranks - 1, MPI_COMM_WORLD);
    EXPECT(is_filled(out, n, n_ranks - 1, 3));
    free(out);
    free(in);
}

// Counts, displacements and types may be changed or freed after the completion only, but types may be freed at once.
static void several_under_way(void) {
    if (form != form_nonblocking) {
        return;
    }
    int values[4] = {me, 0, me == 0 ? 77 : 0, 0};
    MPI_Request requests[4];
    MPI_Datatype two_bytes;
    short shorts[2] = {(short)me, 0};
    MPI_Type_contiguous(2, MPI_BYTE, &two_bytes);
    MPI_Type_commit(&two_bytes);
    MPI_Iallreduce(&values[0], &values[1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(&values[2], 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
    MPI_Ibcast(&shorts[0], 1, two_bytes, 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Type_free(&two_bytes);
    // A message in between neither waits for them nor disturbs them.
    MPI_Sendrecv(&me, 1, MPI_INT, next_rank(), 1, &values[3], 1, MPI_INT, previous_rank(), 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; ++i) {
        int index = -1;
        MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
        EXPECT(index >= 0 && requests[index] == MPI_REQUEST_NULL);
    }
    EXPECT(values[1] == sum_of_ranks() && values[2] == 77 && values[3] == previous_rank() && shorts[0] == 0);
}

/// Arrays of counts that are spoilt at once. The standard wants them kept until the end; MPI reads them at the call, and
/// programs that free them then are about (mpi4py's Ireduce_scatter).
static void counts_of_a_moment(void) {
    if (form != form_nonblocking) {
        return;
    }
    enum { most = 8 };
    int out[most];
    int in[most];
    for (int which = 0; which < 5; ++which) {
        int* const arrays = malloc(2 * sizeof(int) * (size_t)n_ranks);
        int* const counts = arrays;
        int* const places = arrays + n_ranks;
        MPI_Request request;
        for (int i = 0; i < n_ranks; ++i) {
            counts[i] = 1;
            places[i] = i;
            out[i] = 10 * me + i;
            in[i] = -1;
        }
        out[1] = 10 * me + 1;
        switch (which) {
        case 0: MPI_Ireduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request); break;
        case 1:
            MPI_Ialltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD, &request);
            break;
        case 2: MPI_Iallgatherv(&out[1], 1, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD, &request); break;
        case 3: MPI_Igatherv(&out[1], 1, MPI_INT, in, counts, places, MPI_INT, 0, MPI_COMM_WORLD, &request); break;
        default: MPI_Iscatterv(out, counts, places, MPI_INT, in, 1, MPI_INT, 0, MPI_COMM_WORLD, &request); break;
        }
        memset(arrays, 0x7f, 2 * sizeof(int) * (size_t)n_ranks);
        free(arrays);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        say("counts of a moment %d: %d %d", which, in[0], in[n_ranks - 1]);
    }
}

static void everything(void) {
    movements();
    different_counts();
    reductions();
    in_place();
    large();
    several_under_way();
    counts_of_a_moment();
}

static void blocking(void) {
    form = form_blocking;
    everything();
}
static void nonblocking(void) {
    form = form_nonblocking;
    everything();
}
#if MPI_VERSION >= 4
static void persistent(void) {
    form = form_persistent;
    everything();
}
#endif

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {
        {"blocking", blocking, 1},
        {"nonblocking", nonblocking, 1},
#if MPI_VERSION >= 4
        {"persistent", persistent, 1},
#endif
    };
    return probe_main(argc, argv, cases, PROBE_COUNT(cases));
}
