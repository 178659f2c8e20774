// SPDX-License-Identifier: Apache-2.0
//
// Which error handler hears of an error, for the table of communicators, a window and a file x handlers x calls below: each row
// is a process of its own, since MPI_COMM_SELF's handler cannot be unset and a fatal one ends the process. The rows are children
// of a process that never starts MPI, and start MPI alone (as MPICH lets them). A row's line has the handlers that were called,
// on which object, and the code that came back; or that the error was fatal, and whether its text names the function.
#include "probe.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INHERITED, RETURNS, FUNCTION, FATAL };
static const char* const handler_names[] = {"inherited", "return", "function", "fatal"};

enum { WORLD, SELF, BEFORE, AFTER, NESTED, SPLIT, FREED, REPLACED, WINDOW, OPENED, N_COMMS };
static const char* const comm_names[N_COMMS] = {"world", "self",  "before",   "after",  "nested",
                                                "split", "freed", "replaced", "window", "file"};

static int in[64];
static int out[64];
static MPI_Comm comm;
static MPI_Win window;
static MPI_File file;
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

static void hear_elsewhere(const char* who, int code) {
    int class = -1;
    MPI_Error_class(code, &class);
    const size_t length = strlen(heard);
    snprintf(heard + length, sizeof heard - length, ", %s of class %d", who, class);
}
static void window_function(MPI_Win* where, int* code, ...) {
    hear_elsewhere(*where == window ? "the window's" : "the window's elsewhere", *code);
}
static void file_function(MPI_File* where, int* code, ...) {
    hear_elsewhere(*where == file ? "the file's" : "the file's elsewhere", *code);
}

static void set_of_window(int how) {
    MPI_Errhandler made;
    if (how == RETURNS) MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    if (how == FATAL) MPI_Win_set_errhandler(window, MPI_ERRORS_ARE_FATAL);
    if (how != FUNCTION) return;
    MPI_Win_create_errhandler(window_function, &made);
    MPI_Win_set_errhandler(window, made);
    MPI_Errhandler_free(&made);
}
static void set_of_file(int how) {
    MPI_Errhandler made;
    if (how == RETURNS) MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
    if (how == FATAL) MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
    if (how != FUNCTION) return;
    MPI_File_create_errhandler(file_function, &made);
    MPI_File_set_errhandler(file, made);
    MPI_Errhandler_free(&made);
}

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

#if MPI_VERSION >= 4
static int do_psend_to_no_rank(void) { return MPI_Psend_init(out, 2, 2, MPI_INT, 7, 3, comm, MPI_INFO_NULL, pair); }
static int do_precv_of_no_rank(void) { return MPI_Precv_init(in, 2, 2, MPI_INT, 7, 3, comm, MPI_INFO_NULL, pair); }
static int do_psend_of_no_partitions(void) {
    return MPI_Psend_init(out, -1, 2, MPI_INT, 0, 3, comm, MPI_INFO_NULL, pair);
}
static int do_pready(void) {
    MPI_Psend_init(out, 2, 2, MPI_INT, 0, 3, comm, MPI_INFO_NULL, pair);
    MPI_Start(pair);
    return MPI_Pready(5, pair[0]);
}
static int do_pready_inactive(void) {
    MPI_Psend_init(out, 2, 2, MPI_INT, 0, 3, comm, MPI_INFO_NULL, pair);
    return MPI_Pready(0, pair[0]);
}
static int do_pready_range(void) {
    MPI_Psend_init(out, 2, 2, MPI_INT, 0, 3, comm, MPI_INFO_NULL, pair);
    MPI_Start(pair);
    return MPI_Pready_range(0, 5, pair[0]);
}
static int do_parrived(void) {
    int flag = 0;
    MPI_Precv_init(in, 2, 2, MPI_INT, 0, 3, comm, MPI_INFO_NULL, pair);
    MPI_Start(pair);
    return MPI_Parrived(pair[0], 5, &flag);
}
static int do_parrived_of_send(void) {
    int flag = 0;
    MPI_Psend_init(out, 2, 2, MPI_INT, 0, 3, comm, MPI_INFO_NULL, pair);
    MPI_Start(pair);
    return MPI_Parrived(pair[0], 0, &flag);
}
#endif

static int do_put(void) { return MPI_Put(out, 1, MPI_INT, 7, 0, 1, MPI_INT, window); }
static int do_put_at(void) { return MPI_Put(out, 1, MPI_INT, 0, -8, 1, MPI_INT, window); }
static int do_get(void) { return MPI_Get(in, -1, MPI_INT, 0, 0, 1, MPI_INT, window); }
static int do_accumulate(void) { return MPI_Accumulate(out, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, window); }
static int do_fetch(void) { return MPI_Fetch_and_op(out, in, MPI_INT, 7, 0, MPI_SUM, window); }
static int do_flush(void) { return MPI_Win_flush(7, window); }
static int do_flush_local(void) { return MPI_Win_flush_local(7, window); }
static int do_flush_unlocked(void) {
    MPI_Win_unlock_all(window);
    return MPI_Win_flush(0, window);
}
static int do_lock(void) {
    MPI_Win_unlock_all(window);
    return MPI_Win_lock(MPI_LOCK_SHARED, 7, 0, window);
}
static int do_unlock(void) { return MPI_Win_unlock(7, window); }
static int do_put_unlocked(void) {
    MPI_Win_unlock_all(window);
    return MPI_Put(out, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
}
static int do_rput(void) { return MPI_Rput(out, 1, MPI_INT, 7, 0, 1, MPI_INT, window, pair); }
static int do_rget_at(void) { return MPI_Rget(in, 1, MPI_INT, 0, -8, 1, MPI_INT, window, pair); }
static int do_rput_unlocked(void) {
    MPI_Win_unlock_all(window);
    return MPI_Rput(out, 1, MPI_INT, 0, 0, 1, MPI_INT, window, pair);
}
static int do_rput_uncommitted(void) {
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_INT, &type);
    const int code = MPI_Rput(out, 1, type, 0, 0, 1, type, window, pair);
    return code != MPI_SUCCESS ? code : MPI_Wait(pair, statuses);
}
static int do_fence(void) { return MPI_Win_fence(0, window); }
static int do_call_of_window(void) { return MPI_Win_call_errhandler(window, MPI_ERR_TOPOLOGY); }

/// The file is open for reading only.
static int do_write(void) { return MPI_File_write(file, out, 1, MPI_INT, statuses); }
static int do_write_at(void) { return MPI_File_write_at(file, 0, out, 1, MPI_INT, statuses); }
static int do_write_at_all(void) { return MPI_File_write_at_all(file, 0, out, 1, MPI_INT, statuses); }
static int do_iwrite(void) {
    const int code = MPI_File_iwrite_at(file, 0, out, 1, MPI_INT, pair);
    return code != MPI_SUCCESS ? code : MPI_Wait(pair, statuses);
}
static int do_iwrite_waitall(void) {
    const int code = MPI_File_iwrite(file, out, 1, MPI_INT, pair);
    return code != MPI_SUCCESS ? code : MPI_Waitall(1, pair, statuses);
}
static int do_read_at(void) { return MPI_File_read_at(file, -8, in, 1, MPI_INT, statuses); }
static int do_read_count(void) { return MPI_File_read(file, in, -1, MPI_INT, statuses); }
static int do_iread_at(void) { return MPI_File_iread_at(file, -8, in, 1, MPI_INT, pair); }
static int do_iread_count(void) { return MPI_File_iread_at(file, 0, in, -1, MPI_INT, pair); }
static int do_iread_type(void) { return MPI_File_iread(file, in, 1, MPI_DATATYPE_NULL, pair); }
static int do_seek(void) { return MPI_File_seek(file, -8, MPI_SEEK_SET); }
static int do_set_size(void) { return MPI_File_set_size(file, -8); }
static int do_open(void) {
    MPI_File none;
    return MPI_File_open(MPI_COMM_SELF, "handlers.none/here", MPI_MODE_RDONLY, MPI_INFO_NULL, &none);
}
static int do_call_of_file(void) { return MPI_File_call_errhandler(file, MPI_ERR_TOPOLOGY); }

enum { OF_COMM, OF_WINDOW, OF_FILE };

static const struct {
    const char* name;
    const char* function;
    int (*run)(void);
    bool can_be_freed;
    bool is_sampled; ///< In every test.
    int object;
} calls[] = {
    {"Wait", "MPI_Wait", do_wait, true, true, OF_COMM},
    {"Test", "MPI_Test", do_test, true, false, OF_COMM},
    {"Waitall", "MPI_Waitall", do_waitall, true, true, OF_COMM},
    {"Testall", "MPI_Testall", do_testall, true, false, OF_COMM},
    {"Waitany", "MPI_Waitany", do_waitany, true, false, OF_COMM},
    {"Testany", "MPI_Testany", do_testany, true, false, OF_COMM},
    {"Waitsome", "MPI_Waitsome", do_waitsome, true, false, OF_COMM},
    {"Testsome", "MPI_Testsome", do_testsome, true, true, OF_COMM},
    {"Request_get_status", "MPI_Request_get_status", do_get_status, true, false, OF_COMM},
    {"persistent Wait", "MPI_Wait", do_persistent_wait, true, true, OF_COMM},
    {"persistent Test", "MPI_Test", do_persistent_test, true, false, OF_COMM},
    {"persistent Waitall", "MPI_Waitall", do_persistent_waitall, true, false, OF_COMM},
    {"Recv", "MPI_Recv", do_recv, false, true, OF_COMM},
    {"Sendrecv", "MPI_Sendrecv", do_sendrecv, false, false, OF_COMM},
    {"Mrecv", "MPI_Mrecv", do_mrecv, false, false, OF_COMM},
    {"Send to no rank", "MPI_Send", do_send, false, false, OF_COMM},
    {"Isend to no rank", "MPI_Isend", do_isend, false, true, OF_COMM},
    {"Probe of no rank", "MPI_Probe", do_probe, false, false, OF_COMM},
    {"Bcast from no root", "MPI_Bcast", do_bcast, false, false, OF_COMM},
    {"Ireduce by no op", "MPI_Ireduce", do_ireduce, false, false, OF_COMM},
    {"Comm_split", "MPI_Comm_split", do_dup, false, false, OF_COMM},
    {"Comm_call_errhandler", "MPI_Comm_call_errhandler", do_call, false, false, OF_COMM},
    {"generalized Wait", "MPI_Wait", do_generalized, false, true, OF_COMM},
    {"generalized Waitall", "MPI_Waitall", do_generalized_waitall, false, false, OF_COMM},
#if MPI_VERSION >= 4
    {"Psend_init to no rank", "MPI_Psend_init", do_psend_to_no_rank, false, true, OF_COMM},
    {"Precv_init of no rank", "MPI_Precv_init", do_precv_of_no_rank, false, true, OF_COMM},
    {"Psend_init of no partitions", "MPI_Psend_init", do_psend_of_no_partitions, false, false, OF_COMM},
    {"Pready of no partition", "MPI_Pready", do_pready, false, true, OF_COMM},
    {"Pready when inactive", "MPI_Pready", do_pready_inactive, false, true, OF_COMM},
    {"Pready_range of no partition", "MPI_Pready_range", do_pready_range, false, true, OF_COMM},
    {"Parrived of no partition", "MPI_Parrived", do_parrived, false, true, OF_COMM},
    {"Parrived of a send", "MPI_Parrived", do_parrived_of_send, false, true, OF_COMM},
#endif
    {"Put to no rank", "MPI_Put", do_put, false, true, OF_WINDOW},
    {"Put at a bad place", "MPI_Put", do_put_at, false, true, OF_WINDOW},
    {"Put with no lock", "MPI_Put", do_put_unlocked, false, true, OF_WINDOW},
    {"Get of a bad count", "MPI_Get", do_get, false, true, OF_WINDOW},
    {"Accumulate by no op", "MPI_Accumulate", do_accumulate, false, true, OF_WINDOW},
    {"Fetch_and_op at no rank", "MPI_Fetch_and_op", do_fetch, false, true, OF_WINDOW},
    {"flush of no rank", "MPI_Win_flush", do_flush, false, true, OF_WINDOW},
    {"flush_local of no rank", "MPI_Win_flush_local", do_flush_local, false, true, OF_WINDOW},
    {"flush with no lock", "MPI_Win_flush", do_flush_unlocked, false, true, OF_WINDOW},
    {"lock of no rank", "MPI_Win_lock", do_lock, false, true, OF_WINDOW},
    {"unlock of no rank", "MPI_Win_unlock", do_unlock, false, true, OF_WINDOW},
    {"fence in a lock", "MPI_Win_fence", do_fence, false, true, OF_WINDOW},
    {"Rput to no rank", "MPI_Rput", do_rput, false, true, OF_WINDOW},
    {"Rget at a bad place", "MPI_Rget", do_rget_at, false, true, OF_WINDOW},
    {"Rput with no lock", "MPI_Rput", do_rput_unlocked, false, true, OF_WINDOW},
    {"Rput of an uncommitted type", "MPI_Rput", do_rput_uncommitted, false, true, OF_WINDOW},
    {"Win_call_errhandler", "MPI_Win_call_errhandler", do_call_of_window, false, true, OF_WINDOW},
    {"write", "MPI_File_write", do_write, false, true, OF_FILE},
    {"write_at", "MPI_File_write_at", do_write_at, false, true, OF_FILE},
    {"write_at_all", "MPI_File_write_at_all", do_write_at_all, false, true, OF_FILE},
    {"iwrite_at", "MPI_File_iwrite_at", do_iwrite, false, true, OF_FILE},
    {"iwrite", "MPI_File_iwrite", do_iwrite_waitall, false, true, OF_FILE},
    {"read_at a bad place", "MPI_File_read_at", do_read_at, false, true, OF_FILE},
    {"read of a bad count", "MPI_File_read", do_read_count, false, true, OF_FILE},
    {"iread_at a bad place", "MPI_File_iread_at", do_iread_at, false, true, OF_FILE},
    {"iread_at of a bad count", "MPI_File_iread_at", do_iread_count, false, true, OF_FILE},
    {"iread of no type", "MPI_File_iread", do_iread_type, false, true, OF_FILE},
    {"seek to a bad place", "MPI_File_seek", do_seek, false, true, OF_FILE},
    {"set_size to a bad one", "MPI_File_set_size", do_set_size, false, true, OF_FILE},
    {"open of none", "MPI_File_open", do_open, false, true, OF_FILE},
    {"File_call_errhandler", "MPI_File_call_errhandler", do_call_of_file, false, true, OF_FILE},
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
    if (which == WINDOW) {
        MPI_Win_create(out, sizeof out, sizeof out[0], MPI_INFO_NULL, MPI_COMM_SELF, &window);
        MPI_Win_lock_all(0, window);
        set_of_window(own);
        return;
    }
    if (which == OPENED) {
        MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
        set_of_file(own);
        return;
    }
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
    // Of a window and a file that is MPI's own text, as natively: in its spelling the function has a prefix, or is in capitals.
    if (calls[call].object != OF_COMM) {
        EXPECT(strcasestr(text, calls[call].function + strlen("MPI_")) != NULL);
        return;
    }
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
                if (calls[call].object != (which == WINDOW ? OF_WINDOW : which == OPENED ? OF_FILE : OF_COMM)) continue;
                if (calls[call].is_sampled || is_whole) judge_row(which, choices[i][0], choices[i][1], (int)call);
            }
        }
    }
    return probe_result();
}
