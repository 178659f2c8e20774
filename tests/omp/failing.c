/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs whose tasks fail or are refused while nobody looks: neither status nor handler. With MPI's default handler the job ends
 * with a sentence, whatever made the task; with MPI_ERRORS_RETURN the program goes on, and commtask_finalize tells. What must be
 * printed, and how the job ends, is in tests/mpi/scenario_test.py. */
#include <commtask/omp.h>
#include <commtask/omp_fortran.h>

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* what;
static MPI_Comm halo;
static int n_ranks, left, right;
static int received = -1;
static const int sent[4] = {1, 2, 3, 4};

static int is(const char* part) { return strstr(what, part) != NULL; }

static void check(int is_true, const char* text) {
    if (is_true) return;
    fprintf(stderr, "CHECK FAILED: %s\n", text);
    exit(1);
}

static void note(const commtask_omp_error* error, void* count) {
    check(strstr(error->message, ", halo") != NULL, error->message);
    *(int*)count += 1;
}

static int n_called, class_called = MPI_SUCCESS;

static void on_error(MPI_Comm* comm, int* code, ...) {
    check(*comm == halo, "the function is called with the communicator of the operation");
    MPI_Error_class(*code, &class_called);
    ++n_called;
}

/* A receive that is too short. */
static void truncate_one(commtask_status* status) {
    if (status != NULL) {
        COMM_TASK(recv(&received, 1, MPI_INT, left, 7, halo), out(&received), status(status));
    } else {
        COMM_TASK(recv(&received, 1, MPI_INT, left, 7, halo), out(&received));
    }
    /* Where a rank sends to itself, MPI may tell the sender too. */
    commtask_status of_send = COMMTASK_STATUS_INIT;
    COMM_TASK(send(sent, 4, MPI_INT, right, 7, halo), in(sent), status(&of_send));
#pragma omp taskwait
}

static void make_tasks(commtask_status* status) {
    if (is("truncated")) {
        truncate_one(status);
    } else if (is("uncommitted")) {
        static int two[2];
        MPI_Datatype pair;
        MPI_Type_contiguous(2, MPI_INT, &pair);
        if (is("collective")) {
            COMM_TASK(bcast(two, 1, pair, 1, halo), inout(two));
        } else {
            COMM_TASK(recv(two, 1, pair, left, 7, halo), out(two));
        }
    } else if (is("prepared")) {
        const commtask_omp_task task = commtask_omp_prepare_at(commtask_op_send(sent, 4, MPI_INT, n_ranks + 5, 7, halo),
                                                               COMMTASK_NONE, NULL, __FILE__, __LINE__);
        omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task untied detach(event) firstprivate(task)
        commtask_omp_start_prepared(&task, event);
    } else if (is("fortran")) {
        commtask_omp_fortran_operation op = {.struct_size = sizeof op, .kind = COMMTASK_OP_SEND};
        op.comm = MPI_Comm_c2f(halo);
        op.send.buffer = (void*)(size_t)sent;
        op.send.count = 4;
        op.send.type = MPI_Type_c2f(MPI_INT);
        op.send.has_type = 1;
        op.peer = n_ranks + 5;
        commtask_omp_fortran_clauses clauses = {.struct_size = sizeof clauses};
        clauses.has_ierror = is("ierror");
        if (is("ierror")) clauses.flags = COMMTASK_ORDERED; /* it takes its place in this call, and is refused by it */
        const int code = commtask_omp_fortran_spawn(&op, &clauses);
        check(!is("ierror") || code != COMMTASK_OK, "the code says that it was refused");
    } else if (is("taskgroup")) {
        /* In a task that ends before the communication that it has created. */
#pragma omp task
        COMM_TASK(recv(&received, 1, MPI_INT, left, 9, halo), out(&received));
#pragma omp taskwait
        COMM_TASK(send(sent, 1, MPI_INT, right, 9, halo), in(sent));
    } else {
        COMM_TASK(send(sent, 4, MPI_INT, n_ranks + 5, 7, halo), in(sent), inout(&received));
    }
}

int main(int argc, char** argv) {
    int provided = 0, rank = 0, n_heard = 0;
    what = argc > 1 ? argv[1] : "";
    MPI_Init_thread(&argc, &argv, is("serialized") ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    left = (rank + n_ranks - 1) % n_ranks;
    right = (rank + 1) % n_ranks;
    MPI_Comm_dup(MPI_COMM_WORLD, &halo);
    MPI_Comm_set_name(halo, "halo");
    if (is("returns")) MPI_Comm_set_errhandler(halo, MPI_ERRORS_RETURN);
    if (is("function")) {
        MPI_Errhandler function = MPI_ERRHANDLER_NULL;
        MPI_Comm_create_errhandler(on_error, &function);
        MPI_Comm_set_errhandler(halo, function);
        MPI_Errhandler_free(&function);
    }
    if (!is("noinit")) check(commtask_init(NULL) == COMMTASK_OK, commtask_last_error());
    if (is("handler")) commtask_omp_set_error_handler(note, &n_heard);

    commtask_status status = COMMTASK_STATUS_INIT;
    const int n_rounds = is("many") ? 12 : 1;
    for (int round = 0; round < n_rounds; ++round) {
#pragma omp parallel
#pragma omp single
        make_tasks(is("status") ? &status : NULL);
    }
    printf("rank %d goes on\n", rank);
    check(!is("status") || status.state == COMMTASK_STATE_FAILED, "the status says that it failed");
    check(!is("handler") || n_heard == n_rounds, "the handler has heard of each");
    if (is("function"))
        check(n_called == 1 && class_called == MPI_ERR_RANK, "the function of the communicator is called once");
    const int code = commtask_finalize();
    if (is("returns") || is("function")) check(code == COMMTASK_FAILED, "commtask_finalize tells of failures");
    if (is("status") || is("handler") || is("ierror")) check(code == COMMTASK_OK, commtask_last_error());
    printf("rank %d came to its end\n", rank);
    MPI_Comm_free(&halo);
    MPI_Finalize();
    return 0;
}
