/* SPDX-License-Identifier: Apache-2.0
 *
 * The example of docs/node.md: a phase in which the program computes on all its cores, the workers' too. Communication
 * goes on afterwards. */
/* [program] */
#include <commtask/commtask.h>

static void solve_locally(void) {}

int main(int argc, char** argv) {
    int level;
    commtask_t task;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (commtask_init(NULL) != COMMTASK_OK) return 1;
    commtask_pause(); /* from here on the cores are the program's */
    solve_locally();
    commtask_resume();
    int is_wrong = commtask_post(commtask_op_barrier(MPI_COMM_WORLD), NULL, &task) != COMMTASK_OK;
    is_wrong |= commtask_wait(&task, NULL) != COMMTASK_OK;
    commtask_finalize();
    MPI_Finalize();
    return is_wrong;
}
/* [program] */
