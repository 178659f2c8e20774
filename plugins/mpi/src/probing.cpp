// SPDX-License-Identifier: Apache-2.0
//
// Probes run on the calling thread, after all receives that it posted before have been issued: a
// probe must not see a message that one of these receives matches. The lanes make progress between
// polls.
#include "own.hpp"
#include "sections.hpp"

namespace commtask::interposer {

int own_MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
    if (goes_to_mpi()) return commtask_real_MPI_Probe(source, tag, comm, status);
    int code = MPI_SUCCESS;
    poll_until([&] {
        int is_there = 0;
        code = commtask_real_MPI_Iprobe(source, tag, comm, &is_there, status);
        return code != MPI_SUCCESS || is_there != 0;
    });
    return code;
}

int own_MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
    if (goes_to_mpi()) return commtask_real_MPI_Mprobe(source, tag, comm, message, status);
    int code = MPI_SUCCESS;
    poll_until([&] {
        int is_there = 0;
        code = commtask_real_MPI_Improbe(source, tag, comm, &is_there, message, status);
        return code != MPI_SUCCESS || is_there != 0;
    });
    return code;
}

} // namespace commtask::interposer
