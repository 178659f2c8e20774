// SPDX-License-Identifier: Apache-2.0
//
// Every field of every status, after each call that completes a request, for each kind of request: what a call must not write has
// a value before it that no call writes. Requests of kinds that are tasks here and MPI's own, null and inactive ones, alone and side
// by side; with a success, a cancel, and an error that comes back. A call that only looks is repeated until it finds something.
#include "probe.h"

#include <dlfcn.h>

enum {
    NONE,
    INACTIVE,
    RECEIVE,
    SEND,
    NOBODY,
    PERSISTENT,
    PERSISTENT_SEND,
    GENERALIZED,
    COLLECTIVE,
    CANCELED,
    TOO_LONG,
    PERSISTENT_TOO_LONG,
    GENERALIZED_FAILED,
    PARTITIONED,
    N_KINDS
};
static const char* const kind_names[] = {"null",
                                         "inactive",
                                         "receive",
                                         "send",
                                         "to nobody",
                                         "persistent",
                                         "persistent send",
                                         "generalized",
                                         "collective",
                                         "canceled",
                                         "too long",
                                         "persistent, too long",
                                         "generalized, failed",
                                         "partitioned"};

enum { WAIT, TEST, WAITANY, TESTANY, WAITALL, TESTALL, WAITSOME, TESTSOME, GET_STATUS, N_CALLS };
static const char* const call_names[] = {"Wait",    "Test",     "Waitany",  "Testany",           "Waitall",
                                         "Testall", "Waitsome", "Testsome", "Request_get_status"};
enum { UNTOUCHED = 77, MOST = 3 };

static int in[MOST][64];
static int out[64];
static MPI_Request kept[MOST];  // persistent ones, to be freed
static MPI_Request sends[MOST]; // what the rows' receives receive

static int query(void* state, MPI_Status* status) {
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 5;
    status->MPI_TAG = 6;
    return state == NULL ? MPI_SUCCESS : MPI_ERR_TOPOLOGY;
}
static int release(void* state) { return state == NULL ? MPI_SUCCESS : MPI_SUCCESS; }
static int cancel(void* state, int is_over) { return state == NULL && is_over ? MPI_SUCCESS : MPI_SUCCESS; }

/// Makes the request of one place of an array; what belongs to it has the place's tag.
static void make(int kind, int place, MPI_Request* request) {
    const int tag = 10 + place;
    kept[place] = sends[place] = *request = MPI_REQUEST_NULL;
    const int n = kind == TOO_LONG || kind == PERSISTENT_TOO_LONG ? 2 : 8;
    switch (kind) {
    case INACTIVE: MPI_Recv_init(in[place], n, MPI_INT, me, tag, MPI_COMM_WORLD, request); break;
    case RECEIVE:
    case TOO_LONG:
    case CANCELED: MPI_Irecv(in[place], n, MPI_INT, me, tag, MPI_COMM_WORLD, request); break;
    case SEND: MPI_Isend(out, 4, MPI_INT, me, tag, MPI_COMM_WORLD, request); break;
    case NOBODY: MPI_Irecv(in[place], n, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD, request); break;
    case PERSISTENT:
    case PERSISTENT_TOO_LONG: MPI_Recv_init(in[place], n, MPI_INT, me, tag, MPI_COMM_WORLD, request); break;
    case PERSISTENT_SEND: MPI_Send_init(out, 4, MPI_INT, me, tag, MPI_COMM_WORLD, request); break;
    case GENERALIZED: MPI_Grequest_start(query, release, cancel, NULL, request); break;
    case GENERALIZED_FAILED: MPI_Grequest_start(query, release, cancel, out, request); break;
    case COLLECTIVE: MPI_Ialltoall(out, 1, MPI_INT, in[place], 1, MPI_INT, MPI_COMM_SELF, request); break;
#if MPI_VERSION >= 4
    case PARTITIONED:
        MPI_Psend_init(out, 2, 2, MPI_INT, me, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[place]);
        MPI_Precv_init(in[place], 2, 2, MPI_INT, me, tag, MPI_COMM_WORLD, MPI_INFO_NULL, request);
        MPI_Start(&sends[place]);
        break;
#endif
    default: break;
    }
    if (kind == INACTIVE || kind == PERSISTENT || kind == PERSISTENT_TOO_LONG || kind == PERSISTENT_SEND ||
        kind == PARTITIONED)
        kept[place] = *request;
    if (kind == PERSISTENT || kind == PERSISTENT_TOO_LONG || kind == PERSISTENT_SEND || kind == PARTITIONED)
        MPI_Start(request);
    if (kind == RECEIVE || kind == TOO_LONG || kind == PERSISTENT || kind == PERSISTENT_TOO_LONG)
        MPI_Isend(out, 4, MPI_INT, me, tag, MPI_COMM_WORLD, &sends[place]);
    if (kind == SEND || kind == PERSISTENT_SEND)
        MPI_Recv(in[place], 8, MPI_INT, me, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (kind == GENERALIZED || kind == GENERALIZED_FAILED) MPI_Grequest_complete(*request);
    if (kind == CANCELED) MPI_Cancel(request);
#if MPI_VERSION >= 4
    if (kind == PARTITIONED) MPI_Pready_range(0, 1, sends[place]);
#endif
}

static void clean_up(int place, MPI_Request* request) {
    if (kept[place] == MPI_REQUEST_NULL && *request != MPI_REQUEST_NULL) MPI_Wait(request, MPI_STATUS_IGNORE);
    MPI_Wait(&sends[place], MPI_STATUS_IGNORE);
    if (sends[place] != MPI_REQUEST_NULL) MPI_Request_free(&sends[place]);
    if (kept[place] == MPI_REQUEST_NULL) return;
    MPI_Wait(&kept[place], MPI_STATUS_IGNORE);
    MPI_Request_free(&kept[place]);
}

static void set_untouched(MPI_Status* statuses, int n) {
    memset(statuses, 0, (size_t)n * sizeof *statuses);
    for (int i = 0; i < n; ++i) {
        statuses[i].MPI_SOURCE = statuses[i].MPI_TAG = statuses[i].MPI_ERROR = UNTOUCHED;
        MPI_Status_set_elements(&statuses[i], MPI_INT, UNTOUCHED);
    }
}

static const char* word(int value, char* room) {
    sprintf(room, "%d", value);
    return value == UNTOUCHED ? "-" : value == MPI_ANY_SOURCE ? "any" : value == MPI_PROC_NULL ? "nobody" : room;
}

/// Of a collective nothing is defined, and of a receive from nobody MPICH gives what the last one left.
static void write_status(char* line, const MPI_Status* status, int kind) {
    char rooms[3][16];
    int n = -1, is_canceled = -1, class = status->MPI_ERROR;
    MPI_Get_elements(status, MPI_INT, &n);
    MPI_Test_cancelled(status, &is_canceled);
    if (class != UNTOUCHED) MPI_Error_class(status->MPI_ERROR, &class);
    const char* tag = status->MPI_TAG == MPI_ANY_TAG ? "any" : word(status->MPI_TAG, rooms[1]);
    const bool is_open = is_canceled || kind == COLLECTIVE;
    const bool is_cut = kind == TOO_LONG || kind == PERSISTENT_TOO_LONG; // how much came then is not said alike
    sprintf(line + strlen(line), " [%s %s %s%s error %s]",
            is_open || kind == NOBODY ? "*" : word(status->MPI_SOURCE, rooms[0]), is_open || kind == NOBODY ? "*" : tag,
            is_open || is_cut ? "*" : word(n, rooms[2]), is_canceled ? ", canceled," : "",
            class == UNTOUCHED         ? "-"
            : class == MPI_SUCCESS     ? "0"
            : class == MPI_ERR_PENDING ? "pending"
                                       : "yes");
}

/// One row: the requests, and how they are completed.
static void row(const int* kinds, int n, int call) {
    // There MPICH 4.0.2 returns MPI_ERR_IN_STATUS with no error in any status, or writes no status.
    for (int i = 0; i < n; ++i) {
        if (kinds[i] == PARTITIONED && (call == TESTALL || call == GET_STATUS)) return;
    }
    MPI_Request requests[MOST];
    MPI_Status statuses[MOST];
    int list[MOST] = {UNTOUCHED, UNTOUCHED, UNTOUCHED};
    int index = UNTOUCHED, flag = 0, n_ended = 0, code = MPI_SUCCESS, class = 0;
    char line[900] = "";
    for (int i = 0; i < n; ++i) {
        make(kinds[i], i, &requests[i]);
        sprintf(line + strlen(line), "%s%s", i ? " + " : "", kind_names[kinds[i]]);
    }
    set_untouched(statuses, n);
    switch (call) {
    case WAIT: code = MPI_Wait(requests, statuses); break;
    case TEST:
        while (!flag && !code) code = MPI_Test(requests, &flag, statuses);
        break;
    case WAITANY: code = MPI_Waitany(n, requests, &index, statuses); break;
    case TESTANY:
        while (!flag && !code) code = MPI_Testany(n, requests, &index, &flag, statuses);
        break;
    case WAITALL: code = MPI_Waitall(n, requests, statuses); break;
    case TESTALL:
        while (!flag && !code) code = MPI_Testall(n, requests, &flag, statuses);
        break;
    case WAITSOME: code = MPI_Waitsome(n, requests, &n_ended, list, statuses); break;
    case TESTSOME:
        while (!n_ended && !code) code = MPI_Testsome(n, requests, &n_ended, list, statuses);
        break;
    case GET_STATUS:
        while (!flag && !code) code = MPI_Request_get_status(requests[0], &flag, statuses);
        break;
    default: break;
    }
    MPI_Error_class(code, &class);
    sprintf(line + strlen(line), ", %s:%s", call_names[call],
            class == 0                   ? ""
            : class == MPI_ERR_IN_STATUS ? " in status,"
                                         : " fails,");
    if (call == TEST || call == TESTALL || call == TESTANY || call == GET_STATUS)
        sprintf(line + strlen(line), " flag %d,", flag);
    if (call == WAITANY || call == TESTANY)
        sprintf(line + strlen(line), " index %d,", index == MPI_UNDEFINED ? -1 : index);
    int n_statuses = call == WAITALL || call == TESTALL ? n : 1;
    if (call == WAITSOME || call == TESTSOME) {
        sprintf(line + strlen(line), " %d:", n_ended == MPI_UNDEFINED ? -1 : n_ended);
        n_statuses = n_ended;
        for (int i = 0; i < n_ended; ++i) sprintf(line + strlen(line), " %d", list[i]);
    }
    // MPICH 4.0.2 leaves those behind the first that has failed pending; commtask-run waits for all.
    int n_said = n;
    if (call == WAITALL && class == MPI_ERR_IN_STATUS) {
        const bool is_interposed = dlsym(RTLD_DEFAULT, "commtask_init") != NULL;
        for (int i = n - 1; i >= 0; --i) {
            if (kinds[i] == NONE) continue;
            if (statuses[i].MPI_ERROR != MPI_SUCCESS && statuses[i].MPI_ERROR != MPI_ERR_PENDING) n_said = i + 1;
            EXPECT(!is_interposed || statuses[i].MPI_ERROR != MPI_ERR_PENDING);
            EXPECT(!is_interposed || kept[i] != MPI_REQUEST_NULL || requests[i] == MPI_REQUEST_NULL);
        }
        n_statuses = n_said;
    }
    for (int i = 0; i < n_statuses; ++i) {
        const bool is_some = call == WAITSOME || call == TESTSOME;
        const bool is_any = call == WAITANY || call == TESTANY;
        const int kind = is_some ? kinds[list[i]] : is_any ? (index == MPI_UNDEFINED ? NONE : kinds[index]) : kinds[i];
        // MPICH's MPI_Waitall leaves those of null requests out when another has failed.
        if (kind == NONE && call == WAITALL && class == MPI_ERR_IN_STATUS) statuses[i].MPI_ERROR = MPI_SUCCESS;
        write_status(line, &statuses[i], kind);
    }
    sprintf(line + strlen(line), ", left");
    for (int i = 0; i < n_said; ++i) sprintf(line + strlen(line), " %d", requests[i] != MPI_REQUEST_NULL);
    say("%s", line);
    for (int i = 0; i < n; ++i) clean_up(i, &requests[i]);
}

static bool is_there(int kind) { return kind != PARTITIONED || MPI_VERSION >= 4; }

static void each_kind(void) {
    for (int kind = 0; kind < N_KINDS; ++kind) {
        for (int call = 0; is_there(kind) && call < N_CALLS; ++call) row(&kind, 1, call);
    }
}

static void each_pair(void) {
    for (int first = 0; first < N_KINDS; ++first) {
        for (int second = 0; second < N_KINDS; ++second) {
            const int kinds[] = {first, second};
            // Of two that can be found in either order, which one a call finds is the MPI's choice.
            if (!is_there(first) || !is_there(second)) continue;
            for (int call = WAITALL; call <= TESTALL; ++call) row(kinds, 2, call);
            if (first > INACTIVE) continue;
            for (int call = WAITANY; call < GET_STATUS; ++call) {
                if (call != WAITALL && call != TESTALL) row(kinds, 2, call);
            }
        }
    }
}

static void three(void) {
    static const int rows[][3] = {{NONE, RECEIVE, INACTIVE},
                                  {RECEIVE, GENERALIZED, PERSISTENT},
                                  {NONE, NONE, NONE},
                                  {INACTIVE, NONE, INACTIVE},
                                  {TOO_LONG, GENERALIZED, RECEIVE},
                                  {RECEIVE, GENERALIZED_FAILED, INACTIVE},
                                  {GENERALIZED_FAILED, TOO_LONG, NONE},
                                  {GENERALIZED, GENERALIZED_FAILED, GENERALIZED},
                                  {NOBODY, TOO_LONG, PERSISTENT}};
    for (size_t i = 0; i < PROBE_COUNT(rows); ++i) {
        for (int call = WAITALL; call <= TESTALL; ++call) row(rows[i], 3, call);
    }
    for (int call = WAITANY; call < GET_STATUS; ++call) row(rows[2], 3, call);
    for (int call = WAITANY; call < GET_STATUS; ++call) row(rows[3], 3, call);
}

static void say_it(const char* what, int code, const MPI_Status* status) {
    char line[200] = "";
    write_status(line, status, RECEIVE);
    say("%s:%s%s", what, code == MPI_SUCCESS ? "" : " fails,", line);
}

/// What completes without a request, or looks for a message.
static void without_requests(void) {
    MPI_Request sent;
    MPI_Message message;
    MPI_Status status;
    int is_there_now = 0, code = 0;
    for (int n = 8; n >= 2; n -= 6) {
        set_untouched(&status, 1);
        MPI_Isend(out, 4, MPI_INT, me, 2, MPI_COMM_WORLD, &sent);
        code = MPI_Recv(in[0], n, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        say_it("Recv", code, &status);
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
        set_untouched(&status, 1);
        code = MPI_Sendrecv(out, 4, MPI_INT, me, 3, in[0], n, MPI_INT, me, 3, MPI_COMM_WORLD, &status);
        say_it("Sendrecv", code, &status);
        set_untouched(&status, 1);
        MPI_Isend(out, 4, MPI_INT, me, 4, MPI_COMM_WORLD, &sent);
        code = MPI_Mprobe(me, 4, MPI_COMM_WORLD, &message, &status);
        say_it("Mprobe", code, &status);
        set_untouched(&status, 1);
        code = MPI_Mrecv(in[0], n, MPI_INT, &message, &status);
        say_it("Mrecv", code, &status);
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
        MPI_Request request;
        MPI_Isend(out, 4, MPI_INT, me, 4, MPI_COMM_WORLD, &sent);
        MPI_Mprobe(me, 4, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Imrecv(in[0], n, MPI_INT, &message, &request);
        set_untouched(&status, 1);
        code = MPI_Wait(&request, &status);
        say_it("Imrecv and Wait", code, &status);
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
    }
    set_untouched(&status, 1);
    say_it("Recv from nobody", MPI_Recv(in[0], 8, MPI_INT, MPI_PROC_NULL, 2, MPI_COMM_WORLD, &status), &status);
    set_untouched(&status, 1);
    code =
        MPI_Sendrecv(out, 4, MPI_INT, MPI_PROC_NULL, 3, in[0], 8, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
    say_it("Sendrecv with nobody", code, &status);
    set_untouched(&status, 1);
    code = MPI_Sendrecv_replace(in[0], 4, MPI_INT, me, 3, me, 3, MPI_COMM_WORLD, &status);
    status.MPI_ERROR = UNTOUCHED; // MPICH writes it
    say_it("Sendrecv_replace", code, &status);
    set_untouched(&status, 1);
    say_it("Probe of nobody", MPI_Probe(MPI_PROC_NULL, 4, MPI_COMM_WORLD, &status), &status);
    set_untouched(&status, 1);
    code = MPI_Mprobe(MPI_PROC_NULL, 4, MPI_COMM_WORLD, &message, &status);
    say_it("Mprobe of nobody", code, &status);
    set_untouched(&status, 1);
    say_it("Mrecv from nobody", MPI_Mrecv(in[0], 8, MPI_INT, &message, &status), &status);
    set_untouched(&status, 1);
    code = MPI_Iprobe(me, 9, MPI_COMM_WORLD, &is_there_now, &status);
    say_it("Iprobe of nothing", code, &status);
    set_untouched(&status, 1);
    MPI_Isend(out, 4, MPI_INT, me, 9, MPI_COMM_WORLD, &sent);
    code = MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    say_it("Probe", code, &status);
    set_untouched(&status, 1);
    for (is_there_now = 0; !is_there_now;) code = MPI_Iprobe(me, 9, MPI_COMM_WORLD, &is_there_now, &status);
    say_it("Iprobe", code, &status);
    set_untouched(&status, 1);
    for (is_there_now = 0; !is_there_now;) code = MPI_Improbe(me, 9, MPI_COMM_WORLD, &is_there_now, &message, &status);
    say_it("Improbe", code, &status);
    MPI_Mrecv(in[0], 8, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    int index = 5;
    set_untouched(&status, 1);
    code = MPI_Waitany(0, NULL, &index, &status);
    say("Waitany of none: index %d", index == MPI_UNDEFINED ? -1 : index);
    say_it("Waitany of none", code, &status);
}

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {
        {"without_requests", without_requests, 1},
        {"each_kind", each_kind, 1},
        {"each_pair", each_pair, 1},
        {"three", three, 1},
    };
    MPI_Init(&argc, &argv);
    probe_start();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    probe_run(argc, argv, cases, PROBE_COUNT(cases));
    MPI_Finalize();
    return probe_result();
}
