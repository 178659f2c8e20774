// SPDX-License-Identifier: Apache-2.0
//
// The probes' common part (probe.h). Lines are written with one write each, so that the launcher cannot mix those of two
// ranks; error classes are printed by name, since their numbers differ between MPIs.
#include "probe.h"

#include <stdarg.h>
#include <unistd.h>

int me = -1;
int n_ranks = 0;
static const char* case_name = "";
static volatile int n_faults = 0;

void say(const char* format, ...) {
    char line[1024];
    int length = snprintf(line, sizeof line, "[%d] %s: ", me, case_name);
    va_list arguments;
    va_start(arguments, format);
    length += vsnprintf(line + length, sizeof line - (size_t)length - 1, format, arguments);
    va_end(arguments);
    if (length > (int)sizeof line - 2) {
        length = (int)sizeof line - 2;
    }
    line[length++] = '\n';
    for (int done = 0; done < length;) {
        const ssize_t written = write(STDOUT_FILENO, line + done, (size_t)(length - done));
        if (written < 0) {
            abort();
        }
        done += (int)written;
    }
}

void say_status(const char* what, const MPI_Status* status, MPI_Datatype type) {
    int count = -1;
    int elements = -1;
    int is_cancelled = -1;
    MPI_Get_count(status, type, &count);
    MPI_Get_elements(status, type, &elements);
    MPI_Test_cancelled(status, &is_cancelled);
    const bool is_any = status->MPI_SOURCE == MPI_ANY_SOURCE;
    char source[16];
    snprintf(source, sizeof source, "%d", status->MPI_SOURCE);
    char tag[16];
    snprintf(tag, sizeof tag, "%d", status->MPI_TAG);
    const char* from = is_any ? "any" : status->MPI_SOURCE == MPI_PROC_NULL ? "null" : source;
    say("%s: source %s, tag %s, count %d, elements %d, cancelled %d", what, is_cancelled ? "-" : from,
        is_cancelled ? "-" : (status->MPI_TAG == MPI_ANY_TAG ? "any" : tag), is_cancelled ? 0 : count,
        is_cancelled ? 0 : elements, is_cancelled != 0);
}

void say_count(const char* what, const MPI_Status* status, MPI_Datatype type) {
    int count = -1;
    MPI_Get_count(status, type, &count);
    say("%s: count %d", what, count);
}

void say_class(const char* what, int code) {
    static const struct {
        int value;
        const char* name;
    } names[] = {{MPI_SUCCESS, "success"},
                 {MPI_ERR_BUFFER, "buffer"},
                 {MPI_ERR_COUNT, "count"},
                 {MPI_ERR_TYPE, "type"},
                 {MPI_ERR_TAG, "tag"},
                 {MPI_ERR_COMM, "comm"},
                 {MPI_ERR_RANK, "rank"},
                 {MPI_ERR_REQUEST, "request"},
                 {MPI_ERR_ROOT, "root"},
                 {MPI_ERR_GROUP, "group"},
                 {MPI_ERR_OP, "op"},
                 {MPI_ERR_TOPOLOGY, "topology"},
                 {MPI_ERR_DIMS, "dims"},
                 {MPI_ERR_ARG, "arg"},
                 {MPI_ERR_TRUNCATE, "truncate"},
                 {MPI_ERR_OTHER, "other"},
                 {MPI_ERR_INTERN, "intern"},
                 {MPI_ERR_IN_STATUS, "in status"},
                 {MPI_ERR_PENDING, "pending"},
                 {MPI_ERR_KEYVAL, "keyval"},
                 {MPI_ERR_NO_SUCH_FILE, "no such file"},
                 {MPI_ERR_WIN, "win"},
                 {MPI_ERR_FILE, "file"},
                 {MPI_ERR_INFO_KEY, "info key"},
                 {MPI_ERR_DISP, "disp"},
                 {MPI_ERR_BAD_FILE, "bad file"}};
    int class = -1;
    MPI_Error_class(code, &class);
    for (size_t i = 0; i < PROBE_COUNT(names); ++i) {
        if (names[i].value == class) {
            say("%s: %s", what, names[i].name);
            return;
        }
    }
    say("%s: class %d", what, class);
}

void probe_fault(const char* file, int line, const char* condition) {
    const char* slash = strrchr(file, '/');
    ++n_faults;
    say("FAULT at %s:%d: %s", slash ? slash + 1 : file, line, condition);
}

void probe_start(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
}

int probe_result(void) { return n_faults ? 1 : 0; }

void probe_run(int argc, char** argv, const struct probe_case* cases, size_t n_cases) {
    for (size_t i = 0; i < n_cases; ++i) {
        const bool is_wanted = argc < 2 || strcmp(argv[1], cases[i].name) == 0;
        if (is_wanted && n_ranks >= cases[i].min_ranks) {
            case_name = cases[i].name;
            say("begins");
            cases[i].run();
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    case_name = "end";
}

static int run_and_finalize(int argc, char** argv, const struct probe_case* cases, size_t n_cases) {
    probe_run(argc, argv, cases, n_cases);
    MPI_Finalize();
    say("finalized");
    return probe_result();
}

int probe_main(int argc, char** argv, const struct probe_case* cases, size_t n_cases) {
    MPI_Init(&argc, &argv);
    probe_start();
    return run_and_finalize(argc, argv, cases, n_cases);
}

int probe_main_with_threads(int argc, char** argv, const struct probe_case* cases, size_t n_cases) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    probe_start();
    EXPECT(level == MPI_THREAD_MULTIPLE);
    return run_and_finalize(argc, argv, cases, n_cases);
}

int next_rank(void) { return (me + 1) % n_ranks; }
int previous_rank(void) { return (me + n_ranks - 1) % n_ranks; }

static int value_of(int rank, int salt, int i) { return rank * 1000003 + salt * 7919 + i; }

void fill(int* values, int n, int rank, int salt) {
    for (int i = 0; i < n; ++i) {
        values[i] = value_of(rank, salt, i);
    }
}

bool is_filled(const int* values, int n, int rank, int salt) {
    for (int i = 0; i < n; ++i) {
        if (values[i] != value_of(rank, salt, i)) {
            return false;
        }
    }
    return true;
}
