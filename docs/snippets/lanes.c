/* SPDX-License-Identifier: Apache-2.0
 *
 * The examples of docs/lanes.md: two fields whose messages go round the ranks, each field on a lane of its own; and a burst of
 * messages that is striped over lanes; and one communicator that several lanes serve. With more ranks than one it sees that each message came from its neighbour. */
#include <commtask/commtask.h>

#include <stdio.h>

enum { n_fields = 2, n_messages = 8 };

int main(int argc, char** argv) {
    int level, rank, size, n_wrong = 0;
    int mine[n_fields], theirs[n_fields] = {-1, -1};
    /* [c] */
    commtask_lanes_prepare(2); /* some MPIs must know before they start */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    commtask_config config = COMMTASK_CONFIG_INIT;
    config.lanes = 2; /* or COMMTASK_LANES=2 in the environment */
    if (commtask_init(&config) != COMMTASK_OK) {
        fprintf(stderr, "%s\n", commtask_last_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm field[n_fields];
    commtask_comm_split_lanes(MPI_COMM_WORLD, n_fields, field); /* field[0] on lane 0, field[1] on lane 1 */
    /* [c] */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    commtask_t task[2 * n_messages];
    for (int i = 0; i < n_fields; ++i) {
        mine[i] = 10 * rank + i;
        const commtask_op both =
            commtask_op_sendrecv(&mine[i], 1, MPI_INT, right, 0, &theirs[i], 1, MPI_INT, left, 0, field[i]);
        n_wrong += commtask_post_operation(&both, NULL, &task[i]) != COMMTASK_OK;
    }
    n_wrong += commtask_wait_all(n_fields, task, NULL) != COMMTASK_OK;
    for (int i = 0; i < n_fields; ++i) n_wrong += theirs[i] != 10 * left + i;

    int sent[n_messages], received[n_messages];
    for (int i = 0; i < n_messages; ++i) sent[i] = 100 * rank + i;
    /* [burst] */
    commtask_burst burst = COMMTASK_BURST_INIT;
    burst.size_bytes = sizeof(int);
    burst.n_messages = n_messages; /* the same number on all ranks: both ends must choose alike */
    commtask_lane_choice choice = COMMTASK_LANE_CHOICE_INIT;
    commtask_lanes_choose(&burst, &choice);
    for (int i = 0; i < n_messages; ++i) {
        MPI_Comm on = field[commtask_lane_of_message(&choice, (size_t)i)];
        commtask_post(commtask_op_recv(&received[i], 1, MPI_INT, left, 1, on), NULL, &task[2 * i]);
        commtask_post(commtask_op_send(&sent[i], 1, MPI_INT, right, 1, on), NULL, &task[2 * i + 1]);
    }
    commtask_wait_all(2 * n_messages, task, NULL);
    /* [burst] */
    for (int i = 0; i < n_messages; ++i) n_wrong += received[i] != 100 * left + i;
    /* [spread] */
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_source", "true"); /* no receive from MPI_ANY_SOURCE */
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");    /* none of MPI_ANY_TAG */
    MPI_Comm halo;
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &halo);
    MPI_Info_free(&info);
    n_wrong += commtask_comm_stripe(halo, COMMTASK_STRIPE_BY_MESSAGE) != COMMTASK_OK; /* on every rank */
    /* [spread] */
    for (int i = 0; i < n_messages; ++i) { /* successive tags take turns on the lanes */
        received[i] = -1;
        commtask_post(commtask_op_recv(&received[i], 1, MPI_INT, left, i, halo), NULL, &task[2 * i]);
        commtask_post(commtask_op_send(&sent[i], 1, MPI_INT, right, i, halo), NULL, &task[2 * i + 1]);
    }
    commtask_wait_all(2 * n_messages, task, NULL);
    for (int i = 0; i < n_messages; ++i) n_wrong += received[i] != 100 * left + i;
    commtask_finalize();
    MPI_Comm_free(&halo);
    for (int i = 0; i < n_fields; ++i) MPI_Comm_free(&field[i]);
    MPI_Finalize();
    return n_wrong != 0;
}
