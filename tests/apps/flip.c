// SPDX-License-Identifier: Apache-2.0
//
// A library to preload into an MPI program: of rank FLIP_RANK it turns bit FLIP_BIT of message FLIP_MESSAGE, counted from 0 as they are
// sent, before MPI sees it, as a network does that loses a bit. Messages of no bytes do not count. Each rank says how many it sent when MPI
// ends. The sender's buffer is changed, which is right for programs that pack what they send.
#pragma GCC visibility push(default) // its functions stand before those of MPI
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_persistent = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long n_sent;
static long wanted = -2; // -2: the environment was not read
static long bit;

static struct persistent {
    MPI_Request request;
    const void* buffer;
    long long n_bytes;
} all[most_persistent];
static int n_persistent;

static long number_from(const char* name, long otherwise) {
    const char* text = getenv(name);
    return text == NULL ? otherwise : strtol(text, NULL, 10);
}

static void count(const void* buffer, long long n_bytes) {
    if (n_bytes <= 0) return;
    pthread_mutex_lock(&lock);
    if (wanted == -2) {
        int rank = 0;
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        wanted = rank == number_from("FLIP_RANK", 0) ? number_from("FLIP_MESSAGE", -1) : -1;
        bit = number_from("FLIP_BIT", 0);
    }
    if (n_sent++ == wanted) {
        const long long place = bit % (8 * n_bytes);
        ((unsigned char*)buffer)[place / 8] ^= (unsigned char)(1U << (place % 8));
    }
    pthread_mutex_unlock(&lock);
}

static long long bytes_of(long long n, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    return n * size;
}

/// Of a collective with a count for each rank the first part that has bytes.
static void count_first(const void* buffer, const int counts[], const int places[], int n, MPI_Datatype type) {
    for (int i = 0; i < n; ++i) {
        if (counts[i] <= 0) continue;
        count((const char*)buffer + bytes_of(places[i], type), bytes_of(counts[i], type));
        return;
    }
}

static int size_of(MPI_Comm comm) {
    int n = 0;
    PMPI_Comm_size(comm, &n);
    return n;
}

int MPI_Isend(const void* buffer, int n, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request) {
    count(buffer, bytes_of(n, type));
    return PMPI_Isend(buffer, n, type, peer, tag, comm, request);
}

int MPI_Send(const void* buffer, int n, MPI_Datatype type, int peer, int tag, MPI_Comm comm) {
    count(buffer, bytes_of(n, type));
    return PMPI_Send(buffer, n, type, peer, tag, comm);
}

int MPI_Sendrecv(const void* buffer, int n, MPI_Datatype type, int peer, int tag, void* into, int n_into,
                 MPI_Datatype type_into, int source, int tag_into, MPI_Comm comm, MPI_Status* status) {
    count(buffer, bytes_of(n, type));
    return PMPI_Sendrecv(buffer, n, type, peer, tag, into, n_into, type_into, source, tag_into, comm, status);
}

int MPI_Send_init(const void* buffer, int n, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                  MPI_Request* request) {
    const int code = PMPI_Send_init(buffer, n, type, peer, tag, comm, request);
    pthread_mutex_lock(&lock);
    for (int i = 0; peer != MPI_PROC_NULL && i < most_persistent; ++i) {
        if (i < n_persistent && all[i].request != *request) continue; // handles come again
        all[i] = (struct persistent){*request, buffer, bytes_of(n, type)};
        if (i == n_persistent) ++n_persistent;
        break;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

static void count_start(MPI_Request request) {
    for (int i = 0; i < n_persistent; ++i) {
        if (all[i].request == request) count(all[i].buffer, all[i].n_bytes);
    }
}

int MPI_Request_free(MPI_Request* request) {
    for (int i = 0; i < n_persistent; ++i) {
        if (all[i].request == *request) all[i].n_bytes = 0; // a receive may have the handle next
    }
    return PMPI_Request_free(request);
}

int MPI_Start(MPI_Request* request) {
    count_start(*request);
    return PMPI_Start(request);
}

int MPI_Startall(int n, MPI_Request requests[]) {
    for (int i = 0; i < n; ++i) count_start(requests[i]);
    return PMPI_Startall(n, requests);
}

int MPI_Put(const void* buffer, int n, MPI_Datatype type, int peer, MPI_Aint place, int n_there,
            MPI_Datatype type_there, MPI_Win window) {
    count(buffer, bytes_of(n, type));
    return PMPI_Put(buffer, n, type, peer, place, n_there, type_there, window);
}

int MPI_Alltoallv(const void* from, const int counts[], const int places[], MPI_Datatype type, void* into,
                  const int into_counts[], const int into_places[], MPI_Datatype into_type, MPI_Comm comm) {
    count_first(from, counts, places, size_of(comm), type);
    return PMPI_Alltoallv(from, counts, places, type, into, into_counts, into_places, into_type, comm);
}

int MPI_Ialltoallv(const void* from, const int counts[], const int places[], MPI_Datatype type, void* into,
                   const int into_counts[], const int into_places[], MPI_Datatype into_type, MPI_Comm comm,
                   MPI_Request* request) {
    count_first(from, counts, places, size_of(comm), type);
    return PMPI_Ialltoallv(from, counts, places, type, into, into_counts, into_places, into_type, comm, request);
}

int MPI_Iallgatherv(const void* from, int n, MPI_Datatype type, void* into, const int into_counts[],
                    const int into_places[], MPI_Datatype into_type, MPI_Comm comm, MPI_Request* request) {
    count(from, bytes_of(n, type));
    return PMPI_Iallgatherv(from, n, type, into, into_counts, into_places, into_type, comm, request);
}

int MPI_Ineighbor_alltoallv(const void* from, const int counts[], const int places[], MPI_Datatype type, void* into,
                            const int into_counts[], const int into_places[], MPI_Datatype into_type, MPI_Comm comm,
                            MPI_Request* request) {
    count_first(from, counts, places, 4, type);
    return PMPI_Ineighbor_alltoallv(from, counts, places, type, into, into_counts, into_places, into_type, comm,
                                    request);
}

int MPI_Finalize(void) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "rank %d sent %ld messages\n", rank, n_sent);
    return PMPI_Finalize();
}
