// SPDX-License-Identifier: Apache-2.0
//
// Functions of MPI that a program looks up by name, in each of the ways there are, beside calls that it is linked to: with
// MPI_THREAD_SINGLE both must go to the worker, or a request of the one means nothing to the other. Names that are not MPI's are
// found as natively: by the caller. The library that PROBE_PLUGIN names is linked to MPI, and opened with RTLD_DEEPBIND.
#include "probe.h"

#include <dlfcn.h>
#include <link.h>

typedef int wait_function(MPI_Request*, MPI_Status*);
typedef int barrier_function(MPI_Comm);
typedef int recv_function(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
typedef int exchange_function(int, int);

static wait_function* found_wait;
static barrier_function* found_barrier;
static recv_function* found_recv;

static char large_in[100000];
static char large_out[sizeof large_in];

/// Rounds of messages, each of which is posted by one kind of call and completed by the other.
static void mix(void) {
    for (int i = 0; i < 50; ++i) {
        MPI_Request requests[3];
        int value = -1;
        const int sent = 1000 * me + i;
        MPI_Irecv(large_in, sizeof large_in, MPI_CHAR, previous_rank(), 0, MPI_COMM_WORLD, &requests[0]);
        memset(large_out, i, sizeof large_out);
        MPI_Isend(large_out, sizeof large_out, MPI_CHAR, next_rank(), 0, MPI_COMM_WORLD, &requests[1]);
        if (i % 2 == 0) found_barrier(MPI_COMM_WORLD);
        MPI_Isend(&sent, 1, MPI_INT, next_rank(), 7, MPI_COMM_WORLD, &requests[2]);
        found_recv(&value, 1, MPI_INT, previous_rank(), 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        found_wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        found_wait(&requests[2], MPI_STATUS_IGNORE);
        EXPECT(value == 1000 * previous_rank() + i);
        EXPECT(large_in[0] == (char)i && large_in[sizeof large_in - 1] == (char)i);
        EXPECT(requests[0] == MPI_REQUEST_NULL && requests[2] == MPI_REQUEST_NULL);
    }
    say("mixed");
}

/// The MPI's library, as a program would name it.
static void* open_mpi(int flags) {
    Dl_info information;
    void* const address = dlsym(RTLD_DEFAULT, "MPI_Get_library_version"); // which nobody wraps
    EXPECT(address != NULL && dladdr(address, &information) != 0);
    void* const library = dlopen(information.dli_fname, RTLD_NOW | flags);
    EXPECT(library != NULL);
    return library;
}

static void look_up(void* where) {
    *(void**)&found_wait = dlsym(where, "MPI_Wait");
    *(void**)&found_barrier = dlsym(where, "MPI_Barrier");
    *(void**)&found_recv = dlsym(where, "MPI_Recv");
    EXPECT(found_wait != NULL && found_barrier != NULL && found_recv != NULL);
    mix();
}

static void by_handle(void) { look_up(open_mpi(RTLD_LOCAL | RTLD_NOLOAD)); }
static void by_default(void) { look_up(RTLD_DEFAULT); }
static void by_next(void) { look_up(RTLD_NEXT); }
static void by_program(void) { look_up(dlopen(NULL, RTLD_NOW)); }
static void by_handle_bound_deeply(void) { look_up(open_mpi(RTLD_LOCAL | RTLD_DEEPBIND)); }

static void by_other_names(void) {
    void* const library = open_mpi(RTLD_NOLOAD);
    *(void**)&found_wait = dlsym(library, "PMPI_Wait");
    *(void**)&found_barrier = dlvsym(library, "MPI_Barrier", "ANY_1.0"); // the MPI has no versions
    if (found_barrier == NULL) *(void**)&found_barrier = dlsym(library, "PMPI_Barrier");
    *(void**)&found_recv = dlsym(library, "PMPI_Recv");
    mix();
}

/// By its own calls alone, which pass the wrappers by.
static void in_plugin(void) {
    const char* const file = getenv("PROBE_PLUGIN");
    static void* plugin;
    if (plugin == NULL) plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    exchange_function* exchange = NULL;
    if (plugin != NULL) *(void**)&exchange = dlsym(plugin, "probe_exchange");
    EXPECT(exchange != NULL);
    // Opened late it disturbs the worker: commtask-run has said so.
    for (int i = 0; exchange != NULL && getenv("PROBE_LATE") == NULL && i < 50; ++i) {
        MPI_Request request;
        MPI_Irecv(large_in, sizeof large_in, MPI_CHAR, previous_rank(), 0, MPI_COMM_WORLD, &request);
        EXPECT(exchange(next_rank(), previous_rank()) == previous_rank());
        MPI_Send(large_out, sizeof large_out, MPI_CHAR, next_rank(), 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    say("exchanged");
}

int probe_own(void) { return 5; }

static void other_names(void) {
    EXPECT(dlsym(RTLD_DEFAULT, "MPI_No_such_function") == NULL);
    EXPECT(dlerror() != NULL);
    EXPECT(dlsym(open_mpi(RTLD_NOLOAD), "MPI_No_such_function") == NULL);
    EXPECT(dlsym(RTLD_DEFAULT, "puts") == (void*)&puts);
    EXPECT(dlsym(RTLD_NEXT, "puts") == (void*)&puts);
    EXPECT(dlsym(RTLD_NEXT, "probe_own") == NULL); // it is the program's
    EXPECT(dlsym(dlopen(NULL, RTLD_NOW), "MPI_Send") == (void*)&MPI_Send);
    EXPECT(dlsym(RTLD_DEFAULT, "MPI_Send") == (void*)&MPI_Send);
    EXPECT(dlsym(open_mpi(RTLD_NOLOAD), "MPI_Wtime") != NULL);
    void* const again = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    EXPECT(again != NULL && dlsym(again, "qsort") != NULL && dlvsym(again, "qsort", "NO_SUCH_1.0") == NULL);
    say("as ever");
}

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {
        {"by_handle", by_handle, 1},
        {"by_default", by_default, 1},
        {"by_next", by_next, 1},
        {"by_program", by_program, 1},
        {"by_other_names", by_other_names, 1},
        {"by_handle_bound_deeply", by_handle_bound_deeply, 1},
        {"other_names", other_names, 1},
        {"in_plugin", in_plugin, 1},
    };
    // Opened before MPI starts, unless that is to come late.
    if (getenv("PROBE_LATE") == NULL) dlopen(getenv("PROBE_PLUGIN"), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    return probe_main(argc, argv, cases, PROBE_COUNT(cases));
}
