/* SPDX-License-Identifier: Apache-2.0
 *
 * A rank awaits a sum as a task of its own, and computes elsewhere; the other one comes late, by a blocking call that is over in a moment
 * and so becomes no task. Whether its end has rung the first one's worker the statistics say, which CMakeLists.txt has read; a wrong
 * sum ends the program before it prints them. */
#include <commtask/commtask.h>
#include <mpi.h>

#include <sched.h>
#include <semaphore.h>
#include <time.h>

enum { n_sums = 12, give_up_s = 30 };
static const double until_asleep_s = 0.03;

static void tell(const commtask_status* status, void* has_come) {
    (void)status;
    sem_post((sem_t*)has_come);
}

static void require(int condition) {
    if (!condition) MPI_Abort(MPI_COMM_WORLD, 1);
}

static int sum_elsewhere(int mine) {
    int sum = -1;
    sem_t has_come;
    struct timespec give_up;
    commtask_options options = COMMTASK_OPTIONS_INIT;
    require(sem_init(&has_come, 0, 0) == 0);
    options.callback = &tell;
    options.callback_argument = &has_come;
    const commtask_op op = commtask_op_allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    clock_gettime(CLOCK_REALTIME, &give_up);
    give_up.tv_sec += give_up_s;
    require(commtask_submit(op, &options, NULL) == COMMTASK_OK);
    require(sem_timedwait(&has_come, &give_up) == 0);
    sem_destroy(&has_come);
    return sum;
}

int main(int argc, char** argv) {
    int level = 0;
    int rank = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    require(commtask_init(NULL) == COMMTASK_OK);
    for (int i = 0; i < n_sums; ++i) {
        if (rank == 0) {
            require(sum_elsewhere(i) == 3 * i);
        } else {
            const int twice = 2 * i;
            int sum = -1;
            for (const double begin = MPI_Wtime(); MPI_Wtime() - begin < until_asleep_s;) sched_yield();
            MPI_Allreduce(&twice, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            require(sum == 3 * i);
        }
    }
    require(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
    return 0;
}
