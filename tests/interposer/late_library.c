// SPDX-License-Identifier: Apache-2.0
//
// The library of late_host.c: it ends MPI when it is taken down itself, which is after the destructors of most libraries,
// preloaded ones among them.
#include "probe.h"

static int say_deleted(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)extra;
    say("deleted %d", *(int*)value);
    return MPI_SUCCESS;
}

__attribute__((visibility("default"))) void late_library_start(void);
void late_library_start(void) {
    static int number = 7;
    probe_start(); // this copy of it
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, say_deleted, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &number);
}

__attribute__((destructor)) static void finalize(void) {
    int sum = -1;
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say("sum %d", sum);
    MPI_Finalize();
    say("after");
    fflush(stdout);
}
