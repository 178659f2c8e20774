// SPDX-License-Identifier: Apache-2.0
//
// A handler's function knows its communicator but not which handler it is, so one of ours stands in for each of the program's.
// Errors that the library itself asked about are kept from it.
#include "errors.hpp"

#include "mpi/errors.hpp"
#include "own.hpp"
#include "sections.hpp"
#include "stand_ins.hpp"

namespace commtask::interposer {
namespace {

constinit stand_ins<MPI_Comm_errhandler_function> programs_handlers;

template <std::size_t Index>
struct handler_function {
    static void call(MPI_Comm* comm, int* code, ...) {
        if (detail::mpi_error_handling::is_quiet()) return detail::mpi_error_handling::keep(*code);
        const detail::lane::refused_waits scope{current.lets_threads_in}; // as in baton_section
        programs_handlers.programs(Index)(comm, code, nullptr);
    }
};

/// What MPI gets for a handler of the program's.
[[nodiscard]] MPI_Errhandler to_mpi(MPI_Errhandler programs) noexcept {
    const MPI_Errhandler ours = detail::mpi_error_handling::returning_fatal();
    return programs == MPI_ERRORS_ARE_FATAL && ours != MPI_ERRHANDLER_NULL ? ours : programs;
}

[[nodiscard]] int get_handler(MPI_Comm comm, MPI_Errhandler* handler) {
    const int code = commtask_real_MPI_Comm_get_errhandler(comm, handler);
    const MPI_Errhandler ours = detail::mpi_error_handling::returning_fatal();
    if (code != MPI_SUCCESS || ours == MPI_ERRHANDLER_NULL || *handler != ours) return code;
    MPI_Errhandler reference = *handler; // only the one that the call added
    commtask_real_MPI_Errhandler_free(&reference);
    *handler = MPI_ERRORS_ARE_FATAL;
    return code;
}

} // namespace

int raise(MPI_Comm comm, int code) {
    const baton_section section;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    if (get_handler(comm, &handler) == MPI_SUCCESS && handler == MPI_ERRORS_ARE_FATAL && current.lets_threads_in) {
        // What stands in for it may not call MPI then. MPI ends the program, in its own words.
        commtask_real_MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    }
    commtask_real_MPI_Comm_call_errhandler(comm, code);
    if (handler != MPI_ERRHANDLER_NULL && handler != MPI_ERRORS_ARE_FATAL && handler != MPI_ERRORS_RETURN) {
        commtask_real_MPI_Errhandler_free(&handler); // the reference that asking added
    }
    return code;
}

int raise(const error_home& home, int code) {
    if (home.window == MPI_WIN_NULL && home.file == MPI_FILE_NULL) return raise(home.comm, code);
    const baton_section section;
    if (home.window != MPI_WIN_NULL) {
        commtask_real_MPI_Win_call_errhandler(home.window, code);
    } else {
        commtask_real_MPI_File_call_errhandler(home.file, code);
    }
    return code;
}

int own_MPI_Comm_create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler) {
    return inside<baton_section>([&] {
        return commtask_real_MPI_Comm_create_errhandler(programs_handlers.stand_in_for<handler_function>(function),
                                                        handler);
    });
}

int own_MPI_Errhandler_create(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler) {
    return own_MPI_Comm_create_errhandler(function, handler);
}

int own_MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
    if (passes_through() && mine.depth == 0) return commtask_real_MPI_Comm_set_errhandler(comm, handler);
    return inside<baton_section>([&] { return commtask_real_MPI_Comm_set_errhandler(comm, to_mpi(handler)); });
}

int own_MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler) { return own_MPI_Comm_set_errhandler(comm, handler); }

int own_MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* handler) {
    return inside<baton_section>([&] { return get_handler(comm, handler); });
}

int own_MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* handler) {
    return own_MPI_Comm_get_errhandler(comm, handler);
}

} // namespace commtask::interposer
