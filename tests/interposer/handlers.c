// SPDX-License-Identifier: Apache-2.0
//
// Which error handler hears of an error, for the table of communicators x handlers x calls below: each row is a process of its
// own, since MPI_COMM_SELF's handler cannot be unset and a fatal one ends the process. The rows are children of a process that
// never starts MPI, and start MPI alone (as MPICH lets them). A row's line has the handlers that were called, on which
// communicator, and the code that came back; or that the error was fatal, and whether its text names the function that was called.
#include "probe.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INHERITED, RETURNS, FUNCTION, FATAL };
static const char* const handler_names[] = {"inherited", "return", "function", "fatal"};

enum { WORLD, SELF, BEFORE, AFTER, NESTED, SPLIT, FREED, REPLACED, N_COMMS };
static const char* const comm_names[N_COMMS] = {"world",  "self",  "before", "after",
                                                "nested", "split", "freed",  "replaced"};

static int in[64];
static int out[64];
static MPI_Comm comm;
static int level;

static char heard[256];
static void hear(const char* who, const MPI_Comm* where, const int* code) {
    int class = -1;
    MPI_Error_class(*code, &class);
    const char* on = *where == MPI_COMM_WORLD ? "world" : *where == MPI_COMM_SELF ? "self" : "own";
    const size_t length = strlen(heard);
    snprintf(heard + length, sizeof heard - length, ", %s on %s of class %d", who, on, class);
}
static void world_function(MPI_Comm* where, int* code, ...) { hear("world's", where, code); }
static void own_function(MPI_Comm* where, int* code, ...) { hear("own", where, code); }

static void set(MPI_Comm of, int how, MPI_Comm_errhandler_function* function) {
    MPI_Errhandler made;
    if (how == RETURNS) MPI_Comm_set_errhandler(of, MPI_ERRORS_RETURN);
    if (how == FATAL) MPI_Comm_set_errhandler(of, MPI_ERRORS_ARE_FATAL);
    if (how != FUNCTION) return;
    MPI_Comm_create_errhandler(function, &made);
    MPI_Comm_set_errhandler(of, made);
    MPI_Errhandler_free(&made);
}

static MPI_Request pair[2];
static MPI_Status statuses[2];
static int list[2];

/// A receive that its message does not fit into, on `comm`; the communicator is freed if the row says so.
static int freed;
static void start(void) {
    MPI_Irecv(in, 2, MPI_INT, 0, 3, comm, &pair[0]);
    MPI_Isend(out, 4, MPI_INT, 0, 3, comm, &pair[1]);
    if (freed) MPI_Comm_free(&comm);
}
static void start_persistent(void) {
    MPI_Recv_init(in, 2, MPI_INT, 0, 3, comm, &pair[0]);
    MPI_Isend(out, 4, MPI_INT, 0, 3, comm, &pair[1]);
    if (freed) MPI_Comm_free(&comm);
    MPI_Start(&pair[0]);
}
static int do_wait(void) {
    start();
    return MPI_Wait(&pair[0], MPI_STATUS_IGNORE);
}
static int do_test(void) {
    int flag = 0, code = MPI_SUCCESS;
    start();
    while (!flag && code == MPI_SUCCESS && heard[0] == 0) code = MPI_Test(&pair[0], &flag, MPI_STATUS_IGNORE);
    return code;
}
static int do_waitall(void) {
    start();
    return MPI_Waitall(2, pair, statuses);
}
static int do_testall(void) {
    int flag = 0, code = MPI_SUCCESS;
    start();
    while (!flag && code == MPI_SUCCESS && heard[0] == 0) code = MPI_Testall(2, pair, &flag, statuses);
    return code;
}
static int do_waitany(void) {
    int i;
    start();
    return MPI_Waitany(1, pair, &i, statuses);
}
static int do_testany(void) {
    int i, flag = 0, code = MPI_SUCCESS;
    start();
    while (!flag && code == MPI_SUCCESS && heard[0] == 0) code = MPI_Testany(1, pair, &i, &flag, statuses);
    return code;
}
static int do_waitsome(void) {
    int n;
    start();
    return MPI_Waitsome(1, pair, &n, list, statuses);
}
static int do_testsome(void) {
    int n = 0, code = MPI_SUCCESS;
    start();
    while (n == 0 && code == MPI_SUCCESS && heard[0] == 0) code = MPI_Testsome(1, pair, &n, list, statuses);
    return code;
}
static int do_get_status(void) {
    int flag = 0, code = MPI_SUCCESS;
    start();
    while (!flag && code == MPI_SUCCESS && heard[0] == 0) code = MPI_Request_get_status(pair[0], &flag, statuses);
    return code;
}
static int do_persistent_wait(void) {
    start_persistent();
    return MPI_Wait(&pair[0], MPI_STATUS_IGNORE);
}
static int do_persistent_waitall(void) {
    start_persistent();
    return MPI_Waitall(2, pair, statuses);
}
static int do_persistent_test(void) {
    int flag = 0, code = MPI_SUCCESS;
    start_persistent();
    while (!flag && code == MPI_SUCCESS && heard[0] == 0) code = MPI_Test(&pair[0], &flag, MPI_STATUS_IGNORE);
    return code;
}
static int do_recv(void) {
    MPI_Isend(out, 4, MPI_INT, 0, 3, comm, &pair[1]);
    return MPI_Recv(in, 2, MPI_INT, 0, 3, comm, statuses);
}
static int do_sendrecv(void) { return MPI_Sendrecv(out, 4, MPI_INT, 0, 3, in, 2, MPI_INT, 0, 3, comm, statuses); }
static int do_mrecv(void) {
    MPI_Message message;
    MPI_Isend(out, 4, MPI_INT, 0, 3, comm, &pair[1]);
    MPI_Mprobe(0, 3, comm, &message, statuses);
    return MPI_Mrecv(in, 2, MPI_INT, &message, statuses);
}
static int do_send(void) { return MPI_Send(out, 4, MPI_INT, 7, 3, comm); }
static int do_isend(void) { return MPI_Isend(out, 4, MPI_INT, 7, 3, comm, pair); }
static int do_probe(void) { return MPI_Probe(7, 3, comm, statuses); }
static int do_bcast(void) { return MPI_Bcast(out, 1, MPI_INT, 7, comm); }
static int do_ireduce(void) { return MPI_Ireduce(out, in, 1, MPI_INT, MPI_OP_NULL, 0, comm, pair); }
static int do_dup(void) { return MPI_Comm_split(comm, 0, 0, NULL); }
static int do_call(void) { return MPI_Comm_call_errhandler(comm, MPI_ERR_TOPOLOGY); }

static int fails(void* state, MPI_Status* status) {
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_ERR_TOPOLOGY;
}
static int succeeds(void* state) {
    (void)state;
    return MPI_SUCCESS;
}
static int cancels(void* state, int complete) {
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}
static int do_generalized(void) {
    MPI_Grequest_start(fails, succeeds, cancels, NULL, &pair[0]);
    MPI_Grequest_complete(pair[0]);
    return MPI_Wait(&pair[0], statuses);
}
static int do_generalized_waitall(void) {
    MPI_Grequest_start(fails, succeeds, cancels, NULL, &pair[0]);
    MPI_Grequest_complete(pair[0]);
    return MPI_Waitall(1, pair, statuses);
}

static const struct {
    const char* name;
    const char* function;
    int (*run)(void);
    bool can_be_freed;
    bool is_sampled; ///< In every test.
} calls[] = {
    {"Wait", "MPI_Wait", do_wait, true, true},
    {"Test", "MPI_Test", do_test, true, false},
    {"Waitall", "MPI_Waitall", do_waitall, true, true},
    {"Testall", "MPI_Testall", do_testall, true, false},
    {"Waitany", "MPI_Waitany", do_waitany, true, false},
    {"Testany", "MPI_Testany", do_testany, true, false},
    {"Waitsome", "MPI_Waitsome", do_waitsome, true, false},
    {"Testsome", "MPI_Testsome", do_testsome, true, true},
    {"Request_get_status", "MPI_Request_get_status", do_get_status, true, false},
    {"persistent Wait", "MPI_Wait", do_persistent_wait, true, true},
    {"persistent Test", "MPI_Test", do_persistent_test, true, false},
    {"persistent Waitall", "MPI_Waitall", do_persistent_waitall, true, false},
    {"Recv", "MPI_Recv", do_recv, false, true},
    {"Sendrecv", "MPI_Sendrecv", do_sendrecv, false, false},
    {"Mrecv", "MPI_Mrecv", do_mrecv, false, false},
    {"Send to no rank", "MPI_Send", do_send, false, false},
    {"Isend to no rank", "MPI_Isend", do_isend, false, true},
    {"Probe of no rank", "MPI_Probe", do_probe, false, false},
    {"Bcast from no root", "MPI_Bcast", do_bcast, false, false},
    {"Ireduce by no op", "MPI_Ireduce", do_ireduce, false, false},
    {"Comm_split", "MPI_Comm_split", do_dup, false, false},
    {"Comm_call_errhandler", "MPI_Comm_call_errhandler", do_call, false, false},
    {"generalized Wait", "MPI_Wait", do_generalized, false, true},
    {"generalized Waitall", "MPI_Waitall", do_generalized_waitall, false, false},
};

static void make_comm(int which, int world, int own) {
    MPI_Comm other;
    comm = which == SELF ? MPI_COMM_SELF : MPI_COMM_WORLD;
    if (which == BEFORE || which == FREED) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (which == NESTED) {
        MPI_Comm_dup(MPI_COMM_WORLD, &other);
        MPI_Sendrecv(out, 1, MPI_INT, 0, 1, in, 1, MPI_INT, 0, 1, other, statuses);
        MPI_Comm_dup(other, &comm);
    }
    if (which == REPLACED) { // set to something first
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        MPI_Sendrecv(out, 1, MPI_INT, 0, 1, in, 1, MPI_INT, 0, 1, comm, statuses);
    }
    set(MPI_COMM_WORLD, world, world_function);
    if (which == AFTER) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (which == SPLIT) MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);
    freed = which == FREED;
    if (which != WORLD) set(comm, own, own_function);
}

static void run_row(int which, int world, int own, int call, int to) {
    int code = MPI_SUCCESS, class = -1, thread_level;
    char text[512];
    MPI_Init_thread(NULL, NULL, level, &thread_level);
    make_comm(which, world, own);
    code = calls[call].run();
    MPI_Error_class(code, &class);
    const int length = snprintf(text, sizeof text, "code of class %d%s", class, heard);
    if (write(to, text, (size_t)length) != length) abort();
    _exit(0);
}

/// Says how a row ended. A fatal error's text names the function that the program called, if commtask-run wrote it.
static void judge_row(int which, int world, int own, int call) {
    const bool is_interposed = dlsym(RTLD_DEFAULT, "commtask_init") != NULL;
    int ends[2];
    char text[8192];
    char row[128];
    size_t length = 0;
    ssize_t n = 0;
    int how = 0;
    if (pipe(ends) != 0) abort();
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        alarm(30);
        run_row(which, world, own, call, ends[1]);
    }
    close(ends[1]);
    while ((n = read(ends[0], text + length, sizeof text - 1 - length)) > 0) length += (size_t)n;
    close(ends[0]);
    text[length] = 0;
    waitpid(child, &how, 0);
    snprintf(row, sizeof row, "%s, world's %s, its own %s: %s", comm_names[which], handler_names[world],
             handler_names[own], calls[call].name);
    if (WIFEXITED(how) && WEXITSTATUS(how) == 0) {
        // Of a communicator that was freed MPICH forgets the function, unless the request is persistent.
        if (which == FREED && own == FUNCTION && strncmp(calls[call].name, "persistent", 10) != 0)
            text[strcspn(text, ",")] = 0;
        say("%s: %s", row, text);
        return;
    }
    say("%s: fatal%s", row, WIFSIGNALED(how) ? ", by a signal" : "");
    if (!is_interposed) return;
    const char* named = strstr(text, "fatal error in ");
    EXPECT(strstr(text, "commtask: rank 0: ") != NULL);
    EXPECT(named != NULL &&
           strncmp(named + strlen("fatal error in "), calls[call].function, strlen(calls[call].function)) == 0);
}

int main(int argc, char** argv) {
    static const char* const launchers[] = {"PMI_FD", "PMI_RANK", "PMI_SIZE", "PMI_PORT", "PMI_ID"};
    static const int choices[][2] = {{INHERITED, INHERITED}, {RETURNS, INHERITED},  {FUNCTION, INHERITED},
                                     {INHERITED, RETURNS},   {INHERITED, FUNCTION}, {RETURNS, FATAL},
                                     {FUNCTION, FUNCTION}};
    for (size_t i = 0; i < PROBE_COUNT(launchers); ++i) unsetenv(launchers[i]);
    const char* const wanted = argc > 1 ? argv[1] : "world";
    level = argc > 2 && strcmp(argv[2], "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    const bool is_whole = argc > 3; // by hand: all calls
    me = 0;
    for (int which = 0; which < N_COMMS; ++which) {
        if (strcmp(wanted, comm_names[which]) != 0) continue;
        for (size_t i = 0; i < PROBE_COUNT(choices); ++i) {
            if (which == WORLD && choices[i][1] != INHERITED) continue;
            for (size_t call = 0; call < PROBE_COUNT(calls); ++call) {
                if (which == FREED && !calls[call].can_be_freed) continue;
                if (calls[call].is_sampled || is_whole) judge_row(which, choices[i][0], choices[i][1], (int)call);
            }
        }
    }
    return probe_result();
}
