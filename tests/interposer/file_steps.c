// SPDX-License-Identifier: Apache-2.0
//
// Collective accesses of one file that go on while others begin, with the hints that have an MPI make them of several steps: many
// at once, and one whose view is changed behind it. Each step may be a collective of its own inside MPI, so their order must not
// depend on when somebody looks.
#include "probe.h"

enum { n_parts = 8, n_each = 1 << 12 };
static int out[n_parts][n_each];
static int in[n_each];

static MPI_File open_it(void) {
    MPI_File file = MPI_FILE_NULL;
    MPI_Info hints;
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "romio_cb_write", "enable");
    MPI_Info_set(hints, "romio_cb_read", "enable");
    MPI_Info_set(hints, "cb_nodes", "1");
    EXPECT(MPI_File_open(MPI_COMM_WORLD, "steps.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                         hints, &file) == MPI_SUCCESS);
    MPI_Info_free(&hints);
    for (int i = 0; i < n_parts; ++i) {
        fill(out[i], n_each, me, i);
    }
    return file;
}

static MPI_Offset place(int part, int rank) { return (MPI_Offset)(part * n_ranks + rank) * (MPI_Offset)sizeof in; }

static void expect_all(MPI_File file) {
    for (int i = 0; i < n_parts; ++i) {
        MPI_File_read_at(file, place(i, me), in, n_each, MPI_INT, MPI_STATUS_IGNORE);
        EXPECT(is_filled(in, n_each, me, i));
    }
}

static void many_at_once(void) {
    MPI_File file = open_it();
    MPI_Request all[n_parts];
    for (int turn = 0; turn < 5; ++turn) {
        for (int i = 0; i < n_parts; ++i) {
            MPI_File_iwrite_at_all(file, place(i, me), out[i], n_each, MPI_INT, &all[i]);
        }
        for (int i = 0; i < n_parts; ++i) {
            MPI_Wait(&all[i], MPI_STATUS_IGNORE);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    expect_all(file);
    MPI_File_close(&file);
}

static void a_view_behind_each(void) {
    MPI_File file = open_it();
    MPI_Request all[n_parts];
    MPI_Datatype mine;
    MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)sizeof(int), &mine);
    MPI_Type_commit(&mine);
    for (int i = 0; i < n_parts; ++i) {
        MPI_File_set_view(file, place(i, me), MPI_INT, mine, "native", MPI_INFO_NULL);
        MPI_File_iwrite_all(file, out[i], n_each, MPI_INT, &all[i]);
    }
    for (int i = 0; i < n_parts; ++i) {
        MPI_Wait(&all[i], MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&mine);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    expect_all(file);
    MPI_File_close(&file);
}

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {{"many_at_once", many_at_once, 1},
                                              {"a_view_behind_each", a_view_behind_each, 1}};
    return probe_main(argc, argv, cases, PROBE_COUNT(cases));
}
