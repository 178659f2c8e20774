// SPDX-License-Identifier: Apache-2.0
//
// A program that starts MPI and leaves MPI_Finalize to the destructor of a library (late_library.c): the interposer's own
// objects must outlive that.
#include "probe.h"

void late_library_start(void);

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    probe_start();
    late_library_start();
    say("main is over");
    return probe_result();
}
