// SPDX-License-Identifier: Apache-2.0
//
// Programs for TAMPI initialize MPI only. commtask starts and ends with MPI if the requested thread
// level says that tasks will communicate; a program that requests less gets plain MPI.
#include "state.hpp"

#include <TAMPI.h>
#include <commtask/omp.h>
#include <commtask/omp_entries.h>

namespace commtask::tampi {
std::atomic<bool> is_wanted{false};
std::atomic<bool> is_started{false};
std::atomic<bool> is_blocking{false};

void begin(int required, int* provided) noexcept {
    is_wanted = required >= MPI_THREAD_MULTIPLE;
    if (!is_wanted || *provided < MPI_THREAD_MULTIPLE) {
        return;
    }
    if (!is_started) {
        // commtask_init prints on stderr why it cannot start; `provided` tells the program that it
        // uses MPI without tasks.
        if (commtask_is_initialized() == 0 && commtask_init(nullptr) != COMMTASK_OK) {
            *provided = MPI_THREAD_SINGLE;
            return;
        }
        is_started = true;
        if (commtask_omp_bind_check() != COMMTASK_OK) {
            commtask_print(commtask_omp_last_error());
        }
    }
    if (required >= MPI_TASK_MULTIPLE && commtask_omp_bind_check() == COMMTASK_OK) {
        commtask_omp_untie_();
        is_blocking = true;
        *provided = MPI_TASK_MULTIPLE;
    }
}

void end() noexcept {
    is_blocking = false;
    if (is_started.exchange(false)) {
        (void)commtask_finalize(); // commtask_finalize prints the incomplete tasks itself
    }
}
} // namespace commtask::tampi

using namespace commtask::tampi;

extern "C" {

COMMTASK_TAMPI_API_ int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    const int code =
        PMPI_Init_thread(argc, argv, required < MPI_TASK_MULTIPLE ? required : MPI_THREAD_MULTIPLE, provided);
    if (code == MPI_SUCCESS) {
        begin(required, provided);
    }
    return code;
}

COMMTASK_TAMPI_API_ int MPI_Query_thread(int* provided) {
    const int code = PMPI_Query_thread(provided);
    if (code == MPI_SUCCESS && is_blocking) {
        *provided = MPI_TASK_MULTIPLE;
    }
    return code;
}

COMMTASK_TAMPI_API_ int MPI_Finalize() {
    end();
    return PMPI_Finalize();
}

int TAMPI_Blocking_enabled(int* flag) {
    *flag = is_blocking ? 1 : 0;
    return MPI_SUCCESS;
}

int TAMPI_Nonblocking_enabled(int* flag) {
    *flag = is_started && commtask_omp_bind_check() == COMMTASK_OK ? 1 : 0;
    return MPI_SUCCESS;
}
}
