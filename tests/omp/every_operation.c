// SPDX-License-Identifier: Apache-2.0
//
// Every operation through COMM_TASK, in C11: each macro compiles without a warning, each task ends well, and what came
// is right. All in one taskgroup, so that the operations also share their communicator with each other.
#include <commtask/omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { max_ranks = 8, n_statuses = 50 };

static commtask_status statuses[n_statuses];
static int n_used;

/// A status that must be COMPLETED in the end.
static commtask_status* next_status(void) {
    statuses[n_used] = COMMTASK_STATUS_INIT;
    return &statuses[n_used++];
}

static int start_barrier(MPI_Request* request, void* comm) { return MPI_Ibarrier(*(MPI_Comm*)comm, request); }

static int count_call(void* n_calls) {
    *(int*)n_calls += 1;
    return MPI_SUCCESS;
}

static int n_wrong;
static void expect(int is_right, const char* what) {
    if (is_right) return;
    fprintf(stderr, "wrong: %s\n", what);
    n_wrong += 1;
}

static void messages(MPI_Comm comm, int left, int right) {
    int out[6] = {10, 11, 12, 13, 14, 15};
    int in[6] = {-1, -1, -1, -1, -1, -1};
    char* const space = (char*)malloc(1000 + MPI_BSEND_OVERHEAD);
    MPI_Buffer_attach(space, 1000 + MPI_BSEND_OVERHEAD);
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        COMM_TASK(recv(&in[0], 1, MPI_INT, left, 0, comm), out(&in[0]), status(next_status()));
        COMM_TASK(send(&out[0], 1, MPI_INT, right, 0, comm), in(&out[0]), status(next_status()), priority(1));
        COMM_TASK(recv(&in[1], 1, MPI_INT, left, 1, comm), out(&in[1]), status(next_status()), ordered);
        COMM_TASK(ssend(&out[1], 1, MPI_INT, right, 1, comm), in(&out[1]), status(next_status()));
        COMM_TASK(recv(&in[2], 1, MPI_INT, left, 2, comm), out(&in[2]), status(next_status()));
        COMM_TASK(bsend(&out[2], 1, MPI_INT, right, 2, comm), in(&out[2]), status(next_status()));
        COMM_TASK(sendrecv(&out[3], 1, MPI_INT, right, 3, &in[3], 1, MPI_INT, left, 3, comm), in(&out[3]), out(&in[3]),
                  status(next_status()));
        COMM_TASK(sendrecv_replace(&out[4], 1, MPI_INT, right, 4, left, 4, comm), inout(&out[4]),
                  status(next_status()));
    }
    MPI_Message message = MPI_MESSAGE_NULL;
    int probed = -1;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        COMM_TASK(mprobe(&message, left, 6, comm), out(&message), status(next_status()));
        COMM_TASK(mrecv(&probed, 1, MPI_INT, &message, comm), inout(&message), out(&probed), status(next_status()));
        COMM_TASK(send(&out[0], 1, MPI_INT, right, 6, comm), in(&out[0]));
    }
    MPI_Request request;
    int attached = -1;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        MPI_Irecv(&attached, 1, MPI_INT, MPI_PROC_NULL, 9, comm, &request);
        COMM_TASK(attach(&request, comm), out(&attached), status(next_status()));
        // A ready send to a rank would need to know that the receive is posted there.
        COMM_TASK(rsend(&out[5], 1, MPI_INT, MPI_PROC_NULL, 5, comm), in(&out[5]), status(next_status()));
    }
    int detached_bytes = 0;
    void* detached = NULL;
    MPI_Buffer_detach(&detached, &detached_bytes);
    free(space);
    for (int i = 0; i < 4; ++i) expect(in[i] == 10 + i, "what a message brought");
    expect(out[4] == 14, "sendrecv_replace");
    expect(probed == 10, "mrecv");
}

/// Blocks to and from a list of ranks, and one buffer to all of it.
static void many(MPI_Comm comm, int left, int right) {
    const int dests[2] = {right, left};
    const int sources[2] = {left, right};
    const MPI_Count counts[2] = {2, 1};
    const MPI_Aint places[2] = {0, 2};
    const int int_counts[2] = {2, 1};
    const int int_places[2] = {0, 2};
    int out[3] = {20, 21, 22};
    int in[3][3] = {{0}};
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        COMM_TASK(many_to_many(&out[0], counts, places, MPI_INT, dests, 2, &in[0][0], counts, places, MPI_INT, sources,
                               2, 10, comm),
                  in(&out[0]), out(&in[0][0]), status(next_status()));
        COMM_TASK(many_to_many_int(&out[0], int_counts, int_places, MPI_INT, dests, 2, &in[1][0], int_counts,
                                   int_places, MPI_INT, sources, 2, 11, comm),
                  in(&out[0]), out(&in[1][0]), status(next_status()));
        COMM_TASK(recv(&in[2][0], 2, MPI_INT, left, 12, comm), out(&in[2][0]), status(next_status()));
        COMM_TASK(recv(&in[2][2], 1, MPI_INT, right, 13, comm), out(&in[2][2]), status(next_status()));
        COMM_TASK(multicast(&out[0], 2, MPI_INT, &dests[0], 1, 12, comm), in(&out[0]), status(next_status()));
        COMM_TASK(multicast(&out[2], 1, MPI_INT, &dests[1], 1, 13, comm), in(&out[2]), status(next_status()));
    }
    for (int i = 0; i < 9; ++i) expect(in[i / 3][i % 3] == 20 + i % 3, "what many messages brought");
}

static void collectives(MPI_Comm comm, int rank, int n) {
    int mine = rank + 1;
    const int total = n * (n + 1) / 2;
    int root_says = rank == 0 ? 7 : 0;
    int all[max_ranks] = {0};
    int gathered[max_ranks] = {0};
    int exchanged[max_ranks] = {0};
    int spread[max_ranks] = {0};
    int sum[5] = {0};
    int part = 0;
    int n_calls = 0;
    int varied[6][max_ranks] = {{0}};
    MPI_Count counts[max_ranks];
    MPI_Aint places[max_ranks];
    int int_counts[max_ranks];
    int int_places[max_ranks];
    int int_byte_places[max_ranks];
    MPI_Datatype types[max_ranks];
    for (int i = 0; i < n; ++i) {
        spread[i] = 100 * rank + i;
        counts[i] = int_counts[i] = 1;
        places[i] = int_places[i] = i;
        int_byte_places[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    MPI_Comm copy = MPI_COMM_NULL;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        COMM_TASK(barrier(comm), status(next_status()));
        COMM_TASK(bcast(&root_says, 1, MPI_INT, 0, comm), inout(&root_says), status(next_status()));
        COMM_TASK(gather(&mine, 1, MPI_INT, gathered, 1, MPI_INT, 0, comm), in(&mine), out(gathered),
                  status(next_status()));
        COMM_TASK(scatter(spread, 1, MPI_INT, &part, 1, MPI_INT, 0, comm), in(spread), out(&part),
                  status(next_status()));
        COMM_TASK(allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm), in(&mine), out(all), status(next_status()));
        COMM_TASK(alltoall(spread, 1, MPI_INT, exchanged, 1, MPI_INT, comm), in(spread), out(exchanged),
                  status(next_status()));
        COMM_TASK(reduce(&mine, &sum[0], 1, MPI_INT, MPI_SUM, 0, comm), in(&mine), out(&sum[0]), status(next_status()));
        COMM_TASK(allreduce(&mine, &sum[1], 1, MPI_INT, MPI_SUM, comm), in(&mine), out(&sum[1]), status(next_status()));
        COMM_TASK(scan(&mine, &sum[2], 1, MPI_INT, MPI_SUM, comm), in(&mine), out(&sum[2]), status(next_status()));
        COMM_TASK(exscan(&mine, &sum[3], 1, MPI_INT, MPI_SUM, comm), in(&mine), out(&sum[3]), status(next_status()));
        COMM_TASK(reduce_scatter_block(spread, &sum[4], 1, MPI_INT, MPI_SUM, comm), in(spread), out(&sum[4]),
                  status(next_status()));
        COMM_TASK(gatherv_int(&mine, 1, MPI_INT, varied[0], int_counts, int_places, MPI_INT, 0, comm), in(&mine),
                  out(varied[0]), status(next_status()));
        COMM_TASK(scatterv_int(spread, int_counts, int_places, MPI_INT, varied[1], 1, MPI_INT, 0, comm), in(spread),
                  out(varied[1]), status(next_status()));
        COMM_TASK(allgatherv_int(&mine, 1, MPI_INT, varied[2], int_counts, int_places, MPI_INT, comm), in(&mine),
                  out(varied[2]), status(next_status()));
        COMM_TASK(alltoallv(spread, counts, places, MPI_INT, varied[3], counts, places, MPI_INT, comm), in(spread),
                  out(varied[3]), status(next_status()));
        COMM_TASK(alltoallw_int(spread, int_counts, int_byte_places, types, varied[4], int_counts, int_byte_places,
                                types, comm),
                  in(spread), out(varied[4]), status(next_status()));
        COMM_TASK(reduce_scatter_int(spread, varied[5], int_counts, MPI_INT, MPI_SUM, comm), in(spread), out(varied[5]),
                  status(next_status()));
        COMM_TASK(comm_dup(&copy, comm), out(&copy), status(next_status()));
        COMM_TASK(start(start_barrier, &copy, comm), in(&copy), out(&n_calls), ordered, status(next_status()));
        COMM_TASK(call(count_call, &n_calls, comm), inout(&n_calls), status(next_status()));
        COMM_TASK(noop(comm));
    }
    expect(root_says == 7 && part == rank, "bcast and scatter");
    expect(sum[1] == total && sum[2] == mine * (mine + 1) / 2, "allreduce and scan");
    expect(rank != 0 || (sum[0] == total && gathered[n - 1] == n && varied[0][n - 1] == n), "reduce and gather");
    expect(rank == 0 || sum[3] == rank * (rank + 1) / 2, "exscan");
    expect(sum[4] == n * rank + 100 * n * (n - 1) / 2 && varied[5][0] == sum[4], "reduce_scatter");
    expect(varied[1][0] == rank && n_calls == 1, "scatterv and call");
    for (int i = 0; i < n; ++i) {
        const int theirs = 100 * i + rank;
        expect(all[i] == i + 1 && varied[2][i] == i + 1, "allgather");
        expect(exchanged[i] == theirs && varied[3][i] == theirs && varied[4][i] == theirs, "alltoall");
    }
    MPI_Comm_free(&copy);
}

static void neighbours(MPI_Comm world, int rank, int n) {
    const int dims[1] = {n};
    const int is_periodic[1] = {1};
    MPI_Comm cart = MPI_COMM_NULL;
    MPI_Cart_create(world, 1, dims, is_periodic, 0, &cart);
    int mine[2] = {rank, 100 + rank};
    int around[5][2] = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    const int counts[2] = {1, 1};
    const int places[2] = {0, 1};
    const MPI_Aint byte_places[2] = {0, sizeof(int)};
    const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
        COMM_TASK(neighbor_allgather(mine, 1, MPI_INT, around[0], 1, MPI_INT, cart), in(mine), out(around[0]),
                  status(next_status()));
        COMM_TASK(neighbor_alltoall(mine, 1, MPI_INT, around[1], 1, MPI_INT, cart), in(mine), out(around[1]),
                  status(next_status()));
        COMM_TASK(neighbor_allgatherv_int(mine, 1, MPI_INT, around[2], counts, places, MPI_INT, cart), in(mine),
                  out(around[2]), status(next_status()));
        COMM_TASK(neighbor_alltoallv_int(mine, counts, places, MPI_INT, around[3], counts, places, MPI_INT, cart),
                  in(mine), out(around[3]), status(next_status()));
        COMM_TASK(neighbor_alltoallw_int(mine, counts, byte_places, types, around[4], counts, byte_places, types, cart),
                  in(mine), out(around[4]), status(next_status()));
    }
    const int left = (rank + n - 1) % n;
    const int right = (rank + 1) % n;
    expect(around[0][0] == left && around[0][1] == right, "neighbor_allgather");
    expect(around[2][0] == left && around[2][1] == right, "neighbor_allgatherv");
    // With one or two ranks both neighbours are the same, and MPI says nothing on which block is whose.
    if (n > 2) {
        for (int i = 1; i < 5; i += i == 1 ? 2 : 1) {
            expect(around[i][0] == 100 + left && around[i][1] == right, "neighbor_alltoall");
        }
    }
    MPI_Comm_free(&cart);
}

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) return 77;
    int rank = 0;
    int n_ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    expect(n_ranks <= max_ranks && commtask_init(NULL) == COMMTASK_OK, commtask_last_error());
    if (n_wrong == 0) {
        messages(MPI_COMM_WORLD, (rank + n_ranks - 1) % n_ranks, (rank + 1) % n_ranks);
        many(MPI_COMM_WORLD, (rank + n_ranks - 1) % n_ranks, (rank + 1) % n_ranks);
        collectives(MPI_COMM_WORLD, rank, n_ranks);
        neighbours(MPI_COMM_WORLD, rank, n_ranks);
        for (int i = 0; i < n_used; ++i) {
            if (statuses[i].state == COMMTASK_STATE_COMPLETED) continue;
            fprintf(stderr, "status %d: state %d, error class %d\n", i, (int)statuses[i].state,
                    statuses[i].error_class);
            n_wrong += 1;
        }
        char sentence[300];
        expect(commtask_omp_first_error(sentence, sizeof sentence) == COMMTASK_OK, sentence);
        expect(commtask_finalize() == COMMTASK_OK, "commtask_finalize");
    }
    MPI_Finalize();
    return n_wrong != 0;
}
