// SPDX-License-Identifier: Apache-2.0
//
// operator new fails on one rank in commtask_init, which only marks the program's use of the worker here: all ranks are told so,
// none ends, and the next commtask_init starts.
#include <commtask/commtask.h>
#include <mpi.h>

#include "failing_memory.hpp"
#include "probe.h"

int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    probe_start();
    int code = COMMTASK_OK;
    if (me == 1) {
        const commtask::test::no_memory scope;
        code = commtask_init(nullptr);
    } else {
        code = commtask_init(nullptr);
    }
    say("without memory: %d", code);
    EXPECT(code == COMMTASK_ERR_NO_MEMORY);
    EXPECT(commtask_init(nullptr) == COMMTASK_OK);
    EXPECT(commtask_finalize() == COMMTASK_OK);
    MPI_Finalize();
    return probe_result();
}
