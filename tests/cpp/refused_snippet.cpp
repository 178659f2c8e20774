// SPDX-License-Identifier: Apache-2.0
//
// A program of docs/cpp.md whose n-th post is refused, for each n, on all ranks alike: the exception passes the variables of the page,
// and no task may write to them afterwards. The preset asan sees one that does; here it is enough that nothing hangs, and
// that the library can begin anew.
#include <commtask/commtask.hpp>

#include <vector>

#include <dlfcn.h>

namespace {

int n_until_refusal = 0; ///< Of the thread that runs the page's program; 0: none.
thread_local bool is_programs_thread = false;

} // namespace

extern "C" {

/// The page's MPI_Init_thread and MPI_Finalize: MPI is there for all runs of it.
int begin_page(int* /*argc*/, char*** /*argv*/, int level, int* given) {
    *given = level;
    return MPI_SUCCESS;
}
int end_page() { return MPI_SUCCESS; }

/// The page's own main(), by the linker's --wrap.
int __real_main(int argc, char** argv);
int __wrap_main(int argc, char** argv);

/// Between the program and the library. A noop waits for tasks: whether a coroutine needs one is a matter of time, and the ranks are to be
/// refused alike.
__attribute__((visibility("default"))) int
commtask_post_operation(const commtask_op* operation, const commtask_options* options, commtask_t* task) noexcept {
    static auto* const library =
        reinterpret_cast<decltype(&commtask_post_operation)>(dlsym(RTLD_NEXT, "commtask_post_operation"));
    const bool counts = is_programs_thread && operation->kind != COMMTASK_OP_NOOP;
    if (counts && n_until_refusal > 0 && --n_until_refusal == 0) return COMMTASK_ERR_ARGUMENT;
    return library(operation, options, task);
}
}

namespace {

/// Messages whose receive was refused.
void receive_strays() {
    std::vector<char> nowhere(1U << 16U);
    for (int i = 0; i < 100; ++i) {
        int is_there = 0;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &status);
        if (is_there == 0) continue;
        MPI_Recv(nowhere.data(), static_cast<int>(nowhere.size()), MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG,
                 MPI_COMM_WORLD, &status);
    }
}

} // namespace

int __wrap_main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    PMPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    is_programs_thread = true;
    int result = 0;
    bool was_refused = true;
    int n_caught = 0;
    for (int n = 1; was_refused; ++n) {
        n_until_refusal = n;
        int code = 0;
        try {
            code = __real_main(argc, argv);
        } catch (const commtask::error& refused) {
            ++n_caught;
            if (refused.code() != COMMTASK_ERR_ARGUMENT) result = 1;
        }
        was_refused = n_until_refusal == 0;
        if (!was_refused && code != 0) result = 1; // the last run is the page's own
        n_until_refusal = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        receive_strays();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (n_caught == 0) result = 1;
    PMPI_Finalize();
    return result;
}
