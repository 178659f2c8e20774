/* SPDX-License-Identifier: Apache-2.0
 *
 * A buffer in partitions, of docs/plans.md: it leaves while it is being filled, and is used while it comes. Sender and receiver
 * have different numbers of partitions. */
#include <commtask/commtask.h>

enum { n = 480000, n_out = 16, n_in = 3, n_steps = 4 };
static double out[n], in[n];

static void fill(double* part, int count, double value) {
    for (int i = 0; i < count; ++i) part[i] = value;
}

static double sum_of(const double* part, int count) {
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += part[i];
    return sum;
}

int main(int argc, char** argv) {
    int level, rank, size, is_right = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (commtask_init(NULL) != COMMTASK_OK) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    /* [c] */
    commtask_plan_t ring = COMMTASK_PLAN_NULL;
    commtask_record_begin();
    commtask_post(commtask_op_precv(in, n_in, n / n_in, MPI_DOUBLE, left, 0, MPI_COMM_WORLD), NULL, NULL);
    commtask_post(commtask_op_psend(out, n_out, n / n_out, MPI_DOUBLE, right, 0, MPI_COMM_WORLD), NULL, NULL);
    commtask_record_end(&ring);
    for (int step = 0; step < n_steps; ++step) {
        commtask_t run = COMMTASK_NULL;
        double sum = 0;
        commtask_plan_start(ring, NULL, &run);
        for (int part = 0; part < n_out; ++part) { /* by any thread, in any order */
            fill(out + part * (n / n_out), n / n_out, rank + step);
            commtask_plan_pready_range(ring, 1, part, 1); /* member 1, the psend: this part may leave */
        }
        for (int part = 0; part < n_in; ++part) { /* here too */
            while (commtask_plan_parrived(ring, 0, part) == 0) {}
            sum += sum_of(in + part * (n / n_in), n / n_in);
        }
        commtask_wait(&run, NULL);
        is_right = is_right && sum == (double)n * (left + step);
    }
    commtask_plan_release(&ring);
    /* [c] */
    commtask_finalize();
    MPI_Finalize();
    return !is_right;
}
