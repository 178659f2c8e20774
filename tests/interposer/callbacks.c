// SPDX-License-Identifier: Apache-2.0
//
// Functions that the MPI calls back: user-defined reductions (also when the operation is freed at once, and when they
// call MPI themselves), attributes with their copy and delete functions, which run on the thread that made the call,
// and the delete functions of MPI_COMM_SELF, which are the first thing in MPI_Finalize.
#include "probe.h"

#include <pthread.h>

static int n_applied;

static void add_pairs(void* left, void* right, int* n, MPI_Datatype* type) {
    int size = 0;
    MPI_Type_size(*type, &size);
    EXPECT(size == 2 * (int)sizeof(int));
    ++n_applied;
    for (int i = 0; i < 2 * *n; ++i) {
        ((int*)right)[i] += ((int*)left)[i];
    }
}

// Not commutative: (a, b) * (c, d) = (ac, bc + d).
static void compose(void* left, void* right, int* n, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *n; ++i) {
        long* a = (long*)left + 2 * i;
        long* b = (long*)right + 2 * i;
        b[1] = (a[1] * b[0] + b[1]) % 10007;
        b[0] = a[0] * b[0] % 10007;
    }
}

static void user_reduction(void) {
    MPI_Datatype pair;
    MPI_Op op;
    MPI_Request request;
    int commutes = 0;
    int mine[6] = {me, 1, me, 2, me, 3};
    int all[6] = {0};
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(add_pairs, 1, &op);
    MPI_Op_commutative(op, &commutes);
    EXPECT(commutes == 1);
    MPI_Allreduce(mine, all, 3, pair, op, MPI_COMM_WORLD);
    say("%d %d %d", all[0], all[1], all[5]);
    MPI_Reduce(mine, all, 3, pair, op, 0, MPI_COMM_WORLD);
    MPI_Scan(mine, all, 3, pair, op, MPI_COMM_WORLD);
    say("scan %d %d %d", all[0], all[1], all[5]);
    memset(all, 0, sizeof all);
    MPI_Iallreduce(mine, all, 3, pair, op, MPI_COMM_WORLD, &request);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    EXPECT(op == MPI_OP_NULL && pair == MPI_DATATYPE_NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("%d %d %d", all[0], all[1], all[5]);
    EXPECT(n_ranks == 1 || n_applied > 0);
}

static void in_rank_order(void) {
    MPI_Datatype pair;
    MPI_Op op;
    long mine[2] = {me + 2, me * 3 + 1};
    long all[2] = {0, 0};
    MPI_Request request;
    MPI_Type_contiguous(2, MPI_LONG, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &op);
    MPI_Allreduce(mine, all, 1, pair, op, MPI_COMM_WORLD);
    say("%ld %ld", all[0], all[1]);
    MPI_Iallreduce(mine, all, 1, pair, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("%ld %ld", all[0], all[1]);
    MPI_Reduce_local(mine, all, 1, pair, op);
    say("%ld %ld", all[0], all[1]);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
}

static void add_ints(void* left, void* right, int* n, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *n; ++i) {
        ((int*)right)[i] += ((int*)left)[i];
    }
}

static void take_greater(void* left, void* right, int* n, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *n; ++i) {
        if (((int*)left)[i] > ((int*)right)[i]) ((int*)right)[i] = ((int*)left)[i];
    }
}

// Each operation is freed right after the calls that use it, while the reductions of earlier rounds are in progress. MPI may
// give the handle out again in the next round, for another function.
static void operations_freed_at_once(void) {
    enum { n_rounds = 50, n = 1 << 12, n_kinds = 4 };
    MPI_Request requests[n_rounds * n_kinds];
    int* const mine = malloc(sizeof(int) * n * (size_t)n_ranks);
    int* const results = malloc(sizeof(int) * n * n_rounds * n_kinds);
    int* const counts = malloc(sizeof(int) * (size_t)n_ranks);
    int n_wrong = 0;
    for (int i = 0; i < n * n_ranks; ++i) mine[i] = me + 1;
    for (int i = 0; i < n_ranks; ++i) counts[i] = n;
    for (int round = 0; round < n_rounds; ++round) {
        int* const result = results + (size_t)round * n_kinds * n;
        MPI_Request* const request = requests + round * n_kinds;
        MPI_Op sum;
        MPI_Op greatest;
        if (round % 2 == 0) MPI_Op_create(add_ints, 1, &sum);
        MPI_Op_create(take_greater, 1, &greatest);
        if (round % 2 != 0) MPI_Op_create(add_ints, 1, &sum);
        MPI_Iallreduce(mine, result, n, MPI_INT, sum, MPI_COMM_WORLD, &request[0]);
        MPI_Ireduce_scatter(mine, result + n, counts, MPI_INT, greatest, MPI_COMM_WORLD, &request[1]);
        MPI_Iscan(mine, result + 2 * n, n, MPI_INT, sum, MPI_COMM_WORLD, &request[2]);
        MPI_Op_free(&sum);
        MPI_Iallreduce(mine, result + 3 * n, n, MPI_INT, greatest, MPI_COMM_WORLD, &request[3]);
        MPI_Op_free(&greatest);
        EXPECT(sum == MPI_OP_NULL && greatest == MPI_OP_NULL);
    }
    MPI_Waitall(n_rounds * n_kinds, requests, MPI_STATUSES_IGNORE);
    for (int round = 0; round < n_rounds; ++round) {
        const int* const result = results + (size_t)round * n_kinds * n;
        for (int i = 0; i < n; ++i) {
            n_wrong += result[i] != n_ranks * (n_ranks + 1) / 2 || result[n + i] != n_ranks ||
                       result[2 * n + i] != (me + 1) * (me + 2) / 2 || result[3 * n + i] != n_ranks;
        }
    }
    say("%d wrong", n_wrong);
    EXPECT(n_wrong == 0);
    free(counts);
    free(results);
    free(mine);
}

static pthread_t caller;
static int n_copies;
static int n_deletes;

static int copy_it(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
    (void)comm;
    (void)key;
    EXPECT(extra == &n_copies && pthread_equal(caller, pthread_self()));
    ++n_copies;
    *(void**)out = (char*)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete_it(MPI_Comm comm, int key, void* value, void* extra) {
    (void)key;
    (void)extra;
    (void)value;
    EXPECT(pthread_equal(caller, pthread_self()));
    ++n_deletes;
    int size = 0;
    MPI_Comm_size(comm, &size); // the communicator is still whole
    EXPECT(size >= 1);
    return MPI_SUCCESS;
}

static void on_communicators(void) {
    static char place[8];
    int key = MPI_KEYVAL_INVALID;
    int flag = 0;
    void* value = NULL;
    MPI_Comm comm;
    MPI_Comm copy;
    caller = pthread_self();
    MPI_Comm_create_keyval(copy_it, delete_it, &key, &n_copies);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_get_attr(comm, key, &value, &flag);
    EXPECT(!flag);
    MPI_Comm_set_attr(comm, key, place);
    MPI_Comm_get_attr(comm, key, &value, &flag);
    EXPECT(flag && value == place);
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_get_attr(copy, key, &value, &flag);
    EXPECT(flag && value == place + 1 && n_copies == 1);
    MPI_Comm_set_attr(comm, key, place + 2);
    EXPECT(n_deletes == 1);
    MPI_Comm_delete_attr(comm, key);
    EXPECT(n_deletes == 2);
    MPI_Comm_free(&copy);
    EXPECT(n_deletes == 3);
    MPI_Comm_set_attr(comm, key, place);
    MPI_Comm_free_keyval(&key);
    EXPECT(key == MPI_KEYVAL_INVALID);
    MPI_Comm_free(&comm);
    EXPECT(n_deletes == 4);
    say("copies %d, deletes %d", n_copies, n_deletes);
}

static int n_type_deletes;
static int delete_from_type(MPI_Datatype type, int key, void* value, void* extra) {
    (void)type;
    (void)key;
    (void)value;
    (void)extra;
    ++n_type_deletes;
    return MPI_SUCCESS;
}
static void on_types(void) {
    static int something;
    int key = MPI_KEYVAL_INVALID;
    int flag = 0;
    int* value = NULL;
    MPI_Datatype type;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_from_type, &key, NULL);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_set_attr(type, key, &something);
    MPI_Type_get_attr(type, key, &value, &flag);
    EXPECT(flag && value == &something);
    MPI_Type_free(&type);
    EXPECT(n_type_deletes == 1);
    MPI_Type_free_keyval(&key);
}

static int n_win_deletes;
static int delete_from_win(MPI_Win win, int key, void* value, void* extra) {
    (void)win;
    (void)key;
    (void)value;
    (void)extra;
    ++n_win_deletes;
    return MPI_SUCCESS;
}

static void on_windows(void) {
    int* memory = NULL;
    int key = MPI_KEYVAL_INVALID;
    int flag = 0;
    void* base = NULL;
    MPI_Win window; // allocated: Open MPI 4.1 has others for some networks only
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_from_win, &key, NULL);
    MPI_Win_allocate(64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, (void*)&memory, &window);
    MPI_Win_set_attr(window, key, memory);
    MPI_Win_get_attr(window, MPI_WIN_BASE, &base, &flag);
    EXPECT(flag && base == memory);
    MPI_Win_free(&window);
    EXPECT(n_win_deletes == 1);
    MPI_Win_free_keyval(&key);
}

static void predefined(void) {
    int* value = NULL;
    int flag = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    EXPECT(flag && *value >= 32767);
    say("tag_ub %d", flag ? *value : -1);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag);
    EXPECT(flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &value, &flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag);
    say("universe_size %d %d", flag, flag ? *value : 0);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag);
    say("appnum %d %d", flag, flag ? *value : 0);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
    EXPECT(flag && *value >= MPI_ERR_LASTCODE);
}

static int last_of_self(MPI_Comm comm, int key, void* value, void* extra) {
    (void)key;
    (void)extra;
    int flag = 1;
    MPI_Finalized(&flag);
    EXPECT(pthread_equal(caller, pthread_self()));
    // MPI works on while it runs.
    int got = -1;
    MPI_Sendrecv(&me, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
    say("delete of %s, finalized %d, got %d", (const char*)value, flag, got == me);
    return MPI_SUCCESS;
}

static void left_on_self(void) {
    static char first[] = "the first";
    static char second[] = "the second";
    int keys[2];
    caller = pthread_self();
    for (int i = 0; i < 2; ++i) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, last_of_self, &keys[i], NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], i ? second : first);
        MPI_Comm_free_keyval(&keys[i]);
    }
}

static int reduce_in_callback(MPI_Comm comm, int keyval, void* value, void* extra) {
    (void)comm;
    (void)keyval;
    (void)value;
    int one = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Allreduce(&one, extra, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/// Rank 0 makes its collectives inside a callback, the others outside: they are the same collectives all the same.
static void collectives_of_one_rank(void) {
    int sum = -1;
    if (me == 0) {
        MPI_Comm self;
        int keyval = MPI_KEYVAL_INVALID;
        MPI_Comm_dup(MPI_COMM_SELF, &self);
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, reduce_in_callback, &keyval, &sum);
        MPI_Comm_set_attr(self, keyval, &sum);
        MPI_Comm_free(&self);
        MPI_Comm_free_keyval(&keyval);
    } else {
        int one = 1;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    say("sum %d", sum);
}

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {
        {"user_reduction", user_reduction, 1},
        {"in_rank_order", in_rank_order, 1},
        {"operations_freed_at_once", operations_freed_at_once, 1},
        {"on_communicators", on_communicators, 1},
        {"on_types", on_types, 1},
        {"on_windows", on_windows, 1},
        {"collectives_of_one_rank", collectives_of_one_rank, 1},
        {"predefined", predefined, 1},
        {"left_on_self", left_on_self, 1},
    };
    return probe_main(argc, argv, cases, PROBE_COUNT(cases));
}
