// SPDX-License-Identifier: Apache-2.0
//
// The program's reduction functions. MPI may run them in any call of any thread, and with
// MPI_THREAD_MULTIPLE its global lock is then locked. In such a function, a wait for a task is
// therefore refused in every call.
#include "own.hpp"
#include "sections.hpp"
#include "stand_ins.hpp"

#include "known.hpp"

namespace commtask::interposer {
namespace {

template <typename Function>
constinit stand_ins<Function> programs_functions;

template <std::size_t Index>
struct function {
    static void call(void* in, void* inout, int* n, MPI_Datatype* type) {
        const detail::refused_waits scope{current.has_thread_multiple};
        programs_functions<MPI_User_function>.programs(Index)(in, inout, n, type);
    }
};

#if MPI_VERSION >= 4
template <std::size_t Index>
struct function_with_large_count {
    static void call(void* in, void* inout, MPI_Count* n, MPI_Datatype* type) {
        const detail::refused_waits scope{current.has_thread_multiple};
        programs_functions<MPI_User_function_c>.programs(Index)(in, inout, n, type);
    }
};
#endif

} // namespace

int own_MPI_Op_create(MPI_User_function* programs, int commutes, MPI_Op* operation) {
    MPI_User_function* const ours = programs_functions<MPI_User_function>.stand_in_for<function>(programs);
    return inside<progress_section>([&] { return commtask_real_MPI_Op_create(ours, commutes, operation); });
}

#if MPI_VERSION >= 4
int own_MPI_Op_create_c(MPI_User_function_c* programs, int commutes, MPI_Op* operation) {
    MPI_User_function_c* const ours =
        programs_functions<MPI_User_function_c>.stand_in_for<function_with_large_count>(programs);
    return inside<progress_section>([&] { return commtask_real_MPI_Op_create_c(ours, commutes, operation); });
}
#endif

int own_MPI_Op_free(MPI_Op* operation) {
    known::operation_is_freed();
    return inside<progress_section>([&] { return commtask_real_MPI_Op_free(operation); });
}

} // namespace commtask::interposer
