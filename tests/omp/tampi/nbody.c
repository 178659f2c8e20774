/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies that attract each other: every rank's bodies travel round the ring of ranks, and meet all others on the way. Each hop is
 * one task with a send and a receive, which TAMPI_Iwaitall binds; the forces of the block that is here are computed meanwhile. */
#include "program.h"
#include <string.h>

enum { n_bodies = 24, n_steps = 5 };

typedef struct {
    double place[n_bodies];
    double mass[n_bodies];
} bodies;

static double first_place(int i) { return i + 0.25 * sin(7.0 * i); }
static double first_mass(int i) { return 1 + 0.5 * cos(3.0 * i); }

static void attract(double* force, const bodies* these, const bodies* others) {
    for (int i = 0; i < n_bodies; ++i) {
        for (int j = 0; j < n_bodies; ++j) {
            const double way = others->place[j] - these->place[i];
            if (way != 0) force[i] += others->mass[j] * way / (fabs(way) * way * way + 0.01);
        }
    }
}

static void move(bodies* these, double* force) {
    for (int i = 0; i < n_bodies; ++i) these->place[i] += 1e-3 * force[i];
    memset(force, 0, n_bodies * sizeof *force);
}

int main(int argc, char** argv) {
    begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    const int left = (rank + n_ranks - 1) % n_ranks, right = (rank + 1) % n_ranks;
    static bodies mine, travelling[2];
    static double force[n_bodies];
    for (int i = 0; i < n_bodies; ++i) {
        mine.place[i] = first_place(rank * n_bodies + i);
        mine.mass[i] = first_mass(rank * n_bodies + i);
    }
#pragma omp parallel
#pragma omp single
    for (int step = 0; step < n_steps; ++step) {
#pragma omp task depend(in : mine) depend(out : travelling[0])
        travelling[0] = mine;
        for (int hop = 0; hop < n_ranks; ++hop) {
            const int here = hop % 2, next = 1 - here;
            if (hop + 1 < n_ranks) {
#pragma omp task depend(in : travelling[here]) depend(out : travelling[next]) firstprivate(here, next)
                {
                    MPI_Request requests[2];
                    MPI_Isend(&travelling[here], 2 * n_bodies, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[0]);
                    MPI_Irecv(&travelling[next], 2 * n_bodies, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[1]);
                    TAMPI_Iwaitall(2, requests, MPI_STATUSES_IGNORE);
                }
            }
#pragma omp task depend(in : travelling[here], mine) depend(inout : force) firstprivate(here)
            attract(force, &mine, &travelling[here]);
        }
#pragma omp task depend(inout : mine, force)
        move(&mine, force);
    }

    bodies* all = (bodies*)malloc((size_t)n_ranks * sizeof *all);
    double* forces = (double*)calloc((size_t)n_ranks * n_bodies, sizeof *forces);
    for (int i = 0; i < n_ranks * n_bodies; ++i) {
        all[i / n_bodies].place[i % n_bodies] = first_place(i);
        all[i / n_bodies].mass[i % n_bodies] = first_mass(i);
    }
    for (int step = 0; step < n_steps; ++step) {
        for (int r = 0; r < n_ranks; ++r) {
            for (int other = 0; other < n_ranks; ++other) attract(forces + r * n_bodies, &all[r], &all[other]);
        }
        for (int r = 0; r < n_ranks; ++r) move(&all[r], forces + r * n_bodies);
    }
    double difference = 0;
    for (int i = 0; i < n_bodies; ++i) {
        const double here = fabs(mine.place[i] - all[rank].place[i]);
        if (!(here <= difference)) difference = here;
    }
    free(all);
    free(forces);
    return end("nbody", difference, 1e-9); /* the sums have another order */
}
