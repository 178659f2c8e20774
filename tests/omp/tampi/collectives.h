/* SPDX-License-Identifier: Apache-2.0
 *
 * Every collective once in one task, with counts that differ from rank to rank where they may. MPI's functions and TAMPI's have
 * the same parameters, so the same lines check those that hold the task and those in which it waits. */
#ifndef COMMTASK_TEST_TAMPI_COLLECTIVES_H
#define COMMTASK_TEST_TAMPI_COLLECTIVES_H

#include "program.h"

enum { most_ranks = 8, most_elements = most_ranks * most_ranks };

struct collectives {
    __typeof__(&MPI_Barrier) barrier;
    __typeof__(&MPI_Bcast) bcast;
    __typeof__(&MPI_Gather) gather;
    __typeof__(&MPI_Gatherv) gatherv;
    __typeof__(&MPI_Scatter) scatter;
    __typeof__(&MPI_Scatterv) scatterv;
    __typeof__(&MPI_Allgather) allgather;
    __typeof__(&MPI_Allgatherv) allgatherv;
    __typeof__(&MPI_Alltoall) alltoall;
    __typeof__(&MPI_Alltoallv) alltoallv;
    __typeof__(&MPI_Reduce) reduce;
    __typeof__(&MPI_Allreduce) allreduce;
    __typeof__(&MPI_Reduce_scatter) reduce_scatter;
    __typeof__(&MPI_Reduce_scatter_block) reduce_scatter_block;
    __typeof__(&MPI_Scan) scan;
    __typeof__(&MPI_Exscan) exscan;
    __typeof__(&MPI_Alltoallw) alltoallw;
};

static const struct collectives holding = {TAMPI_Ibarrier,        TAMPI_Ibcast,
                                           TAMPI_Igather,         TAMPI_Igatherv,
                                           TAMPI_Iscatter,        TAMPI_Iscatterv,
                                           TAMPI_Iallgather,      TAMPI_Iallgatherv,
                                           TAMPI_Ialltoall,       TAMPI_Ialltoallv,
                                           TAMPI_Ireduce,         TAMPI_Iallreduce,
                                           TAMPI_Ireduce_scatter, TAMPI_Ireduce_scatter_block,
                                           TAMPI_Iscan,           TAMPI_Iexscan,
                                           TAMPI_Ialltoallw};
static const struct collectives blocking = {MPI_Barrier,        MPI_Bcast,
                                            MPI_Gather,         MPI_Gatherv,
                                            MPI_Scatter,        MPI_Scatterv,
                                            MPI_Allgather,      MPI_Allgatherv,
                                            MPI_Alltoall,       MPI_Alltoallv,
                                            MPI_Reduce,         MPI_Allreduce,
                                            MPI_Reduce_scatter, MPI_Reduce_scatter_block,
                                            MPI_Scan,           MPI_Exscan,
                                            MPI_Alltoallw};

/* What a task sends and where it receives; all of it must be there until the messages have ended. */
struct exchange {
    int counts[most_ranks], places[most_ranks];           /* Rank r has r + 1 elements. */
    int even_counts[most_ranks], even_places[most_ranks]; /* Each has as many as this rank. */
    int byte_places[most_ranks], even_byte_places[most_ranks];
    MPI_Datatype types[most_ranks];
    int one, each[most_ranks], many[most_elements]; /* Sent. */
    int from_root, gathered[most_ranks], gathered_v[most_elements], scattered, scattered_v[most_ranks];
    int all[most_ranks], all_v[most_elements], turned[most_ranks], turned_v[most_elements], turned_w[most_elements];
    int reduced, reduced_all, own[most_ranks], own_one, scanned, scanned_before;
};

/* Ranks send their number plus one, or 100 of that with the element's number. */
static inline void prepare(struct exchange* x) {
    *x = (struct exchange){.one = rank + 1, .from_root = rank == 0 ? 7 : -1};
    for (int r = 0, place = 0; r < n_ranks; place += ++r) {
        x->counts[r] = r + 1;
        x->places[r] = place;
        x->even_counts[r] = rank + 1;
        x->even_places[r] = r * (rank + 1);
        x->byte_places[r] = place * (int)sizeof(int);
        x->even_byte_places[r] = x->even_places[r] * (int)sizeof(int);
        x->types[r] = MPI_INT;
        x->each[r] = 100 * (rank + 1) + r;
    }
    for (int i = 0; i < most_elements; ++i) x->many[i] = 100 * (rank + 1) + i;
}

static inline void exchange(const struct collectives* with, struct exchange* x, MPI_Comm comm) {
    const int last = n_ranks - 1;
    with->barrier(comm);
    with->bcast(&x->from_root, 1, MPI_INT, 0, comm);
    with->gather(&x->one, 1, MPI_INT, x->gathered, 1, MPI_INT, last, comm);
    with->gatherv(x->many, rank + 1, MPI_INT, x->gathered_v, x->counts, x->places, MPI_INT, last, comm);
    with->scatter(x->each, 1, MPI_INT, &x->scattered, 1, MPI_INT, last, comm);
    with->scatterv(x->many, x->counts, x->places, MPI_INT, x->scattered_v, rank + 1, MPI_INT, last, comm);
    with->allgather(&x->one, 1, MPI_INT, x->all, 1, MPI_INT, comm);
    with->allgatherv(x->many, rank + 1, MPI_INT, x->all_v, x->counts, x->places, MPI_INT, comm);
    with->alltoall(x->each, 1, MPI_INT, x->turned, 1, MPI_INT, comm);
    with->alltoallv(x->many, x->counts, x->places, MPI_INT, x->turned_v, x->even_counts, x->even_places, MPI_INT, comm);
    with->alltoallw(x->many, x->counts, x->byte_places, x->types, x->turned_w, x->even_counts, x->even_byte_places,
                    x->types, comm);
    with->reduce(&x->one, &x->reduced, 1, MPI_INT, MPI_SUM, last, comm);
    with->allreduce(&x->one, &x->reduced_all, 1, MPI_INT, MPI_MAX, comm);
    with->reduce_scatter(x->many, x->own, x->counts, MPI_INT, MPI_SUM, comm);
    with->reduce_scatter_block(x->each, &x->own_one, 1, MPI_INT, MPI_SUM, comm);
    with->scan(&x->one, &x->scanned, 1, MPI_INT, MPI_SUM, comm);
    with->exscan(&x->one, &x->scanned_before, 1, MPI_INT, MPI_SUM, comm);
}

/* How many of the results are wrong. */
static inline int look(const struct exchange* x) {
    const int last = n_ranks - 1, sum = n_ranks * (n_ranks + 1) / 2, own_place = rank * (rank + 1) / 2;
    int n_wrong = 0;
    n_wrong += x->from_root != 7 || x->scattered != 100 * n_ranks + rank || x->reduced_all != n_ranks;
    n_wrong += x->own_one != 100 * sum + n_ranks * rank || x->scanned != (rank + 1) * (rank + 2) / 2;
    n_wrong += rank > 0 && x->scanned_before != own_place;
    n_wrong += rank == last && x->reduced != sum;
    for (int i = 0; i <= rank; ++i) {
        n_wrong += x->scattered_v[i] != 100 * n_ranks + own_place + i;
        n_wrong += x->own[i] != 100 * sum + n_ranks * (own_place + i);
    }
    for (int r = 0; r < n_ranks; ++r) {
        n_wrong += x->all[r] != r + 1 || x->turned[r] != 100 * (r + 1) + rank;
        n_wrong += rank == last && x->gathered[r] != r + 1;
        for (int i = 0; i <= r; ++i) {
            n_wrong += x->all_v[x->places[r] + i] != 100 * (r + 1) + i;
            n_wrong += rank == last && x->gathered_v[x->places[r] + i] != 100 * (r + 1) + i;
        }
        for (int i = 0; i <= rank; ++i) {
            n_wrong += x->turned_v[x->even_places[r] + i] != 100 * (r + 1) + own_place + i;
            n_wrong += x->turned_w[x->even_places[r] + i] != 100 * (r + 1) + own_place + i;
        }
    }
    return n_wrong;
}

#endif
