/* SPDX-License-Identifier: Apache-2.0
 *
 * A task frees its datatype, communicator or reduction operation right after TAMPI's call, and makes another one that takes its
 * handle: TAMPI's calls have given the operation to MPI when they return. So have MPI's own, whose requests TAMPI_Iwaitall binds; a
 * blocking call has ended. */
#include "program.h"

#include <string.h>

enum { n_laps = 40, n_faces = 6, n = 240 };
static int out[n_faces][n], in[n_faces][n];

static MPI_Datatype make_type(int which) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    const int whole[2] = {n / 20, 20}, part[2] = {n / 20, 3}, first[2] = {0, 2};
    const int lengths[3] = {7, 1, 20}, places[3] = {1, 50, 100};
    if (which % 3 == 0) MPI_Type_vector(n / 4, 1, 4, MPI_INT, &made);
    if (which % 3 == 1) MPI_Type_create_subarray(2, whole, part, first, MPI_ORDER_C, MPI_INT, &made);
    if (which % 3 == 2) MPI_Type_indexed(3, lengths, places, MPI_INT, &made);
    MPI_Type_commit(&made);
    return made;
}

static int is_taken(int which, int i) {
    if (which % 3 == 0) return i % 4 == 0;
    if (which % 3 == 1) return i % 20 >= 2 && i % 20 < 5;
    return (i >= 1 && i < 8) || i == 50 || (i >= 100 && i < 120);
}

static void take_its_handle(void) {
    MPI_Datatype other;
    MPI_Type_contiguous(5, MPI_DOUBLE, &other);
    MPI_Type_commit(&other);
    MPI_Type_free(&other);
}

/* How many numbers of face f are wrong. */
static int wrong_of(int f, int left) {
    int n_wrong = 0;
    for (int i = 0; i < n; ++i) n_wrong += in[f][i] != (is_taken(f, i) ? 10000 * left + 1000 * f + i : -1);
    return n_wrong;
}

static void exchange_by_tampi(int f, int left, int right) {
    MPI_Datatype type = make_type(f);
    TAMPI_Irecv(in[f], 1, type, left, f, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    TAMPI_Isend(out[f], 1, type, right, f, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    take_its_handle();
}

static void exchange_by_requests(int f, int left, int right) {
    MPI_Request requests[2];
    MPI_Datatype type = make_type(f);
    MPI_Irecv(in[f], 1, type, left, f, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out[f], 1, type, right, f, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&type);
    TAMPI_Iwaitall(2, requests, MPI_STATUSES_IGNORE);
    take_its_handle();
}

static int lap_of_types(void (*exchange)(int f, int left, int right), int left, int right) {
    int n_wrong = 0;
    memset(in, -1, sizeof in);
#pragma omp parallel
#pragma omp single
    for (int f = 0; f < n_faces; ++f) {
#pragma omp task depend(out : out[f]) firstprivate(f)
        for (int i = 0; i < n; ++i) out[f][i] = 10000 * rank + 1000 * f + i;
#pragma omp task depend(in : out[f]) depend(out : in[f]) firstprivate(f)
        exchange(f, left, right);
#pragma omp task depend(in : in[f]) firstprivate(f)
#pragma omp atomic
        n_wrong += wrong_of(f, left);
    }
    return n_wrong;
}

static int lap_of_blocking_calls(int left, int right) {
    int n_wrong = 0;
    memset(in, -1, sizeof in);
#pragma omp parallel
#pragma omp single
    for (int f = 0; f < n_faces; ++f) {
#pragma omp task firstprivate(f)
        {
            MPI_Datatype type = make_type(f);
            MPI_Send(out[f], 1, type, right, f, MPI_COMM_WORLD); /* short: it waits for no receive */
            MPI_Type_free(&type);
            take_its_handle();
        }
#pragma omp task depend(out : in[f]) firstprivate(f)
        {
            MPI_Datatype type = make_type(f);
            MPI_Recv(in[f], 1, type, left, f, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Type_free(&type);
            take_its_handle();
        }
#pragma omp task depend(in : in[f]) firstprivate(f)
#pragma omp atomic
        n_wrong += wrong_of(f, left);
    }
    return n_wrong;
}

static int lap_of_communicators(int left, int right) {
    int came = -1, sum = -1, n_wrong = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : came)
        {
            MPI_Comm comm;
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            TAMPI_Irecv(&came, 1, MPI_INT, left, 3, comm, MPI_STATUS_IGNORE);
            TAMPI_Isend(&rank, 1, MPI_INT, right, 3, comm);
            TAMPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
            MPI_Comm_free(&comm);
        }
#pragma omp task depend(in : came)
        n_wrong = came != left || sum != n_ranks * (n_ranks - 1) / 2;
    }
    return n_wrong;
}

static void keep_larger(void* a, void* b, int* count, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *count; ++i)
        if (((int*)a)[i] > ((int*)b)[i]) ((int*)b)[i] = ((int*)a)[i];
}
static void keep_nothing(void* a, void* b, int* count, MPI_Datatype* type) {
    (void)a;
    (void)type;
    for (int i = 0; i < *count; ++i) ((int*)b)[i] = -99;
}

static int lap_of_operations(void) {
    int largest = -1, n_wrong = 0;
    MPI_Op other = MPI_OP_NULL;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(out : largest)
        {
            MPI_Op larger;
            MPI_Op_create(keep_larger, 1, &larger);
            TAMPI_Iallreduce(&rank, &largest, 1, MPI_INT, larger, MPI_COMM_WORLD);
            MPI_Op_free(&larger);
            MPI_Op_create(keep_nothing, 1, &other);
        }
#pragma omp task depend(in : largest)
        n_wrong = largest != n_ranks - 1;
    }
    MPI_Op_free(&other);
    return n_wrong;
}

int main(int argc, char** argv) {
    begin(&argc, &argv, MPI_TASK_MULTIPLE);
    const int left = (rank + n_ranks - 1) % n_ranks, right = (rank + 1) % n_ranks;
    int n_wrong = 0;
    for (int lap = 0; lap < n_laps; ++lap) {
        n_wrong += lap_of_types(exchange_by_tampi, left, right);
        n_wrong += lap_of_communicators(left, right);
        n_wrong += lap_of_operations();
        if (lap % 10 != 0) continue; /* slow where ranks share cores */
        n_wrong += lap_of_types(exchange_by_requests, left, right);
        if (n_ranks > 1) n_wrong += lap_of_blocking_calls(left, right); /* a send to oneself may wait for its receive */
    }
    return end("freed", n_wrong, 0);
}
