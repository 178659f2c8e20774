// SPDX-License-Identifier: Apache-2.0
//
// Arrays in which requests that become tasks lie beside those that stay MPI's own: MPI_Ialltoallw, which any call of MPI brings
// forward, and nonblocking collective writes, which in MPICH only a call that is given just them does. The other rank finishes one
// kind before it begins the other, so whoever looks at one kind alone never ends.
#include "probe.h"

#include <string.h>

enum { n = 1 << 14, n_each = 16 };
static int written[n];
static int got[n];
static const char* path = "mixtures.data";

// Ranks in turn, so that a collective write takes several steps on each of them.
static MPI_File open_it(void) {
    MPI_File file = MPI_FILE_NULL;
    MPI_Datatype stripes;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    EXPECT(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) == MPI_SUCCESS);
    MPI_Type_vector(n / n_each, n_each, n_each * n_ranks, MPI_INT, &stripes);
    MPI_Type_commit(&stripes);
    MPI_File_set_view(file, (MPI_Offset)(me * n_each * (int)sizeof(int)), MPI_INT, stripes, "native", info);
    MPI_Type_free(&stripes);
    MPI_Info_free(&info);
    return file;
}

static void close_it(MPI_File file) {
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        MPI_File_delete(path, MPI_INFO_NULL);
    }
}

static bool is_written(MPI_File file) {
    memset(got, 0, sizeof got);
    MPI_File_read_at(file, 0, got, n, MPI_INT, MPI_STATUS_IGNORE);
    return memcmp(got, written, sizeof got) == 0;
}

// How rank 0 comes to the end of its array.
static void by_waitall(int count, MPI_Request* requests) { MPI_Waitall(count, requests, MPI_STATUSES_IGNORE); }
static void by_testall(int count, MPI_Request* requests) {
    for (int flag = 0; !flag;) {
        MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
    }
}
static void by_waitany(int count, MPI_Request* requests) {
    for (int index = 0; index != MPI_UNDEFINED;) {
        MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
    }
}
static void by_testany(int count, MPI_Request* requests) {
    for (int index = 0, flag = 0; !flag || index != MPI_UNDEFINED;) {
        MPI_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE);
    }
}
static void by_waitsome(int count, MPI_Request* requests) {
    int indices[4];
    for (int n_ended = 0; n_ended != MPI_UNDEFINED;) {
        MPI_Waitsome(count, requests, &n_ended, indices, MPI_STATUSES_IGNORE);
    }
}
static void by_testsome(int count, MPI_Request* requests) {
    int indices[4];
    for (int n_ended = 0; n_ended != MPI_UNDEFINED;) {
        MPI_Testsome(count, requests, &n_ended, indices, MPI_STATUSES_IGNORE);
    }
}
typedef void (*come_to_the_end)(int count, MPI_Request* requests);

static void message_after_the_write(come_to_the_end end) {
    static int message[n];
    MPI_File file = open_it();
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    fill(written, n, me, 1);
    if (me == 0) {
        MPI_Irecv(message, n, MPI_INT, 1, 5, MPI_COMM_WORLD, &requests[0]);
    }
    MPI_File_iwrite_at_all(file, 0, written, n, MPI_INT, &requests[1]);
    if (me == 0) {
        end(2, requests);
        EXPECT(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
        EXPECT(is_filled(message, n, 1, 2));
    } else {
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        if (me == 1) {
            fill(message, n, 1, 2);
            MPI_Send(message, n, MPI_INT, 0, 5, MPI_COMM_WORLD);
        }
    }
    EXPECT(is_written(file));
    close_it(file);
}

static void message_after_the_write_waitall(void) { message_after_the_write(by_waitall); }
static void message_after_the_write_testall(void) { message_after_the_write(by_testall); }
static void message_after_the_write_waitany(void) { message_after_the_write(by_waitany); }
static void message_after_the_write_testany(void) { message_after_the_write(by_testany); }
static void message_after_the_write_waitsome(void) { message_after_the_write(by_waitsome); }
static void message_after_the_write_testsome(void) { message_after_the_write(by_testsome); }

// Two requests of MPI's own; with a third that is a task, or without.
static void exchange_after_the_write(bool has_task, come_to_the_end end) {
    enum { most_ranks = 8 };
    MPI_Comm apart;
    MPI_Datatype types[most_ranks];
    int counts[most_ranks];
    int places[most_ranks];
    int out[most_ranks];
    int in[most_ranks];
    int barrier_is = 0;
    for (int i = 0; i < n_ranks; ++i) {
        types[i] = MPI_INT;
        counts[i] = 1;
        places[i] = i * (int)sizeof(int);
        out[i] = me * 100 + i;
        in[i] = -1;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &apart);
    MPI_File file = open_it();
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    fill(written, n, me, 3);
    if (me == 0) {
        MPI_Ialltoallw(out, counts, places, types, in, counts, places, types, apart, &requests[0]);
        MPI_File_iwrite_at_all(file, 0, written, n, MPI_INT, &requests[1]);
        if (has_task) {
            MPI_Irecv(&barrier_is, 1, MPI_INT, 1, 6, apart, &requests[2]);
        }
        end(3, requests);
    } else {
        MPI_File_iwrite_at_all(file, 0, written, n, MPI_INT, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Ialltoallw(out, counts, places, types, in, counts, places, types, apart, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        if (has_task && me == 1) {
            MPI_Send(&me, 1, MPI_INT, 0, 6, apart);
        }
    }
    for (int i = 0; i < n_ranks; ++i) {
        EXPECT(in[i] == i * 100 + me);
    }
    EXPECT(me != 0 || !has_task || barrier_is == 1);
    EXPECT(is_written(file));
    close_it(file);
    MPI_Comm_free(&apart);
}

static void exchange_after_the_write_waitall(void) { exchange_after_the_write(false, by_waitall); }
static void all_three_kinds_waitall(void) { exchange_after_the_write(true, by_waitall); }
static void all_three_kinds_testall(void) { exchange_after_the_write(true, by_testall); }

// A request that is none: MPI says so although nothing has ended, and who waits for any is told.
static void wrong_request_beside_an_open_one(void) {
#ifndef OPEN_MPI
    int message = -1;
    int index = 0;
    int flag = 1;
    MPI_Request requests[2];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Irecv(&message, 1, MPI_INT, previous_rank(), 8, MPI_COMM_WORLD, &requests[0]);
    requests[1] = (MPI_Request)MPI_COMM_WORLD;
    say_class("testany", MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE));
    say_class("waitany", MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD); // until here the other request must be open on both ranks
    MPI_Send(&me, 1, MPI_INT, next_rank(), 8, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    EXPECT(message == previous_rank());
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
#endif
}

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {
        {"message_after_the_write_waitall", message_after_the_write_waitall, 2},
        {"message_after_the_write_testall", message_after_the_write_testall, 2},
        {"message_after_the_write_waitany", message_after_the_write_waitany, 2},
        {"message_after_the_write_testany", message_after_the_write_testany, 2},
        {"message_after_the_write_waitsome", message_after_the_write_waitsome, 2},
        {"message_after_the_write_testsome", message_after_the_write_testsome, 2},
        {"exchange_after_the_write_waitall", exchange_after_the_write_waitall, 2},
        {"all_three_kinds_waitall", all_three_kinds_waitall, 2},
        {"all_three_kinds_testall", all_three_kinds_testall, 2},
        {"wrong_request_beside_an_open_one", wrong_request_beside_an_open_one, 1},
    };
    return probe_main(argc, argv, cases, PROBE_COUNT(cases));
}
