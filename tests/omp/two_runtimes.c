// SPDX-License-Identifier: Apache-2.0
//
// A program whose own OpenMP runtime is libgomp: the library must refuse to create tasks in another runtime, in words
// that name the culprit, and nothing may hang. Run with libomp preloaded, as the words advise, the same program works.
// The argument says which of the two is expected.
#include <commtask/omp.h>
#include <stdio.h>
#include <string.h>

static int fails(const char* what) {
    fprintf(stderr, "not so: %s\n  (%s)\n", what, commtask_omp_last_error());
    return 1;
}

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    const int must_be_refused = argc > 1 && strcmp(argv[1], "refused") == 0;
    int wrong = 0;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (commtask_init(NULL) != COMMTASK_OK) wrong |= fails("commtask_init");
    const int code = commtask_omp_check();
    if (code != (must_be_refused ? COMMTASK_ERR_RUNTIME : COMMTASK_OK)) wrong |= fails("what the check says");
    if (must_be_refused && strstr(commtask_omp_last_error(), "libgomp") == NULL) wrong |= fails("libgomp is named");

    int sent = 42;
    int received = -1;
    int seen = -1;
    int n_run = 0;
    commtask_status status = COMMTASK_STATUS_INIT;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        const int taken = COMM_TASK(recv(&received, 1, MPI_INT, 0, 1, MPI_COMM_SELF), out(&received), status(&status));
        if (taken != code) wrong |= fails("COMM_TASK says the same");
#pragma omp task depend(in : received) shared(received, seen, n_run)
        {
            seen = received;
            n_run += 1;
        }
        COMM_TASK(send(&sent, 1, MPI_INT, 0, 1, MPI_COMM_SELF), in(&sent)); /* where nobody looks */
    }
    if (n_run != 1) wrong |= fails("the dependent ran");
    if (must_be_refused) {
        if (status.state != COMMTASK_STATE_FAILED) wrong |= fails("the status says failed");
        if (commtask_omp_error_count() != 2) wrong |= fails("two errors are counted");
    } else if (seen != 42) {
        wrong |= fails("the dependent saw the data");
    }
    if (commtask_finalize() != (must_be_refused ? COMMTASK_FAILED : COMMTASK_OK)) wrong |= fails("commtask_finalize");
    MPI_Finalize();
    return wrong;
}
