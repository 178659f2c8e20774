// SPDX-License-Identifier: Apache-2.0
//
// Sets of persistent requests that are started together again and again: with every way of completing them, in other orders and
// groups, singly between, with members to nobody and of several kinds, and with one that is freed. Each is a post of its own
// at first and one post from the second time on, and the program must not see the difference.
#include "probe.h"

enum { n_pairs = 4, n_requests = 2 * n_pairs, n_ints = 16, n_turns = 12 };

static int out[n_pairs][n_ints];
static int in[n_pairs][n_ints];

static void init_pairs(MPI_Request requests[n_requests], MPI_Comm comm) {
    for (int i = 0; i < n_pairs; ++i) {
        MPI_Recv_init(in[i], n_ints, MPI_INT, previous_rank(), i, comm, &requests[i]);
        MPI_Send_init(out[i], n_ints, MPI_INT, next_rank(), i, comm, &requests[n_pairs + i]);
    }
}

static void free_all(int count, MPI_Request* requests) {
    for (int i = 0; i < count; ++i) {
        if (requests[i] != MPI_REQUEST_NULL) {
            MPI_Request_free(&requests[i]);
        }
    }
}

static void fill_all(int turn) {
    for (int i = 0; i < n_pairs; ++i) {
        fill(out[i], n_ints, me, turn * n_pairs + i);
    }
}

static void expect_all(int turn) {
    for (int i = 0; i < n_pairs; ++i) {
        EXPECT(is_filled(in[i], n_ints, previous_rank(), turn * n_pairs + i));
    }
}

/// Completes all requests; how, depends on the turn.
static void complete(int turn, int count, MPI_Request* requests) {
    MPI_Status statuses[n_requests];
    int indices[n_requests];
    int flag = 0;
    int index = 0;
    int n = 0;
    switch (turn % 5) {
    case 0: MPI_Waitall(count, requests, statuses); break;
    case 1:
        for (int i = 0; i < count; ++i) {
            MPI_Waitany(count, requests, &index, statuses);
            EXPECT(index != MPI_UNDEFINED);
        }
        break;
    case 2:
        for (int done = 0; done < count; done += n == MPI_UNDEFINED ? 0 : n) {
            MPI_Testsome(count, requests, &n, indices, statuses);
        }
        break;
    case 3:
        for (int i = count; i-- > 0;) {
            MPI_Wait(&requests[i], statuses);
        }
        break;
    default:
        while (flag == 0) {
            MPI_Testall(count, requests, &flag, statuses);
        }
    }
    MPI_Waitany(count, requests, &index, statuses);
    EXPECT(index == MPI_UNDEFINED);
}

static void every_way_of_completing(void) {
    MPI_Request requests[n_requests];
    MPI_Status status;
    init_pairs(requests, MPI_COMM_WORLD);
    for (int turn = 0; turn < n_turns; ++turn) {
        fill_all(turn);
        MPI_Startall(n_requests, requests);
        if (turn == n_turns - 1) {
            MPI_Wait(&requests[2], &status);
            say_status("third", &status, MPI_INT);
            MPI_Startall(0, requests);
            MPI_Waitall(n_requests, requests, MPI_STATUSES_IGNORE);
        } else {
            complete(turn, n_requests, requests);
        }
        expect_all(turn);
    }
    free_all(n_requests, requests);
}

static void other_groups_and_orders(void) {
    MPI_Request requests[n_requests];
    MPI_Request turned[n_requests];
    init_pairs(requests, MPI_COMM_WORLD);
    for (int i = 0; i < n_requests; ++i) {
        turned[i] = requests[(i + n_pairs) % n_requests];
    }
    for (int turn = 0; turn < n_turns; ++turn) {
        fill_all(turn);
        switch (turn % 6) {
        case 0:
        case 1: MPI_Startall(n_requests, requests); break;
        case 2: MPI_Startall(n_requests, turned); break;
        case 3:
            for (int i = 0; i < n_requests; ++i) {
                MPI_Start(&requests[i]);
            }
            break;
        default: MPI_Startall(n_pairs, requests); MPI_Startall(n_pairs, requests + n_pairs);
        }
        complete(turn, n_requests, requests);
        expect_all(turn);
    }
    free_all(n_requests, requests);
}

static void one_is_freed(void) {
    MPI_Request requests[n_requests];
    init_pairs(requests, MPI_COMM_WORLD);
    for (int turn = 0; turn < n_turns; ++turn) {
        fill_all(turn);
        const int n_left = turn < n_turns / 2 ? n_requests : n_requests - 1;
        MPI_Startall(n_left, requests);
        if (n_left < n_requests) {
            MPI_Send(out[n_pairs - 1], n_ints, MPI_INT, next_rank(), n_pairs - 1, MPI_COMM_WORLD);
        }
        if (turn == n_turns / 2 - 1) {
            MPI_Request_free(&requests[n_requests - 1]); // while it is active
        }
        MPI_Waitall(n_left, requests, MPI_STATUSES_IGNORE);
        expect_all(turn);
        MPI_Barrier(MPI_COMM_WORLD); // what was freed has left its buffer
    }
    free_all(n_requests, requests);
}

static void to_nobody_and_of_another_communicator(void) {
    MPI_Request requests[n_requests + 2];
    MPI_Comm other;
    int nothing[2] = {-1, -1};
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    init_pairs(requests, other);
    MPI_Recv_init(&nothing[0], 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[n_requests]);
    MPI_Send_init(&nothing[1], 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &requests[n_requests + 1]);
    for (int turn = 0; turn < n_turns; ++turn) {
        if (turn == n_turns / 2) {
            MPI_Comm_free(&other); // its requests live on
        }
        fill_all(turn);
        MPI_Startall(n_requests + 2, requests);
        MPI_Waitall(n_requests + 2, requests, MPI_STATUSES_IGNORE);
        expect_all(turn);
    }
    EXPECT(nothing[0] == -1);
    free_all(n_requests + 2, requests);
}

/// What is sent after the set must not come before it.
static void later_messages_come_later(void) {
    MPI_Request requests[n_requests];
    int later[n_ints];
    for (int i = 0; i < n_pairs; ++i) {
        MPI_Recv_init(in[i], n_ints, MPI_INT, previous_rank(), 9, MPI_COMM_WORLD, &requests[i]);
        MPI_Send_init(out[i], n_ints, MPI_INT, next_rank(), 9, MPI_COMM_WORLD, &requests[n_pairs + i]);
    }
    for (int turn = 0; turn < n_turns; ++turn) {
        MPI_Request more[2];
        int sent[n_ints];
        fill_all(turn);
        fill(sent, n_ints, me, -turn);
        MPI_Startall(n_requests, requests);
        MPI_Irecv(later, n_ints, MPI_INT, previous_rank(), 9, MPI_COMM_WORLD, &more[0]);
        MPI_Isend(sent, n_ints, MPI_INT, next_rank(), 9, MPI_COMM_WORLD, &more[1]);
        MPI_Waitall(2, more, MPI_STATUSES_IGNORE);
        EXPECT(is_filled(later, n_ints, previous_rank(), -turn));
        MPI_Waitall(n_requests, requests, MPI_STATUSES_IGNORE);
        expect_all(turn);
    }
    free_all(n_requests, requests);
}

/// The same on communicators of which lanes have some each.
static void later_messages_of_each_communicator_come_later(void) {
    MPI_Comm comms[n_pairs];
    MPI_Request requests[n_requests];
    for (int i = 0; i < n_pairs; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        MPI_Recv_init(in[i], n_ints, MPI_INT, previous_rank(), 9, comms[i], &requests[i]);
        MPI_Send_init(out[i], n_ints, MPI_INT, next_rank(), 9, comms[i], &requests[n_pairs + i]);
    }
    for (int turn = 0; turn < n_turns; ++turn) {
        static int later[n_pairs][n_ints];
        static int sent[n_pairs][n_ints];
        MPI_Request more[2 * n_pairs];
        fill_all(turn);
        MPI_Startall(n_requests, requests);
        for (int i = n_pairs; i-- > 0;) {
            fill(sent[i], n_ints, me, -turn - i);
            MPI_Irecv(later[i], n_ints, MPI_INT, previous_rank(), 9, comms[i], &more[2 * i]);
            MPI_Isend(sent[i], n_ints, MPI_INT, next_rank(), 9, comms[i], &more[2 * i + 1]);
        }
        MPI_Waitall(2 * n_pairs, more, MPI_STATUSES_IGNORE);
        MPI_Waitall(n_requests, requests, MPI_STATUSES_IGNORE);
        expect_all(turn);
        for (int i = 0; i < n_pairs; ++i) {
            EXPECT(is_filled(later[i], n_ints, previous_rank(), -turn - i));
        }
    }
    free_all(n_requests, requests);
    for (int i = 0; i < n_pairs; ++i) {
        MPI_Comm_free(&comms[i]);
    }
}

#if MPI_VERSION >= 4
/// Messages, collectives and a message in partitions, started by one call.
static void of_several_kinds(void) {
    MPI_Request requests[6];
    int sum = 0;
    int seen = 0;
    MPI_Recv_init(in[0], n_ints, MPI_INT, previous_rank(), 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out[0], n_ints, MPI_INT, next_rank(), 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Precv_init(in[1], 2, n_ints / 2, MPI_INT, previous_rank(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
    MPI_Psend_init(out[1], 2, n_ints / 2, MPI_INT, next_rank(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]);
    MPI_Allreduce_init(&seen, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[4]);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[5]);
    for (int turn = 0; turn < n_turns; ++turn) {
        fill(out[0], n_ints, me, turn);
        fill(out[1], n_ints, me, 2 * turn);
        seen = turn + me;
        MPI_Startall(6, requests);
        MPI_Pready_range(0, 1, requests[3]);
        MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
        EXPECT(is_filled(in[0], n_ints, previous_rank(), turn) && is_filled(in[1], n_ints, previous_rank(), 2 * turn));
        EXPECT(sum == n_ranks * turn + n_ranks * (n_ranks - 1) / 2);
    }
    free_all(6, requests);
}
#endif

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {
        {"every_way_of_completing", every_way_of_completing, 1},
        {"other_groups_and_orders", other_groups_and_orders, 1},
        {"one_is_freed", one_is_freed, 1},
        {"to_nobody_and_of_another_communicator", to_nobody_and_of_another_communicator, 1},
        {"later_messages_come_later", later_messages_come_later, 1},
        {"later_messages_of_each_communicator_come_later", later_messages_of_each_communicator_come_later, 1},
#if MPI_VERSION >= 4
        {"of_several_kinds", of_several_kinds, 1},
#endif
    };
    return probe_main(argc, argv, cases, PROBE_COUNT(cases));
}
