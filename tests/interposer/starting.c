// SPDX-License-Identifier: Apache-2.0
//
// Init, Init_thread with the level named by argv[1], and what may be asked before, between and after: Initialized,
// Finalized, Query_thread, versions, clocks, the MPI tool interface. Also that the level which the program is told holds, and
// that its arguments and environment arrive as they were given.
#include "probe.h"

#include <pthread.h>
#include <stdatomic.h>

static void before(void) {
    int flag = 1;
    int version = 0;
    int subversion = 0;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Initialized(&flag);
    EXPECT(flag == 0);
    MPI_Finalized(&flag);
    EXPECT(flag == 0);
    MPI_Get_version(&version, &subversion);
    MPI_Get_library_version(text, &length);
    EXPECT(version == MPI_VERSION && subversion == MPI_SUBVERSION && length > 0);
}

static void between(int argc, char** argv, int asked) {
    int flag = 0;
    int level = -1;
    char name[MPI_MAX_PROCESSOR_NAME];
    int length = 0;
    MPI_Initialized(&flag);
    EXPECT(flag == 1);
    MPI_Finalized(&flag);
    EXPECT(flag == 0);
    MPI_Query_thread(&level);
    EXPECT(level >= asked);
    EXPECT(asked == MPI_THREAD_MULTIPLE ||
           level < MPI_THREAD_MULTIPLE); // a program with threads that believes it deadlocks
    MPI_Is_thread_main(&flag);
    EXPECT(flag == 1);
    MPI_Get_processor_name(name, &length);
    EXPECT(length > 0);
    const double begin = MPI_Wtime();
    EXPECT(MPI_Wtick() > 0 && MPI_Wtime() >= begin);
    for (int i = 1; i < argc; ++i) {
        say("argument %d: %s", i, argv[i]);
    }
    MPI_Pcontrol(1);
    MPI_Pcontrol(0);
    void* memory = NULL;
    MPI_Alloc_mem(1 << 16, MPI_INFO_NULL, &memory);
    memset(memory, 1, 1 << 16);
    MPI_Free_mem(memory);
    int values[4];
    MPI_Aint first;
    MPI_Aint last;
    MPI_Get_address(&values[0], &first);
    MPI_Get_address(&values[3], &last);
    EXPECT(MPI_Aint_diff(last, first) == 3 * sizeof(int) && MPI_Aint_add(first, 12) == last);
}

static MPI_Comm crossed[2];
static atomic_int n_begun;

static void* duplicate(void* which) {
    MPI_Comm copy;
    atomic_fetch_add(&n_begun, 1);
    MPI_Comm_dup(*(MPI_Comm*)which, &copy);
    MPI_Comm_free(&copy);
    return NULL;
}

// A program that has as many threads in MPI as the level allows. Each rank begins with the other communicator, so that two
// threads which keep each other out of MPI wait for ever.
static void crossing_duplicates(int given) {
    for (int i = 0; i < 2; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &crossed[i]);
    }
    for (int round = 0; round < 5; ++round) {
        if (given < MPI_THREAD_MULTIPLE) {
            duplicate(&crossed[0]);
            duplicate(&crossed[1]);
            continue;
        }
        pthread_t first;
        const int n_before = atomic_load(&n_begun);
        pthread_create(&first, NULL, duplicate, &crossed[me % 2]);
        while (atomic_load(&n_begun) == n_before) {}
        duplicate(&crossed[1 - me % 2]);
        pthread_join(first, NULL);
    }
    for (int i = 0; i < 2; ++i) {
        MPI_Comm_free(&crossed[i]);
    }
}

static void tool_interface(void) {
    int n_variables = 0;
    int n_performance = 0;
    int n_categories = 0;
    MPI_T_cvar_get_num(&n_variables);
    MPI_T_pvar_get_num(&n_performance);
    MPI_T_category_get_num(&n_categories);
    EXPECT(n_variables >= 0 && n_performance >= 0 && n_categories >= 0);
    int n_read = 0;
    for (int i = 0; i < n_variables && n_read < 5; ++i) {
        char name[256];
        int name_length = sizeof name;
        int verbosity = 0;
        MPI_Datatype type;
        int binding = 0;
        int scope = 0;
        if (MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, NULL, NULL, NULL, &binding, &scope) ==
                MPI_SUCCESS &&
            type == MPI_INT && binding == MPI_T_BIND_NO_OBJECT) {
            MPI_T_cvar_handle handle;
            int count = 0;
            int value = 0;
            if (MPI_T_cvar_handle_alloc(i, NULL, &handle, &count) == MPI_SUCCESS) {
                if (count == 1 && MPI_T_cvar_read(handle, &value) == MPI_SUCCESS) {
                    ++n_read;
                }
                MPI_T_cvar_handle_free(&handle);
            }
        }
    }
    say("%d control variables read", n_read);
    MPI_T_pvar_session session;
    EXPECT(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    EXPECT(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
}

int main(int argc, char** argv) {
    static const struct {
        const char* name;
        int level;
    } levels[] = {{"single", MPI_THREAD_SINGLE},
                  {"funneled", MPI_THREAD_FUNNELED},
                  {"serialized", MPI_THREAD_SERIALIZED},
                  {"multiple", MPI_THREAD_MULTIPLE}};
    int asked = MPI_THREAD_SINGLE;
    int provided = -1;
    bool is_level = false;
    int flag = 0;
    before();
    // Ended after MPI_Finalize only: MPICH 4.0.2 crashes in an MPI_Init that comes after MPI_T_finalize.
    EXPECT(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    tool_interface();
    for (size_t i = 0; argc > 1 && i < PROBE_COUNT(levels); ++i) {
        if (strcmp(argv[1], levels[i].name) == 0) {
            asked = levels[i].level;
            is_level = true;
        }
    }
    if (is_level) {
        MPI_Init_thread(&argc, &argv, asked, &provided);
        EXPECT(provided >= asked);
    } else {
        provided = MPI_THREAD_SINGLE;
        MPI_Init(NULL, NULL);
    }
    probe_start();
    between(argc, argv, asked);
    crossing_duplicates(provided);
    tool_interface();
    int sum = 0;
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say("sum %d of %d", sum, n_ranks);
#ifdef OPEN_MPI // 4.1 crashes with any of it after MPI_Finalize
    MPI_T_finalize();
#endif
    MPI_Finalize();
    MPI_Initialized(&flag);
    EXPECT(flag == 1);
    MPI_Finalized(&flag);
    EXPECT(flag == 1);
#ifndef OPEN_MPI
    tool_interface();
    MPI_T_finalize();
#endif
    const char* variable = getenv("PROBE_VARIABLE");
    say("variable: %s", variable ? variable : "none");
    return probe_result();
}
