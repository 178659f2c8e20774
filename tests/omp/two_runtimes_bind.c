// SPDX-License-Identifier: Apache-2.0
//
// A program for TAMPI and with held tasks whose own OpenMP runtime is libgomp: its tasks cannot be held, so every call that would
// must be refused in words that name the culprit, and the program runs on to its end. With libomp and libcommtask-omp-bind in
// front of it, as the words advise, the same program works. The argument says which of the two is expected.
#include <TAMPI.h>
#include <commtask/omp.h>
#include <stdio.h>
#include <string.h>

static int must_be_refused = 0;
static int wrong = 0;

static void expect(int holds, const char* what) {
    if (!holds) fprintf(stderr, "not so: %s\n  (%s)\n", what, commtask_omp_last_error());
    wrong |= !holds;
}

static void check_what_is_said(int provided) {
    int is_blocking = 0;
    int is_nonblocking = 0;
    TAMPI_Blocking_enabled(&is_blocking);
    TAMPI_Nonblocking_enabled(&is_nonblocking);
    expect(provided == (must_be_refused ? MPI_THREAD_MULTIPLE : MPI_TASK_MULTIPLE), "the level that is given");
    expect(is_blocking == !must_be_refused && is_nonblocking == !must_be_refused, "the modes that are enabled");
    const int code = commtask_omp_bind_check();
    expect(code == (must_be_refused ? COMMTASK_ERR_RUNTIME : COMMTASK_OK), "what the check says");
    if (must_be_refused) expect(strstr(commtask_omp_last_error(), "libgomp") != NULL, "libgomp is named");
}

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    must_be_refused = argc > 1 && strcmp(argv[1], "refused") == 0;
    MPI_Init_thread(&argc, &argv, MPI_TASK_MULTIPLE, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check_what_is_said(provided);

    int sent = 42;
    int held[2] = {-1, -1};
    int seen = 0;
    int held_codes[2] = {0, 0};
    int tampi_codes[2] = {0, 0};
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task depend(out : held[0]) shared(sent, held, held_codes)
        {
            held_codes[0] = commtask_omp_bind(commtask_op_recv(&held[0], 1, MPI_INT, 0, 1, MPI_COMM_SELF));
            held_codes[1] = commtask_omp_bind(commtask_op_send(&sent, 1, MPI_INT, 0, 1, MPI_COMM_SELF));
        }
#pragma omp task depend(out : held[1]) shared(sent, held, tampi_codes)
        {
            tampi_codes[0] = TAMPI_Irecv(&held[1], 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
            tampi_codes[1] = TAMPI_Isend(&sent, 1, MPI_INT, 0, 2, MPI_COMM_SELF);
        }
#pragma omp task depend(in : held[0], held[1]) shared(held, seen)
        seen = 100 * held[0] + held[1];
    }
    const int code = must_be_refused ? COMMTASK_ERR_RUNTIME : COMMTASK_OK;
    const int mpi_code = must_be_refused ? MPI_ERR_OTHER : MPI_SUCCESS;
    expect(held_codes[0] == code && held_codes[1] == code, "commtask_omp_bind says the same");
    expect(tampi_codes[0] == mpi_code && tampi_codes[1] == mpi_code, "TAMPI's functions say the same");
    expect(seen == (must_be_refused ? -101 : 4242), "the dependent ran, after the messages if they could be started");
    expect(commtask_omp_error_count() == (must_be_refused ? 4 : 0), "every refusal is counted");
    MPI_Finalize();
    return wrong;
}
