// SPDX-License-Identifier: Apache-2.0
//
// Process topologies and neighbourhood collectives: a periodic and an open Cartesian ring, a distributed graph and an
// old-style graph, each with every neighbourhood collective, blocking and nonblocking.
#include "probe.h"

static void exchange(MPI_Comm comm, int n_in, const int* sources, int n_out) {
    enum { most = 8 };
    int out[most] = {0};
    int in[most];
    int counts[most];
    int places[most];
    MPI_Aint byte_places[most];
    MPI_Datatype types[most];
    for (int i = 0; i < most; ++i) {
        counts[i] = 1;
        places[i] = i;
        byte_places[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    for (int form = 0; form < 2; ++form) {
        MPI_Request request = MPI_REQUEST_NULL;
        for (int i = 0; i < most; ++i) {
            in[i] = -1;
        }
        if (form == 0) {
            MPI_Neighbor_allgather(&me, 1, MPI_INT, in, 1, MPI_INT, comm);
        } else {
            MPI_Ineighbor_allgather(&me, 1, MPI_INT, in, 1, MPI_INT, comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < n_in; ++i) {
            EXPECT(in[i] == (sources[i] == MPI_PROC_NULL ? -1 : sources[i]));
        }
        for (int i = 0; i < most; ++i) {
            in[i] = -1;
        }
        if (form == 0) {
            MPI_Neighbor_allgatherv(&me, 1, MPI_INT, in, counts, places, MPI_INT, comm);
        } else {
            MPI_Ineighbor_allgatherv(&me, 1, MPI_INT, in, counts, places, MPI_INT, comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < n_in; ++i) {
            EXPECT(in[i] == (sources[i] == MPI_PROC_NULL ? -1 : sources[i]));
        }
        for (int variant = 0; variant < 3; ++variant) {
            for (int i = 0; i < most; ++i) {
                out[i] = me * 100 + i;
                in[i] = -1;
            }
            switch (form * 3 + variant) {
            case 0: MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm); break;
            case 1: MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm); break;
            case 2:
                MPI_Neighbor_alltoallw(out, counts, byte_places, types, in, counts, byte_places, types, comm);
                break;
            case 3: MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm, &request); break;
            case 4:
                MPI_Ineighbor_alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm, &request);
                break;
            default:
                MPI_Ineighbor_alltoallw(out, counts, byte_places, types, in, counts, byte_places, types, comm,
                                        &request);
                break;
            }
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            say("form %d.%d: %d out, in %d %d", form, variant, n_out, in[0], n_in > 1 ? in[1] : -1);
        }
    }
}

static void cartesian(void) {
    for (int is_periodic = 0; is_periodic < 2; ++is_periodic) {
        int dims[1] = {0};
        int neighbours[2];
        int coordinates[1];
        MPI_Comm ring;
        MPI_Dims_create(n_ranks, 1, dims);
        MPI_Cart_create(MPI_COMM_WORLD, 1, dims, &is_periodic, 0, &ring);
        MPI_Cart_shift(ring, 0, 1, &neighbours[0], &neighbours[1]);
        MPI_Cart_coords(ring, me, 1, coordinates);
        EXPECT(coordinates[0] == me);
        exchange(ring, 2, neighbours, 2);
        MPI_Comm_free(&ring);
    }
}

static void two_dimensions(void) {
    int dims[2] = {0, 0};
    const int periods[2] = {1, 0};
    const int keep[2] = {0, 1};
    int rank = -1;
    int kind = -1;
    MPI_Comm grid;
    MPI_Comm row;
    MPI_Dims_create(n_ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Topo_test(grid, &kind);
    EXPECT(kind == MPI_CART);
    MPI_Cart_sub(grid, keep, &row);
    MPI_Comm_rank(row, &rank);
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, row);
    EXPECT(sum == dims[1] * (dims[1] - 1) / 2);
    say("%d x %d, row sum %d", dims[0], dims[1], sum);
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
}

static void distributed_graph(void) {
    const int source = previous_rank();
    const int target = next_rank();
    MPI_Comm graph;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &source, MPI_UNWEIGHTED, 1, &target, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    int n_in = 0;
    int n_out = 0;
    int is_weighted = 1;
    MPI_Dist_graph_neighbors_count(graph, &n_in, &n_out, &is_weighted);
    EXPECT(n_in == 1 && n_out == 1 && is_weighted == 0);
    exchange(graph, 1, &source, 1);
    MPI_Comm_free(&graph);

    const int degree = 1;
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &me, &degree, &target, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    exchange(graph, 1, &source, 1);
    MPI_Comm_free(&graph);
}

static void old_graph(void) {
    int index[64];
    int edges[128];
    int n_edges = 0;
    for (int i = 0; i < n_ranks; ++i) {
        edges[n_edges++] = (i + n_ranks - 1) % n_ranks;
        edges[n_edges++] = (i + 1) % n_ranks;
        index[i] = n_edges;
    }
    MPI_Comm graph;
    MPI_Graph_create(MPI_COMM_WORLD, n_ranks, index, edges, 0, &graph);
    const int both[2] = {previous_rank(), next_rank()};
    exchange(graph, 2, both, 2);
    MPI_Comm_free(&graph);
}

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {
        {"cartesian", cartesian, 3},
        {"two_dimensions", two_dimensions, 1},
        {"distributed_graph", distributed_graph, 1},
        {"old_graph", old_graph, 3},
    };
    return probe_main(argc, argv, cases, PROBE_COUNT(cases));
}
