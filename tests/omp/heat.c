// SPDX-License-Identifier: Apache-2.0
//
// The heat equation as everybody writes it first: blocks of a box are tasks, the six faces of the halo are communication
// tasks with one tag for each face, and no step waits for the one before. Each rank computes the whole box besides, and
// compares every cell.
#include <commtask/omp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int N[3] = {48, 48, 48}, nsteps = 40;
static int dims[3], here[3], nbr[6], n[3], off[3]; // nbr: x-,x+,y-,y+,z-,z+
static int nb[3] = {2, 2, 2};                      // blocks per rank
static MPI_Comm cart;
static MPI_Datatype sface[6], rface[6];
static double* u[2];
static char *blk[2], gh[2][6], nothing;
static double initial(int x, int y, int z) { return sin(0.1 * x) + cos(0.2 * y) * z + ((x * 7 + y * 3 + z * 11) % 17); }
static size_t at(int x, int y, int z) { return ((size_t)x * (n[1] + 2) + y) * (n[2] + 2) + z; }

static void update(double* to, const double* from, const int lo[3], const int hi[3]) {
    for (int x = lo[0]; x < hi[0]; ++x)
        for (int y = lo[1]; y < hi[1]; ++y)
            for (int z = lo[2]; z < hi[2]; ++z) {
                const size_t i = at(x, y, z);
                to[i] = from[i] + 0.1 * (from[at(x - 1, y, z)] + from[at(x + 1, y, z)] + from[at(x, y - 1, z)] +
                                         from[at(x, y + 1, z)] + from[i - 1] + from[i + 1] - 6 * from[i]);
            }
}
static int bid(int i, int j, int k) { return (i * nb[1] + j) * nb[2] + k; }
static int split(int len, int parts, int p) { return (int)((long)len * p / parts); }

static int face_blocks(int f, char* base, const void** list) {
    int m = 0, d = f / 2, side = f % 2;
    for (int i = 0; i < nb[0]; ++i)
        for (int j = 0; j < nb[1]; ++j)
            for (int k = 0; k < nb[2]; ++k) {
                int c[3] = {i, j, k};
                if (c[d] == (side ? nb[d] - 1 : 0)) list[m++] = base + bid(i, j, k);
            }
    return m;
}

static void step(int s) {
    const int a = s % 2, b = 1 - a;
    double *from = u[a], *to = u[b];
    const void* list[64];
    for (int f = 0; f < 6; ++f) COMM_TASK(recv(from, 1, rface[f], nbr[f], f ^ 1, cart), out(&gh[a][f]));
    for (int f = 0; f < 6; ++f) {
        int m = face_blocks(f, blk[a], list);
        COMM_TASK(send(from, 1, sface[f], nbr[f], f, cart), in_each(m, list));
    }
    for (int i = 0; i < nb[0]; ++i)
        for (int j = 0; j < nb[1]; ++j)
            for (int k = 0; k < nb[2]; ++k) {
                char* dep[6];
                int c[3] = {i, j, k};
                for (int f = 0; f < 6; ++f) {
                    int e[3] = {i, j, k}, d = f / 2;
                    e[d] += f % 2 ? 1 : -1;
                    dep[f] = (e[d] < 0 || e[d] >= nb[d]) ? &gh[a][f] : blk[a] + bid(e[0], e[1], e[2]);
                }
                char *me = blk[a] + bid(i, j, k), *next = blk[b] + bid(i, j, k);
                int lo[3], hi[3];
                for (int d = 0; d < 3; ++d)
                    lo[d] = 1 + split(n[d], nb[d], c[d]), hi[d] = 1 + split(n[d], nb[d], c[d] + 1);
#pragma omp task depend(in : *me, *dep[0], *dep[1], *dep[2], *dep[3], *dep[4], *dep[5]) depend(out : *next)            \
    firstprivate(lo, hi)
                update(to, from, lo, hi);
            }
}

int main(int argc, char** argv) {
    int level, rank, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (commtask_init(NULL) != COMMTASK_OK || commtask_omp_check() != COMMTASK_OK) {
        fprintf(stderr, "%s%s\n", commtask_last_error(), commtask_omp_last_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (argc > 1) nsteps = atoi(argv[1]);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, (int[]){0, 0, 0}, 0, &cart);
    MPI_Comm_rank(cart, &rank);
    MPI_Cart_coords(cart, rank, 3, here);
    for (int d = 0; d < 3; ++d) {
        MPI_Cart_shift(cart, d, 1, &nbr[2 * d], &nbr[2 * d + 1]);
        off[d] = split(N[d], dims[d], here[d]);
        n[d] = split(N[d], dims[d], here[d] + 1) - off[d];
    }
    int full[3] = {n[0] + 2, n[1] + 2, n[2] + 2};
    for (int f = 0; f < 6; ++f) {
        int sub[3] = {n[0], n[1], n[2]}, st[3] = {1, 1, 1}, d = f / 2;
        sub[d] = 1;
        st[d] = f % 2 ? n[d] : 1;
        MPI_Type_create_subarray(3, full, sub, st, MPI_ORDER_C, MPI_DOUBLE, &sface[f]);
        MPI_Type_commit(&sface[f]);
        st[d] = f % 2 ? n[d] + 1 : 0;
        MPI_Type_create_subarray(3, full, sub, st, MPI_ORDER_C, MPI_DOUBLE, &rface[f]);
        MPI_Type_commit(&rface[f]);
    }
    size_t cells = (size_t)full[0] * full[1] * full[2];
    for (int b = 0; b < 2; ++b) {
        u[b] = malloc(cells * sizeof(double));
        blk[b] = calloc((size_t)nb[0] * nb[1] * nb[2], 1);
        for (int x = 0; x < full[0]; ++x)
            for (int y = 0; y < full[1]; ++y)
                for (int z = 0; z < full[2]; ++z) u[b][at(x, y, z)] = initial(off[0] + x, off[1] + y, off[2] + z);
    }
    double t = MPI_Wtime();
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (int s = 0; s < nsteps; ++s) step(s);
    t = MPI_Wtime() - t;
    int errors = (int)commtask_omp_error_count();
    int ended = commtask_finalize();

    const int G[3] = {N[0] + 2, N[1] + 2, N[2] + 2};
#define GA(x, y, z) (((size_t)(x) * G[1] + (y)) * G[2] + (z))
    double* g[2];
    for (int b = 0; b < 2; ++b) {
        g[b] = malloc((size_t)G[0] * G[1] * G[2] * sizeof(double));
        for (int x = 0; x < G[0]; ++x)
            for (int y = 0; y < G[1]; ++y)
                for (int z = 0; z < G[2]; ++z) g[b][GA(x, y, z)] = initial(x, y, z);
    }
    for (int s = 0; s < nsteps; ++s) {
        double *p = g[s % 2], *q = g[1 - s % 2];
        for (int x = 1; x <= N[0]; ++x)
            for (int y = 1; y <= N[1]; ++y)
                for (int z = 1; z <= N[2]; ++z) {
                    size_t i = GA(x, y, z);
                    q[i] = p[i] + 0.1 * (p[GA(x - 1, y, z)] + p[GA(x + 1, y, z)] + p[GA(x, y - 1, z)] +
                                         p[GA(x, y + 1, z)] + p[i - 1] + p[i + 1] - 6 * p[i]);
                }
    }
    long wrong = 0, all = 0;
    for (int x = 1; x <= n[0]; ++x)
        for (int y = 1; y <= n[1]; ++y)
            for (int z = 1; z <= n[2]; ++z)
                wrong += u[nsteps % 2][at(x, y, z)] != g[nsteps % 2][GA(off[0] + x, off[1] + y, off[2] + z)];
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, cart);
    if (rank == 0)
        printf("%dx%dx%d ranks, %d threads, %ld wrong cells, %d errors, finalize %d, %.4f s\n", dims[0], dims[1],
               dims[2], omp_get_max_threads(), all, errors, ended, t);
    for (int b = 0; b < 2; ++b) free(g[b]);
    MPI_Finalize();
    return all != 0;
}
