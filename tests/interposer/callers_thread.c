// SPDX-License-Identifier: Apache-2.0
//
// What MPI's caller has of its own, on the worker too: a stack without limit, rounding, flushing of denormals and exception flags in
// reductions, and signals that only the program's threads take. The ranks come late in turns, so that now the caller and now the
// worker does the work.
#include "probe.h"

#include <alloca.h>
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { n = 2000, n_turns = 6 };

static double in[n], out[n];

/// So that one rank is behind, whatever the machine does; the program's thread is not in MPI meanwhile.
static void come_late(bool is_late) {
    for (const double begin = MPI_Wtime(); is_late && MPI_Wtime() - begin < 3e-3;) sched_yield();
}

static void finish(MPI_Request* request) {
    come_late(true); // the worker may end it meanwhile
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

/// How many places of `out` are not `is_right`.
static int count_wrong(bool (*is_right)(double)) {
    int n_wrong = 0;
    for (int i = 0; i < n; ++i) n_wrong += !is_right(out[i]);
    memset(out, 0, sizeof out);
    return n_wrong;
}

static bool is_above_one(double x) { return x > 1.0; }
static bool is_one(double x) { return x == 1.0; }

static size_t n_room = 1 << 20; ///< Of a function's stack.
static int n_wrong_in_function;
static int wanted_rounding;

static void own_sum(void* left, void* right, int* count, MPI_Datatype* type) {
    (void)type;
    volatile char* const room = alloca(n_room);
    memset((void*)room, 0, n_room);
    if (fegetround() != wanted_rounding) ++n_wrong_in_function;
    for (int i = 0; i < *count; ++i) ((double*)right)[i] += ((double*)left)[i] + room[i];
}

static void reduce_with(MPI_Op op, bool (*is_right)(double), const char* name) {
    MPI_Request request = MPI_REQUEST_NULL;
    int n_wrong[6] = {0};
    for (int turn = 0; turn < n_turns; ++turn) {
        const bool is_late = turn % n_ranks == me;
        come_late(is_late);
        MPI_Allreduce(in, out, n, MPI_DOUBLE, op, MPI_COMM_WORLD);
        n_wrong[0] += count_wrong(is_right);
        MPI_Iallreduce(in, out, n, MPI_DOUBLE, op, MPI_COMM_WORLD, &request);
        finish(&request);
        n_wrong[1] += count_wrong(is_right);
        come_late(is_late);
        MPI_Reduce(in, out, n, MPI_DOUBLE, op, 0, MPI_COMM_WORLD);
        if (me == 0) n_wrong[2] += count_wrong(is_right);
        MPI_Iscan(in, out, n, MPI_DOUBLE, op, MPI_COMM_WORLD, &request);
        finish(&request);
        if (me == n_ranks - 1) n_wrong[3] += count_wrong(is_right);
        MPI_Ireduce(in, out, n, MPI_DOUBLE, op, n_ranks - 1, MPI_COMM_WORLD, &request);
        MPI_Request others[2] = {request, MPI_REQUEST_NULL};
        MPI_Ibarrier(MPI_COMM_WORLD, &others[1]);
        come_late(true);
        MPI_Waitall(2, others, MPI_STATUSES_IGNORE);
        if (me == n_ranks - 1) n_wrong[4] += count_wrong(is_right);
    }
    say("%s: wrong %d %d %d %d %d", name, n_wrong[0], n_wrong[1], n_wrong[2], n_wrong[3], n_wrong[4]);
    for (int i = 0; i < 5; ++i) EXPECT(n_wrong[i] == 0);
}

static void rounding(void) {
    MPI_Op op;
    MPI_Op_create(own_sum, 1, &op);
    for (int i = 0; i < n; ++i) in[i] = me == 0 ? 1.0 : 1e-30;
    const int modes[] = {FE_UPWARD, FE_TONEAREST, FE_DOWNWARD};
    for (size_t i = 0; i < PROBE_COUNT(modes); ++i) {
        wanted_rounding = modes[i];
        fesetround(modes[i]);
        reduce_with(MPI_SUM, modes[i] == FE_UPWARD ? is_above_one : is_one, "sum");
        reduce_with(op, modes[i] == FE_UPWARD ? is_above_one : is_one, "function");
        fesetround(FE_TONEAREST);
    }
    MPI_Op_free(&op);
    say("modes in functions: wrong %d", n_wrong_in_function);
    EXPECT(n_wrong_in_function == 0);
}

#if defined(__x86_64__)
#include <xmmintrin.h>

static bool is_zero(double x) { return x == 0.0; }

static void flushing(void) {
    for (int i = 0; i < n; ++i) in[i] = me == 0 ? 2.3e-308 : me == 1 ? -2.2251e-308 : 0.0;
    const unsigned before = _mm_getcsr();
    _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
    reduce_with(MPI_SUM, is_zero, "flushed");
    _mm_setcsr(before);
}
#else
static void flushing(void) {}
#endif

// Of three ranks only some add, and with Open MPI one of two may get the sum from the other.
#ifdef OPEN_MPI
static const int each_adds = 0;
#else
static const int each_adds = 1;
#endif

static void flags(void) {
    double large = 1e308, sum = 0;
    int n_missing = 0, n_wrong = 0;
    MPI_Request request;
    for (int turn = 0; turn < n_turns; ++turn) {
        feclearexcept(FE_ALL_EXCEPT);
        come_late(turn % n_ranks == me);
        if (turn % 2 == 0) {
            MPI_Iallreduce(&large, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
            finish(&request);
        } else {
            MPI_Allreduce(&large, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
        n_missing += each_adds && n_ranks == 2 && isinf(sum) && fetestexcept(FE_OVERFLOW) == 0;
        n_wrong += fetestexcept(FE_INVALID | FE_DIVBYZERO) != 0;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    say("flags: missing %d, wrong %d", n_missing, n_wrong);
    EXPECT(n_missing == 0 && n_wrong == 0);
}

static volatile int n_taken_by_library;

static void on_signal(int number) {
    (void)number;
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    if (strncmp(name, "commtask", 8) == 0) ++n_taken_by_library;
}

/// What the program's thread blocks no thread of the library takes. One of MPI's may, natively too.
static void signals(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    const int numbers[] = {SIGUSR1, SIGALRM, SIGURG, SIGRTMIN + 3};
    sigset_t blocked;
    sigemptyset(&blocked);
    for (size_t i = 0; i < PROBE_COUNT(numbers); ++i) {
        sigaction(numbers[i], &action, NULL);
        sigaddset(&blocked, numbers[i]);
    }
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    for (size_t i = 0; i < PROBE_COUNT(numbers); ++i) kill(getpid(), numbers[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    come_late(true);
    pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
    say("taken by the library: %d", n_taken_by_library);
    EXPECT(n_taken_by_library == 0);
    for (size_t i = 0; i < PROBE_COUNT(numbers); ++i) signal(numbers[i], SIG_DFL);
}

/// The usual setting of Fortran programs; where it is forbidden, with the limit that there is.
static void begin_without_limit(char** argv) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0) return;
    if (limit.rlim_cur == RLIM_INFINITY) n_room = 10 << 20;
    if (getenv("PROBE_HAS_BEGUN_ANEW") != NULL) return;
    setenv("PROBE_HAS_BEGUN_ANEW", "1", 1);
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_STACK, &limit) == 0) execv("/proc/self/exe", argv);
}

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {
        {"rounding", rounding, 2}, {"flushing", flushing, 2}, {"flags", flags, 2}, {"signals", signals, 1}};
    begin_without_limit(argv);
    return probe_main(argc, argv, cases, PROBE_COUNT(cases));
}
