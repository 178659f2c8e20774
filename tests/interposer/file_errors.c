// SPDX-License-Identifier: Apache-2.0
//
// A write that fails after it has begun (failing_file.c): the call that waits for it calls the error handler of the file and
// no other, whether it waits for that request or for many. The handlers are set once the write is posted, since with a
// function as handler it would be MPI's own. Which class the error has is MPI's business: MPICH has one for all that a query
// function of a generalized request finds.
#include "probe.h"

static int n_of_file;
static int n_of_world;

static void count_file(MPI_File* file, int* code, ...) {
    (void)file;
    (void)code;
    ++n_of_file;
}
static void count_world(MPI_Comm* comm, int* code, ...) {
    (void)comm;
    (void)code;
    ++n_of_world;
}

static int class_of(int code) {
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    return class;
}

static MPI_File open_it(void) {
    MPI_File file = MPI_FILE_NULL;
    EXPECT(MPI_File_open(MPI_COMM_SELF, me == 0 ? "errors.0" : "errors.1",
                         MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                         &file) == MPI_SUCCESS);
    n_of_file = n_of_world = 0;
    return file;
}

static void in_an_array(void) {
    MPI_Request all[3];
    MPI_Status statuses[3];
    MPI_Errhandler of_file;
    MPI_Errhandler of_world;
    int got = -1;
    MPI_File file = open_it();
    MPI_File_create_errhandler(count_file, &of_file);
    MPI_Comm_create_errhandler(count_world, &of_world);
    MPI_Irecv(&got, 1, MPI_INT, previous_rank(), 1, MPI_COMM_WORLD, &all[0]);
    MPI_File_iwrite_at(file, 0, &me, 1, MPI_INT, &all[1]);
    MPI_Isend(&me, 1, MPI_INT, next_rank(), 1, MPI_COMM_WORLD, &all[2]);
    MPI_File_set_errhandler(file, of_file);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, of_world);
    EXPECT(class_of(MPI_Waitall(3, all, statuses)) == MPI_ERR_IN_STATUS);
    EXPECT(statuses[1].MPI_ERROR != MPI_SUCCESS && class_of(statuses[1].MPI_ERROR) != MPI_ERR_PENDING);
    EXPECT(statuses[0].MPI_ERROR == MPI_SUCCESS && statuses[2].MPI_ERROR == MPI_SUCCESS && got == previous_rank());
    EXPECT(n_of_file == 1 && n_of_world == 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&of_world);
    MPI_Errhandler_free(&of_file);
    MPI_File_close(&file);
}

static void alone(void) {
    MPI_Request request;
    MPI_Status status;
    MPI_Errhandler of_file;
    int index = -1;
    MPI_File file = open_it();
    MPI_File_create_errhandler(count_file, &of_file);
    for (int way = 0; way < 2; ++way) {
        MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
        MPI_File_iwrite_at(file, 0, &me, 1, MPI_INT, &request);
        MPI_File_set_errhandler(file, of_file);
        const int code = way == 0 ? MPI_Wait(&request, &status) : MPI_Waitany(1, &request, &index, &status);
        EXPECT(code != MPI_SUCCESS && request == MPI_REQUEST_NULL && n_of_file == way + 1);
    }
    MPI_Errhandler_free(&of_file);
    MPI_File_close(&file);
}

// The default handler of a file returns, that of MPI_COMM_WORLD ends the program.
static void by_default(void) {
    MPI_Request request;
    MPI_File file = open_it();
    MPI_File_iwrite_at(file, 0, &me, 1, MPI_INT, &request);
    EXPECT(class_of(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE)) == MPI_ERR_IN_STATUS);
    MPI_File_close(&file);
}

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {
        {"in_an_array", in_an_array, 1}, {"alone", alone, 1}, {"by_default", by_default, 1}};
    return probe_main(argc, argv, cases, PROBE_COUNT(cases));
}
