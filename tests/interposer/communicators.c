// SPDX-License-Identifier: Apache-2.0
//
// Communicators and groups: made, duplicated without blocking, split by every rule, compared, named, freed while
// messages are under way, thousands of them one after the other; intercommunicators with messages and collectives; objects of
// Info.
#include "probe.h"

#include <malloc.h>
#include <time.h>

static int sum_on(MPI_Comm comm) {
    int sum = -1;
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum;
}

static void duplicates(void) {
    MPI_Comm copies[3];
    MPI_Request request;
    int result = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &copies[0]);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &copies[1]);
    MPI_Comm_idup(MPI_COMM_WORLD, &copies[2], &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(request == MPI_REQUEST_NULL);
    for (int i = 0; i < 3; ++i) {
        EXPECT(sum_on(copies[i]) == n_ranks * (n_ranks - 1) / 2);
        MPI_Comm_compare(copies[i], MPI_COMM_WORLD, &result);
        EXPECT(result == MPI_CONGRUENT);
    }
    // The same tag on two communicators.
    int in[2] = {-1, -1};
    const int out[2] = {me, me + 100};
    MPI_Request requests[4];
    MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, 1, copies[2], &requests[0]);
    MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, 1, copies[0], &requests[1]);
    MPI_Isend(&out[0], 1, MPI_INT, next_rank(), 1, copies[0], &requests[2]);
    MPI_Isend(&out[1], 1, MPI_INT, next_rank(), 1, copies[2], &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    EXPECT(in[0] == previous_rank() && in[1] == previous_rank() + 100);
    for (int i = 0; i < 3; ++i) {
        MPI_Comm_free(&copies[i]);
        EXPECT(copies[i] == MPI_COMM_NULL);
    }
}

static void splits(void) {
    MPI_Comm half;
    int rank = -1;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half);
    MPI_Comm_rank(half, &rank);
    say("rank %d, sum %d", rank, sum_on(half));
    MPI_Comm_free(&half);
    MPI_Comm_split(MPI_COMM_WORLD, me == 0 ? MPI_UNDEFINED : 1, 0, &half);
    EXPECT((half == MPI_COMM_NULL) == (me == 0));
    if (half != MPI_COMM_NULL) {
        say("sum %d", sum_on(half));
        MPI_Comm_free(&half);
    }
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    say("node sum %d", sum_on(node));
    MPI_Comm_free(&node);
}

static void groups(void) {
    MPI_Group world;
    MPI_Group odd;
    MPI_Group even;
    MPI_Group both;
    MPI_Comm comm;
    int size = -1;
    int translated = -1;
    int range[1][3] = {{0, n_ranks - 1, 2}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &even);
    MPI_Group_difference(world, even, &odd);
    MPI_Group_union(odd, even, &both);
    MPI_Group_size(both, &size);
    EXPECT(size == n_ranks);
    const int zero = 0;
    MPI_Group_translate_ranks(even, 1, &zero, world, &translated);
    EXPECT(translated == 0);
    MPI_Comm_create(MPI_COMM_WORLD, even, &comm);
    EXPECT((comm == MPI_COMM_NULL) == (me % 2 == 1));
    if (comm != MPI_COMM_NULL) {
        say("even sum %d", sum_on(comm));
        MPI_Comm_free(&comm);
        MPI_Comm_create_group(MPI_COMM_WORLD, even, 5, &comm);
        say("again %d", sum_on(comm));
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&world);
    MPI_Group_free(&odd);
    MPI_Group_free(&even);
    MPI_Group_free(&both);
    EXPECT(both == MPI_GROUP_NULL);
}

static void freed_with_messages_under_way(void) {
    for (int turn = 0; turn < 20; ++turn) {
        int in = -1;
        MPI_Comm comm;
        MPI_Request requests[2];
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Irecv(&in, 1, MPI_INT, previous_rank(), 1, comm, &requests[0]);
        MPI_Isend(&me, 1, MPI_INT, next_rank(), 1, comm, &requests[1]);
        MPI_Comm_free(&comm);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        EXPECT(in == previous_rank());
    }
}

static double processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

enum { n_turns = 10, n_in_a_turn = 200 };

// What has been freed costs nothing: neither memory, nor time of those that come after it. Of each half the best turn counts,
// as others use the processors too.
static void thousands_come_and_go(void) {
    double best[2] = {1e9, 1e9};
    size_t in_use = 0;
    for (int turn = 0; turn < n_turns; ++turn) {
        const int half = turn < n_turns / 2 ? 0 : 1;
        if (turn == n_turns / 2) {
            in_use = mallinfo2().uordblks;
        }
        const double begin = processor_time();
        for (int i = 0; i < n_in_a_turn; ++i) {
            MPI_Comm passing;
            MPI_Request request;
            MPI_Comm_dup(MPI_COMM_SELF, &passing);
            MPI_Ibarrier(passing, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Comm_free(&passing);
        }
        const double took = processor_time() - begin;
        if (took < best[half]) {
            best[half] = took;
        }
    }
    EXPECT(best[1] < 3 * best[0]);
    EXPECT(mallinfo2().uordblks < in_use + (size_t)100 * n_in_a_turn * (n_turns / 2));
}

static void names_and_infos(void) {
    char text[MPI_MAX_OBJECT_NAME];
    int length = 0;
    MPI_Comm comm;
    MPI_Comm_get_name(MPI_COMM_WORLD, text, &length);
    say("%s", text);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "halo");
    MPI_Comm_get_name(comm, text, &length);
    say("%s", text);
    MPI_Info info;
    MPI_Info copy;
    char value[32] = "";
    int flag = 0;
    int n_keys = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Info_dup(info, &copy);
    MPI_Info_get(copy, "key", 31, value, &flag);
    MPI_Info_get_nkeys(copy, &n_keys);
    say("%s %d %d", value, flag, n_keys);
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
    MPI_Info_free(&copy);
    MPI_Comm_free(&comm);
}

static void between_two_groups(void) {
    const int side = me % 2;
    int remote = -1;
    int flag = 0;
    int rank = -1;
    MPI_Comm mine;
    MPI_Comm inter;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &mine);
    MPI_Comm_rank(mine, &rank);
    MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, 1 - side, 3, &inter);
    MPI_Comm_test_inter(inter, &flag);
    MPI_Comm_remote_size(inter, &remote);
    say("inter %d, remote size %d", flag, remote);
    if (rank < n_ranks / 2) {
        int in = -1;
        MPI_Status status;
        MPI_Request request;
        MPI_Isend(&me, 1, MPI_INT, rank, 1, inter, &request);
        MPI_Recv(&in, 1, MPI_INT, rank, 1, inter, &status);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        say_status("from the other side", &status, MPI_INT);
        EXPECT(in == (side ? me - 1 : me + 1));
    }
    int sum = -1;
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, inter);
    say("the others' sum %d", sum);
    MPI_Request request;
    sum = -1;
    MPI_Iallreduce(&me, &sum, 1, MPI_INT, MPI_SUM, inter, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("the others' sum %d", sum);
    int value = me == 0 ? 42 : -1;
    MPI_Bcast(&value, 1, MPI_INT, side == 1 ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    say("value %d", value);
    value = me == 0 ? 43 : -1;
    MPI_Ibcast(&value, 1, MPI_INT, side == 1 ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, inter, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("value %d", value);
    int all[16] = {0};
    MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, inter);
    say("first of the others %d", all[0]);
    MPI_Barrier(inter);
    MPI_Comm merged;
    MPI_Intercomm_merge(inter, side, &merged);
    MPI_Comm_rank(merged, &rank);
    say("merged rank %d, sum %d", rank, sum_on(merged));
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&mine);
}

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {
        {"duplicates", duplicates, 1},
        {"splits", splits, 1},
        {"groups", groups, 1},
        {"freed_with_messages_under_way", freed_with_messages_under_way, 1},
        {"thousands_come_and_go", thousands_come_and_go, 1},
        {"names_and_infos", names_and_infos, 1},
        {"between_two_groups", between_two_groups, 2},
    };
    return probe_main(argc, argv, cases, PROBE_COUNT(cases));
}
