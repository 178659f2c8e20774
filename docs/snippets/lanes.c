/* SPDX-License-Identifier: Apache-2.0
 *
 * The example of docs/lanes.md: two fields whose messages go round the ranks, each field on a lane of its own. With more ranks
 * than one it sees that each message came from its neighbour. */
#include <commtask/commtask.h>

#include <stdio.h>

enum { n_fields = 2 };

int main(int argc, char** argv) {
    int level, rank, size, n_wrong = 0;
    int mine[n_fields], theirs[n_fields] = {-1, -1};
    /* [c] */
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
    commtask_t task[n_fields];
    for (int i = 0; i < n_fields; ++i) {
        mine[i] = 10 * rank + i;
        const commtask_op both = commtask_op_sendrecv(&mine[i], 1, MPI_INT, (rank + 1) % size, 0, &theirs[i], 1,
                                                      MPI_INT, (rank + size - 1) % size, 0, field[i]);
        n_wrong += commtask_post(&both, NULL, &task[i]) != COMMTASK_OK;
    }
    n_wrong += commtask_wait_all(n_fields, task, -1, NULL) != COMMTASK_OK;
    for (int i = 0; i < n_fields; ++i) n_wrong += theirs[i] != 10 * ((rank + size - 1) % size) + i;
    commtask_finalize();
    for (int i = 0; i < n_fields; ++i) MPI_Comm_free(&field[i]);
    MPI_Finalize();
    return n_wrong != 0;
}
