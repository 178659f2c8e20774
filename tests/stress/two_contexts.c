/* SPDX-License-Identifier: Apache-2.0
 *
 * Long messages of one rank by two network contexts at once, with a look at every byte: what decides whether a communicator may be
 * striped over lanes by rank and tag, where long messages of two ranks go side by side. MPI alone, since it is MPI that is
 * asked. By two duplicates, as commtask_comm_stripe does, they must arrive whole. With `streams` as the third argument they go by
 * two streams to one, and MPICH 4.2 and 4.3 abort: over shared memory its receiver tells the parts of two such messages apart
 * by the sending rank alone (issue 7279). Two ranks; the other arguments: rounds, bytes of the longest message. */
#define _GNU_SOURCE
#include <mpi.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n_contexts = 2, n_at_once = 4 };

static int rank, n_rounds, most_bytes;
static MPI_Comm by_context[n_contexts];
static atomic_long n_wrong;

static int size_of(int context, int message) { return most_bytes - 1000 * ((7 * message + 3 * context) % 40); }

static unsigned char byte_of(int context, int message, int at) {
    return (unsigned char)(13 * context + 31 * message + at / 64 + at % 7 + 1);
}

static void fill(unsigned char* buffer, int context, int message) {
    for (int i = 0, n = size_of(context, message); i < n; ++i) buffer[i] = byte_of(context, message, i);
}

static void check(const unsigned char* buffer, int context, int message, const MPI_Status* status) {
    const int n = size_of(context, message);
    int got = -1;
    MPI_Get_count(status, MPI_BYTE, &got);
    for (int i = 0; i < n; ++i) {
        if (got == n && buffer[i] == byte_of(context, message, i)) continue;
        if (n_wrong++ < 5) {
            fprintf(stderr, "message %d of context %d: %d of %d bytes came, byte %d is wrong\n", message, context, got,
                    n, i);
        }
        return;
    }
}

/* A thread at either end of a context of its own. */
static void* exchange(void* argument) {
    const int context = *(const int*)argument;
    unsigned char* buffers[n_at_once];
    MPI_Request requests[n_at_once];
    MPI_Status statuses[n_at_once];
    for (int i = 0; i < n_at_once; ++i) buffers[i] = malloc((size_t)most_bytes);
    for (int round = 0; round < n_rounds; ++round) {
        for (int i = 0; i < n_at_once; ++i) {
            const int message = n_at_once * round + i;
            if (rank == 0) {
                fill(buffers[i], context, message);
                MPI_Isend(buffers[i], size_of(context, message), MPI_BYTE, 1, 0, by_context[context], &requests[i]);
            } else {
                MPI_Irecv(buffers[i], most_bytes, MPI_BYTE, 0, 0, by_context[context], &requests[i]);
            }
        }
        MPI_Waitall(n_at_once, requests, statuses);
        for (int i = 0; rank == 1 && i < n_at_once; ++i)
            check(buffers[i], context, n_at_once * round + i, &statuses[i]);
    }
    for (int i = 0; i < n_at_once; ++i) free(buffers[i]);
    return NULL;
}

static void on_threads(int n_threads, void* (*body)(void*)) {
    pthread_t threads[n_contexts];
    int numbers[n_contexts] = {0, 1};
    for (int i = 0; i < n_threads; ++i) pthread_create(&threads[i], NULL, body, &numbers[i]);
    for (int i = 0; i < n_threads; ++i) pthread_join(threads[i], NULL);
}

static void by_duplicates(void) {
    for (int i = 0; i < n_contexts; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &by_context[i]);
    on_threads(n_contexts, exchange);
    for (int i = 0; i < n_contexts; ++i) MPI_Comm_free(&by_context[i]);
}

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40200000
static MPI_Comm streams_comm;

/* A thread of rank 0 for each of its streams. */
static void* send_by_stream(void* argument) {
    const int stream = *(const int*)argument;
    unsigned char* const buffer = malloc((size_t)most_bytes);
    for (int message = 0; message < n_at_once * n_rounds; ++message) {
        fill(buffer, stream, message);
        MPIX_Stream_send(buffer, size_of(stream, message), MPI_BYTE, 1, stream, streams_comm, stream, 0);
    }
    free(buffer);
    return NULL;
}

static void receive_from_two_streams(void) {
    unsigned char* buffers[n_contexts];
    for (int i = 0; i < n_contexts; ++i) buffers[i] = malloc((size_t)most_bytes);
    for (int message = 0; message < n_at_once * n_rounds; ++message) {
        MPI_Request requests[n_contexts];
        MPI_Status statuses[n_contexts];
        for (int i = 0; i < n_contexts; ++i) {
            MPIX_Stream_irecv(buffers[i], most_bytes, MPI_BYTE, 0, i, streams_comm, i, 0, &requests[i]);
        }
        MPI_Waitall(n_contexts, requests, statuses);
        for (int i = 0; i < n_contexts; ++i) check(buffers[i], i, message, &statuses[i]);
    }
    for (int i = 0; i < n_contexts; ++i) free(buffers[i]);
}

static void by_streams(void) {
    const int n_mine = rank == 0 ? n_contexts : 1;
    MPIX_Stream streams[n_contexts];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int n_made = 0;
    while (n_made < n_mine && MPIX_Stream_create(MPI_INFO_NULL, &streams[n_made]) == MPI_SUCCESS) ++n_made;
    int all_made = n_made == n_mine;
    MPI_Allreduce(MPI_IN_PLACE, &all_made, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (all_made) {
        MPIX_Stream_comm_create_multiplex(MPI_COMM_WORLD, n_mine, streams, &streams_comm);
        if (rank == 0) on_threads(n_contexts, send_by_stream);
        if (rank == 1) receive_from_two_streams();
        MPI_Comm_free(&streams_comm);
    }
    for (int i = 0; i < n_made; ++i) MPIX_Stream_free(&streams[i]);
    if (rank == 1)
        printf("streams: %s\n", all_made ? "two to one, checked" : "this MPI gave none (MPIR_CVAR_CH4_RESERVE_VCIS)");
}
#else
static void by_streams(void) {
    if (rank == 1) printf("streams: this MPI has none\n");
}
#endif

int main(int argc, char** argv) {
    int level, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    n_rounds = argc > 1 ? atoi(argv[1]) : 20;
    most_bytes = argc > 2 ? atoi(argv[2]) : 300000;
    const int can_run = level == MPI_THREAD_MULTIPLE && size == 2 && most_bytes >= 100000;
    if (can_run) {
        if (argc > 3 && strcmp(argv[3], "streams") == 0) {
            by_streams();
        } else {
            by_duplicates();
        }
    }
    const long mine = atomic_load(&n_wrong);
    if (rank == 1 && can_run)
        printf("%d messages of up to %d bytes for each context, wrong: %ld\n", n_at_once * n_rounds, most_bytes, mine);
    long all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return !can_run ? 77 : all != 0;
}
