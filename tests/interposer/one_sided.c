// SPDX-License-Identifier: Apache-2.0
//
// Request-based operations on windows and nonblocking ones on files, which are tasks under commtask-run if MPI takes them for
// sure: every form of them, between calls that are MPI's own; and what MPI finds wrong, in the call that it finds it in.
#include "probe.h"

enum { n = 64, n_turns = 5 };
static const char* path = "one_sided.data";

static MPI_Win make(int** base) {
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_allocate(n * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, (void*)base, &window);
    memset(*base, 0, n * sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
    return window;
}

// Each kind once in a turn: five tasks.
static void requests(void) {
    int* base = NULL;
    MPI_Win window = make(&base);
    MPI_Datatype every_other;
    MPI_Type_vector(4, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Win_lock_all(0, window);
    for (int turn = 0; turn < n_turns; ++turn) {
        MPI_Request all[4];
        MPI_Request reading;
        int out[8];
        int in[8] = {0};
        int before = -1;
        const int one = 1;
        fill(out, 8, me, turn);
        MPI_Rput(out, 1, every_other, next_rank(), 0, 4, MPI_INT, window, &all[0]);
        MPI_Raccumulate(&one, 1, MPI_INT, 0, 40, 1, MPI_INT, MPI_SUM, window, &all[1]);
        MPI_Raccumulate(&me, 1, MPI_INT, me, 41, 1, MPI_INT, MPI_REPLACE, window, &all[2]);
        MPI_Rget_accumulate(&one, 1, MPI_INT, &before, 1, MPI_INT, next_rank(), 42, 1, MPI_INT, MPI_SUM, window,
                            &all[3]);
        MPI_Win_flush(next_rank(), window);
        MPI_Rget(in, 4, MPI_INT, next_rank(), 0, 4, MPI_INT, window, &reading);
        MPI_Win_flush_local(next_rank(), window);
        for (int i = 0; i < 4; ++i) {
            EXPECT(in[i] == out[2 * i]);
        }
        MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
        MPI_Wait(&reading, MPI_STATUS_IGNORE);
        EXPECT(before == turn && reading == MPI_REQUEST_NULL && all[0] == MPI_REQUEST_NULL);
    }
    MPI_Win_unlock_all(window);
    MPI_Type_free(&every_other);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, window);
    EXPECT(base[41] == me && (me != 0 || base[40] == n_turns * n_ranks));
    MPI_Win_unlock(me, window);
    MPI_Win_free(&window);
}

// What a reduction that combines nothing reads; another layout here and there; to nobody; after the epoch.
static void forms(void) {
    int* base = NULL;
    MPI_Win window = make(&base);
    MPI_Request all[3];
    int in[4] = {0};
    int kept[4] = {7, 7, 7, 7};
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, window);
    fill(base, 4, me, 1);
    MPI_Win_sync(window);
    MPI_Rget_accumulate(NULL, 0, MPI_INT, in, 4, MPI_INT, me, 0, 4, MPI_INT, MPI_NO_OP, window, &all[0]);
    MPI_Rget(kept, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window, &all[1]);
    int flag = 0;
    MPI_Test(&all[1], &flag, MPI_STATUS_IGNORE);
    EXPECT(flag != 0);
    MPI_Rget(kept, 2, pair, me, 0, 4, MPI_INT, window, &all[2]);
    MPI_Win_unlock(me, window);
    MPI_Waitall(3, all, MPI_STATUSES_IGNORE);
    EXPECT(is_filled(in, 4, me, 1) && is_filled(kept, 4, me, 1));
    MPI_Type_free(&pair);
    MPI_Win_free(&window);
}

static int n_handled;
static void count_error(MPI_Win* window, int* code, ...) {
    (void)window;
    (void)code;
    ++n_handled;
}

static void wrong_operations(void) {
    int* base = NULL;
    MPI_Win window = make(&base);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Errhandler counting;
    MPI_Win_create_errhandler(count_error, &counting);
    for (int kind = 0; kind < 2; ++kind) {
        MPI_Win_set_errhandler(window, kind == 0 ? MPI_ERRORS_RETURN : counting);
#ifndef OPEN_MPI // which says nothing of this one, and goes on
        say_class("no epoch", MPI_Rput(&me, 1, MPI_INT, me, 0, 1, MPI_INT, window, &request));
#endif
        MPI_Win_lock_all(0, window);
        say_class("rank", MPI_Rput(&me, 1, MPI_INT, n_ranks, 0, 1, MPI_INT, window, &request));
        say_class("count", MPI_Rput(&me, -1, MPI_INT, me, 0, 1, MPI_INT, window, &request));
        say_class("type", MPI_Rget(&me, 1, MPI_DATATYPE_NULL, me, 0, 1, MPI_INT, window, &request));
        MPI_Win_unlock_all(window);
    }
    say("handled %d", n_handled);
    MPI_Errhandler_free(&counting);
    MPI_Win_free(&window);
}

static MPI_File open_it(int mode) {
    MPI_File file = MPI_FILE_NULL;
    EXPECT(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | mode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    return file;
}

// Independent, by the file's own position, and all together; with what is MPI's own between them.
static void files(void) {
    enum { n_values = 1000 };
    static int out[2 * n_values];
    static int in[2 * n_values];
    MPI_File file = open_it(MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_Request all[2];
    MPI_Status statuses[2];
    MPI_Offset position = -1;
    const MPI_Offset mine = me * (MPI_Offset)sizeof out;
    fill(out, 2 * n_values, me, 3);
    MPI_File_seek(file, mine, MPI_SEEK_SET);
    MPI_File_iwrite(file, out, n_values, MPI_INT, &all[0]);
    MPI_File_get_position(file, &position);
    EXPECT(position == mine + n_values * (MPI_Offset)sizeof(int));
    MPI_File_iwrite_at(file, mine + n_values * (MPI_Offset)sizeof(int), out + n_values, n_values, MPI_INT, &all[1]);
    MPI_Waitall(2, all, statuses);
    say_count("iwrite", &statuses[0], MPI_INT);
    say_count("iwrite_at", &statuses[1], MPI_INT);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    const MPI_Offset theirs = next_rank() * (MPI_Offset)sizeof out;
    MPI_File_iread_at_all(file, theirs, in, n_values, MPI_INT, &all[0]);
    MPI_File_iread_at_all(file, theirs + n_values * (MPI_Offset)sizeof(int), in + n_values, n_values, MPI_INT, &all[1]);
    MPI_Waitall(2, all, statuses);
    say_count("iread_at_all", &statuses[1], MPI_INT);
    EXPECT(is_filled(in, 2 * n_values, next_rank(), 3));
    MPI_File_close(&file);
}

// Each nonblocking access that one rank makes alone, once, of a file that no other has.
static void files_alone(void) {
    static int out[3][n];
    static int in[3][n];
    char name[] = "one_sided.alone.0";
    MPI_File file = MPI_FILE_NULL;
    MPI_Request all[3];
    MPI_Status statuses[3];
    const MPI_Offset bytes = (MPI_Offset)sizeof out[0];
    name[sizeof name - 2] = (char)('0' + me);
    EXPECT(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                         &file) == MPI_SUCCESS);
    for (int i = 0; i < 3; ++i) {
        fill(out[i], n, me, i);
    }
    MPI_File_seek_shared(file, 2 * bytes, MPI_SEEK_SET);
    MPI_File_iwrite(file, out[0], n, MPI_INT, &all[0]);
    MPI_File_iwrite_at(file, bytes, out[1], n, MPI_INT, &all[1]);
    MPI_File_iwrite_shared(file, out[2], n, MPI_INT, &all[2]);
    MPI_Waitall(3, all, statuses);
    say_count("iwrite_shared", &statuses[2], MPI_INT);
    MPI_File_sync(file);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_seek_shared(file, 2 * bytes, MPI_SEEK_SET);
    MPI_File_iread(file, in[0], n, MPI_INT, &all[0]);
    MPI_File_iread_at(file, bytes, in[1], n, MPI_INT, &all[1]);
    MPI_File_iread_shared(file, in[2], n, MPI_INT, &all[2]);
    MPI_Waitall(3, all, statuses);
    say_count("iread_shared", &statuses[2], MPI_INT);
    for (int i = 0; i < 3; ++i) {
        EXPECT(is_filled(in[i], n, me, i));
    }
    MPI_File_close(&file);
}

// Two files, and ranks that begin with different ones.
static void files_in_any_order(void) {
    int out[2][n];
    MPI_File each[2];
    MPI_Request all[2];
    for (int i = 0; i < 2; ++i) {
        char name[] = "one_sided.0";
        name[sizeof name - 2] = (char)('0' + i);
        fill(out[i], n, me, i);
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &each[i]);
    }
    for (int i = 0; i < 2; ++i) {
        const int which = (i + me) % 2;
        MPI_File_iwrite_at_all(each[which], me * (MPI_Offset)sizeof out[0], out[which], n, MPI_INT, &all[which]);
    }
    MPI_Waitall(2, all, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; ++i) {
        MPI_File_close(&each[i]);
    }
}

static void wrong_files(void) {
    int value = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_File file = open_it(MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE);
    say_class("write only", MPI_File_iread_at(file, 0, &value, 1, MPI_INT, &request));
    say_class("offset", MPI_File_iwrite_at(file, -1, &value, 1, MPI_INT, &request));
    say_class("count", MPI_File_iwrite_at(file, 0, &value, -1, MPI_INT, &request));
    MPI_File_close(&file);
}

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {{"requests", requests, 1},
                                              {"forms", forms, 1},
                                              {"wrong_operations", wrong_operations, 1},
                                              {"files", files, 1},
                                              {"files_alone", files_alone, 1},
                                              {"files_in_any_order", files_in_any_order, 1},
                                              {"wrong_files", wrong_files, 1}};
    return probe_main(argc, argv, cases, PROBE_COUNT(cases));
}
