// SPDX-License-Identifier: Apache-2.0
//
// What MPI 4 added, where the MPI has it: counts of type MPI_Count, partitioned messages, sessions. The collectives of
// its persistent kind are in collectives.c. With an older MPI there is nothing to run (77).
#include "probe.h"

#if MPI_VERSION >= 4

static void large_counts(void) {
    int out[32];
    int in[32];
    MPI_Count count = 0;
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Message message;
    MPI_Datatype type;
    fill(out, 32, me, 1);
    MPI_Irecv_c(in, 32, MPI_INT, previous_rank(), 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend_c(out, 32, MPI_INT, next_rank(), 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[0], &status);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    EXPECT(is_filled(in, 32, previous_rank(), 1));
    MPI_Get_count_c(&status, MPI_INT, &count);
    EXPECT(count == 32);
    MPI_Sendrecv_c(out, 32, MPI_INT, next_rank(), 2, in, 32, MPI_INT, previous_rank(), 2, MPI_COMM_WORLD, &status);
    MPI_Isend_c(out, 32, MPI_INT, next_rank(), 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Mprobe(previous_rank(), 3, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv_c(in, 32, MPI_INT, &message, &status);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Isend_c(out, 4, MPI_INT, next_rank(), 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_c(in, 32, MPI_INT, previous_rank(), 4, MPI_COMM_WORLD, &status);
    say_status("recv_c", &status, MPI_INT);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);

    MPI_Type_vector_c(4, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Send_init_c(out, 1, type, next_rank(), 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init_c(in, 4, MPI_INT, previous_rank(), 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&type);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);

    int sums[4] = {0};
    const int values[4] = {me, me + 1, me + 2, me + 3};
    MPI_Allreduce_c(values, sums, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say("sums %d %d", sums[0], sums[3]);
    MPI_Iallreduce_c(values, sums, 4, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    say("most %d %d", sums[0], sums[3]);
    MPI_Bcast_c(sums, 4, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Count counts[16];
    MPI_Aint places[16];
    int all[16];
    for (int i = 0; i < n_ranks; ++i) {
        counts[i] = 1;
        places[i] = i;
    }
    MPI_Allgatherv_c(&me, 1, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    EXPECT(all[n_ranks - 1] == n_ranks - 1);
    MPI_Ialltoallv_c(all, counts, places, MPI_INT, all + 8, counts, places, MPI_INT, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    EXPECT(n_ranks > 8 || all[8] == me);
}

static void partitioned(void) {
    enum { n_parts = 8, n_each = 100 };
    static int out[n_parts * n_each];
    static int in[n_parts * n_each];
    MPI_Request send;
    MPI_Request receive;
    MPI_Psend_init(out, n_parts, n_each, MPI_INT, next_rank(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
    MPI_Precv_init(in, n_parts, n_each, MPI_INT, previous_rank(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
    for (int turn = 0; turn < 4; ++turn) {
        fill(out, n_parts * n_each, me, turn);
        memset(in, 0, sizeof in);
        MPI_Start(&receive);
        MPI_Start(&send);
        if (turn == 1) {
            MPI_Pready_range(0, n_parts - 1, send);
        } else if (turn == 2) {
            int list[n_parts] = {7, 5, 3, 1, 0, 2, 4, 6};
            MPI_Pready_list(n_parts, list, send);
        } else {
            for (int i = n_parts - 1; i >= 0; --i) {
                MPI_Pready(i, send);
            }
        }
        for (int i = 0, flag = 0; i < n_parts && turn % 2; flag = 0, ++i) {
            while (!flag) {
                MPI_Parrived(receive, i, &flag);
            }
            EXPECT(in[i * n_each] != 0 || out[i * n_each] == 0);
        }
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        EXPECT(is_filled(in, n_parts * n_each, previous_rank(), turn));
        EXPECT(send != MPI_REQUEST_NULL && receive != MPI_REQUEST_NULL);
    }
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
}

static void in_a_session(const char* when) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int n_sets = 0;
    int sum = -1;
    int rank = -1;
    int size = 0;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n_sets);
    EXPECT(n_sets >= 2);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "probe", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    EXPECT(sum == size * (size - 1) / 2);
    MPI_Request requests[2];
    int in = -1;
    MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 1, comm, &requests[0]);
    MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 1, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    EXPECT(in == (rank + size - 1) % size);
    me = rank;
    n_ranks = size;
    say("%s: %d", when, sum);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    EXPECT(session == MPI_SESSION_NULL);
}

/* The program lets go of partitioned messages that are on their way, and not ready as a whole; both ends, since MPICH waits for
 * ever for the other end of one that is. */
static void freed_partitioned(int argc, char** argv) {
    enum { n_parts = 4 };
    static int out[n_parts];
    static int in[n_parts];
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    MPI_Psend_init(out, n_parts, 1, MPI_INT, next_rank(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(in, n_parts, 1, MPI_INT, previous_rank(), 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Pready_range(0, 1, requests[0]);
    for (int i = 0; i < 2; ++i) {
        EXPECT(MPI_Request_free(&requests[i]) == MPI_SUCCESS);
        EXPECT(requests[i] == MPI_REQUEST_NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    say("it came to its end");
}

static void within_the_world(void) { in_a_session("within the world"); }

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {
        {"large_counts", large_counts, 1}, {"partitioned", partitioned, 1}, {"within_the_world", within_the_world, 1}};
    if (argc > 1 && strcmp(argv[1], "sessions") == 0) {
        // Sessions alone: MPI_Init is never called.
        in_a_session("alone"); // once: MPICH 4.0.2 crashes when MPI starts a second time
        return probe_result();
    }
    if (argc > 1 && strcmp(argv[1], "freed_partitioned") == 0) {
        freed_partitioned(argc, argv);
        return probe_result();
    }
    return probe_main(argc, argv, cases, PROBE_COUNT(cases));
}

#else

int main(void) { return 77; }

#endif
