/* SPDX-License-Identifier: Apache-2.0
 *
 * The program of docs/hangs.md: it waits for ever, since the tag of a message is not the one that its receiver waits for, and
 * a task waits for that receive. What the library says about it is shown on that page. The wait has a limit here, so that a
 * test can run it: then commtask_finalize gives the tasks up and lists them once more. */
#include <commtask/commtask.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int level, rank, size;
    double halo = 0, edge = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (commtask_init(NULL) != COMMTASK_OK) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm halo_comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &halo_comm);
    MPI_Comm_set_name(halo_comm, "halo");
    /* [hang] */
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    commtask_t received = COMMTASK_NULL, answered = COMMTASK_NULL;
    commtask_post(commtask_op_send(&edge, 1, MPI_DOUBLE, right, 77, halo_comm), NULL, NULL);
    commtask_post(commtask_op_recv(&halo, 1, MPI_DOUBLE, left, 78, halo_comm), NULL, &received);
    commtask_options options = COMMTASK_OPTIONS_INIT;
    options.after = &received;
    options.n_after = 1;
    commtask_post(commtask_op_send(&halo, 1, MPI_DOUBLE, left, 79, halo_comm), &options, &answered);
    /* [hang] */
    const int code = commtask_wait_for(&answered, 3000000000, NULL);
    const int ended = commtask_finalize();
    /* What was never received is MPI's still: MPI_Finalize might wait for it. */
    printf("rank %d: wait %d, finalize %d\n", rank, code, ended);
    fflush(stdout);
    _Exit(code == COMMTASK_TIMEOUT && ended == COMMTASK_ERR_UNFINISHED ? 0 : 1);
}
