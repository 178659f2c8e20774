/* SPDX-License-Identifier: Apache-2.0
 *
 * The program of docs/guide.md: what order, predecessors and errors look like in C, on any number of ranks. Each part between two
 * marks is shown there as it stands. */
#include <commtask/commtask.h>
#include <stdio.h>

static int rank, size, n_wrong;

static void expect(int is_right, const char* what) {
    if (is_right) return;
    fprintf(stderr, "rank %d: %s\n", rank, what);
    ++n_wrong;
}

static void pass_on(MPI_Comm comm) {
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    double from_left = -1, from_far = -1, mine = rank;
    /* [after] */
    commtask_t received = COMMTASK_NULL, done[2] = {COMMTASK_NULL, COMMTASK_NULL};
    commtask_post(commtask_op_recv(&from_left, 1, MPI_DOUBLE, left, 0, comm), NULL, &received);
    commtask_post(commtask_op_send(&mine, 1, MPI_DOUBLE, right, 0, comm), NULL, NULL);

    commtask_options options = COMMTASK_OPTIONS_INIT;
    options.after = &received; /* what came from the left goes on to the right, without a thread in between */
    options.n_after = 1;
    commtask_post(commtask_op_send(&from_left, 1, MPI_DOUBLE, right, 1, comm), &options, &done[0]);
    commtask_post(commtask_op_recv(&from_far, 1, MPI_DOUBLE, left, 1, comm), NULL, &done[1]);
    /* compute here */
    commtask_wait(&received, NULL);
    commtask_wait_all(2, done, NULL);
    /* [after] */
    expect(from_left == left && from_far == (left + size - 1) % size, "the ring is wrong");
}

static void look_at_errors(MPI_Comm comm) {
    double value = 0;
    int code;
    /* [error] */
    code = commtask_post(commtask_op_send(&value, 1, MPI_DOUBLE, size, 0, comm), NULL, NULL);
    if (code != COMMTASK_OK)
        printf("%s: %s\n", commtask_error_string(code),
               commtask_last_error()); /* dest is 4, and ... has ranks 0 to 3 */

    commtask_t all = COMMTASK_NULL;
    commtask_status status = COMMTASK_STATUS_INIT;
    commtask_post(commtask_op_allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, comm), NULL, &all);
    code = commtask_wait(&all, &status);
    if (code == COMMTASK_FAILED) printf("MPI says: class %d, code %d\n", status.error_class, status.error);
    /* [error] */
    expect(code == COMMTASK_OK && status.state == COMMTASK_STATE_COMPLETED, "the reduction did not end well");
}

int main(int argc, char** argv) {
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (commtask_init(NULL) != COMMTASK_OK) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pass_on(MPI_COMM_WORLD);
    look_at_errors(MPI_COMM_WORLD);
    commtask_finalize();
    MPI_Finalize();
    return n_wrong != 0;
}
