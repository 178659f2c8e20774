// SPDX-License-Identifier: Apache-2.0
//
// An error handler's function gets its communicator but not its own handle, so each handler of the
// program is replaced by a separate stand-in function. A stand-in does not forward errors of calls
// whose codes the library itself checks.
//
// With MPI_THREAD_MULTIPLE, MPICH calls a handler with its global lock locked, so a handler cannot
// call MPI. The handler of MPI_COMM_WORLD is therefore recorded when it is set, and the program
// ends after its call has returned from MPI.
#include "errors.hpp"

#include "base/log.hpp"
#include "mpi/errors.hpp"
#include "mpi/fatal_errors.hpp"
#include "own.hpp"
#include "persistent.hpp"
#include "sections.hpp"
#include "stand_ins.hpp"

#include <array>
#include <cstdlib>
#include <mutex>
#include <string>
#include <unordered_map>

namespace commtask::interposer {
namespace {

constinit stand_ins<MPI_Comm_errhandler_function> programs_handlers;

/// The handler that the program chose for MPI_COMM_WORLD, and the handlers that it can choose from.
struct chosen_handlers {
    std::mutex mutex; // guards the other members
    std::unordered_map<MPI_Errhandler, MPI_Comm_errhandler_function*>
        functions; ///< An entry is overwritten when MPI reuses the handle.
    MPI_Errhandler worlds = MPI_ERRORS_ARE_FATAL;
    MPI_Comm_errhandler_function* worlds_function = nullptr;
    /// Handlers of freed communicators, each with a reference. The keys are handles that are no
    /// longer valid.
    std::unordered_map<MPI_Comm, MPI_Errhandler> of_freed;
};
chosen_handlers& chosen() {
    static auto* const made = new chosen_handlers; // never destroyed: calls may come during exit
    return *made;
}

/// Given to MPI in place of MPI_ERRORS_ARE_FATAL where the program chose that.
MPI_Errhandler chosen_fatal = MPI_ERRHANDLER_NULL;

template <std::size_t Index>
struct handler_function {
    static void call(MPI_Comm* comm, int* code, ...) {
        if (detail::mpi_error_handling::is_quiet()) return detail::mpi_error_handling::keep(*code);
        // See progress_section for the reason.
        const detail::refused_waits scope{current.has_thread_multiple};
        programs_handlers.programs(Index)(comm, code, nullptr);
    }
};

[[nodiscard]] bool is_fatal(MPI_Errhandler handler) noexcept {
    return handler == MPI_ERRORS_ARE_FATAL || handler == chosen_fatal ||
           handler == detail::mpi_error_handling::returning_fatal();
}

/// Whether a communicator with this handler has no handler of its own and follows MPI_COMM_WORLD's.
[[nodiscard]] bool is_inherited([[maybe_unused]] MPI_Comm comm, [[maybe_unused]] MPI_Errhandler handler) noexcept {
#ifdef MPICH_VERSION
    return comm != MPI_COMM_WORLD && is_fatal(handler) && handler != chosen_fatal;
#else
    return false;
#endif
}

/// A call of the program has failed, and the program has no handler function for it. Called inside
/// MPI.
void end_from_inside(MPI_Comm comm, int code) {
    if (!current.has_thread_multiple) end_program(comm, code);
    if (mine.call != 0 && mine.depth > 0) {
        mine.fatal_comm = comm;
        mine.fatal_code = code;
        return;
    }
    detail::say("an MPI call of the program failed with error code %d, and its communicator has MPI_ERRORS_ARE_FATAL",
                code);
    // lint-allow(ending): the program asked for its end when it left MPI_ERRORS_ARE_FATAL in place.
    std::abort();
}

/// Replaces the runtime's function, for communicators on which the program chose no handler. Called
/// inside MPI.
void on_error_of_none(MPI_Comm comm, int code) {
    if (!is_inherited(comm, MPI_ERRORS_ARE_FATAL)) return end_from_inside(comm, code);
    MPI_Errhandler worlds = MPI_ERRORS_ARE_FATAL;
    MPI_Comm_errhandler_function* function = nullptr;
    {
        const std::lock_guard guard{chosen().mutex};
        worlds = chosen().worlds;
        function = chosen().worlds_function;
    }
    if (worlds == MPI_ERRORS_RETURN) return;
    if (function == nullptr) return end_from_inside(MPI_COMM_WORLD, code);
    MPI_Comm world = MPI_COMM_WORLD;
    const detail::refused_waits scope{current.has_thread_multiple};
    function(&world, &code, nullptr);
}

/// The handler where the program chose MPI_ERRORS_ARE_FATAL. Called inside MPI.
void on_fatal_error(MPI_Comm* comm, int* code, ...) {
    if (detail::mpi_error_handling::is_quiet()) return detail::mpi_error_handling::keep(*code);
    end_from_inside(*comm, *code);
}

/// The handler to give to MPI for a handler of the program. The caller must be allowed to call MPI.
[[nodiscard]] MPI_Errhandler to_mpi(MPI_Errhandler programs) {
    if (programs != MPI_ERRORS_ARE_FATAL || detail::mpi_error_handling::returning_fatal() == MPI_ERRHANDLER_NULL) {
        return programs;
    }
    if (chosen_fatal == MPI_ERRHANDLER_NULL) commtask_real_MPI_Comm_create_errhandler(&on_fatal_error, &chosen_fatal);
    return chosen_fatal;
}

[[nodiscard]] int get_handler(MPI_Comm comm, MPI_Errhandler* handler) {
    const int code = commtask_real_MPI_Comm_get_errhandler(comm, handler);
    if (code != MPI_SUCCESS || *handler == MPI_ERRORS_ARE_FATAL || !is_fatal(*handler)) return code;
    release_handler(*handler);
    *handler = MPI_ERRORS_ARE_FATAL;
    return code;
}

void record_worlds_handler(MPI_Errhandler handler) {
    const std::lock_guard guard{chosen().mutex};
    chosen().worlds = handler;
    const auto found = chosen().functions.find(handler);
    chosen().worlds_function = found == chosen().functions.end() ? nullptr : found->second;
}

/// The name of a communicator in messages.
[[nodiscard]] std::string describe(MPI_Comm comm) {
    if (comm == MPI_COMM_WORLD) return "MPI_COMM_WORLD";
    if (comm == MPI_COMM_SELF) return "MPI_COMM_SELF";
    std::array<char, MPI_MAX_OBJECT_NAME> name{};
    int length = 0;
    commtask_real_MPI_Comm_get_name(comm, name.data(), &length);
    if (length > 0) return name.data();
    int n_ranks = 0;
    MPI_Comm_size(comm, &n_ranks);
    return "a communicator of " + std::to_string(n_ranks) + " ranks";
}

void say_what_failed(const std::string& where, int code) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    detail::say("fatal error in %s on %s: %s", mine.call == 0 ? "a call of MPI" : wrapper_names[mine.call - 1],
                where.c_str(), text.data());
}

/// Calls a handler function of the program for an error on a freed communicator. The function gets
/// a duplicate of MPI_COMM_SELF instead.
void call_handler_of_freed(MPI_Errhandler handler, int code) {
    static MPI_Comm stands_in = MPI_COMM_NULL;
    if (stands_in == MPI_COMM_NULL) commtask_real_MPI_Comm_dup(MPI_COMM_SELF, &stands_in);
    commtask_real_MPI_Comm_set_errhandler(stands_in, handler);
    commtask_real_MPI_Comm_call_errhandler(stands_in, code);
}

/// For a communicator that was not freed.
void call_handler(MPI_Comm comm, int code) {
    MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;
    commtask_real_MPI_Comm_get_errhandler(comm, &handler);
    if (is_inherited(comm, handler)) {
        release_handler(handler);
        return call_handler(MPI_COMM_WORLD, code);
    }
    if (is_fatal(handler)) end_program(comm, code);
    commtask_real_MPI_Comm_call_errhandler(comm, code);
    release_handler(handler);
}

} // namespace

void end_program(MPI_Comm comm, int code) {
    say_what_failed(describe(comm), code);
    commtask_real_MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    commtask_real_MPI_Comm_call_errhandler(comm, code);
    // lint-allow(ending): the error is fatal, and MPI has not ended the program.
    std::abort();
}

int raise(MPI_Comm comm, int code) {
    const progress_section section;
    call_handler(comm, code);
    return code;
}

int raise(const error_owner& owner, int code) {
    const progress_section section;
    if (owner.window != MPI_WIN_NULL) {
        MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;
        commtask_real_MPI_Win_get_errhandler(owner.window, &handler);
        if (handler == MPI_ERRORS_ARE_FATAL) say_what_failed("a window", code);
        commtask_real_MPI_Win_call_errhandler(owner.window, code);
        release_handler(handler);
    } else if (owner.file != MPI_FILE_NULL) {
        MPI_Errhandler handler = MPI_ERRORS_RETURN;
        commtask_real_MPI_File_get_errhandler(owner.file, &handler);
        if (handler == MPI_ERRORS_ARE_FATAL) say_what_failed("a file", code);
        commtask_real_MPI_File_call_errhandler(owner.file, code);
        release_handler(handler);
    } else if (owner.of_freed == MPI_ERRHANDLER_NULL) {
        call_handler(owner.comm, code);
    } else if (is_fatal(owner.of_freed)) {
        say_what_failed("a communicator that was freed", code);
        end_program(MPI_COMM_WORLD, code);
    } else if (owner.of_freed != MPI_ERRORS_RETURN) {
        call_handler_of_freed(owner.of_freed, code);
    }
    return code;
}

void intercept_fatal_errors() { detail::set_fatal_error_function(&on_error_of_none); }

MPI_Errhandler own_handler(MPI_Comm comm) {
    const detail::errors_return scope;
    MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;
    if (commtask_real_MPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return MPI_ERRHANDLER_NULL;
    if (!is_inherited(comm, handler)) return handler;
    release_handler(handler);
    return MPI_ERRHANDLER_NULL;
}

void release_handler(MPI_Errhandler handler) {
    if (handler == MPI_ERRHANDLER_NULL || handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_RETURN) return;
    commtask_real_MPI_Errhandler_free(&handler);
}

void outlive(MPI_Comm freed) {
    if (goes_to_mpi() || freed == MPI_COMM_NULL) return;
    const progress_section section;
    persistents::outlive(freed);
    const MPI_Errhandler handler = own_handler(freed);
    MPI_Errhandler before = MPI_ERRHANDLER_NULL;
    {
        const std::lock_guard guard{chosen().mutex};
        auto& known = chosen().of_freed;
        if (const auto found = known.find(freed); found != known.end()) {
            before = found->second;
            known.erase(found);
        }
        if (handler != MPI_ERRHANDLER_NULL) known.emplace(freed, handler);
    }
    release_handler(before);
}

MPI_Errhandler handler_of_freed(MPI_Comm freed) noexcept {
    const std::lock_guard guard{chosen().mutex};
    const auto found = chosen().of_freed.find(freed);
    return found == chosen().of_freed.end() ? MPI_ERRHANDLER_NULL : found->second;
}

int own_MPI_Comm_create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler) {
    return inside<progress_section>([&] {
        const int code = commtask_real_MPI_Comm_create_errhandler(
            programs_handlers.stand_in_for<handler_function>(function), handler);
        if (code != MPI_SUCCESS) return code;
        const std::lock_guard guard{chosen().mutex};
        chosen().functions[*handler] = function;
        return code;
    });
}

int own_MPI_Errhandler_create(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler) {
    return own_MPI_Comm_create_errhandler(function, handler);
}

int own_MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
    if (goes_to_mpi() && mine.depth == 0) return commtask_real_MPI_Comm_set_errhandler(comm, handler);
    return inside<progress_section>([&] {
        const int code = commtask_real_MPI_Comm_set_errhandler(comm, to_mpi(handler));
        if (code == MPI_SUCCESS && comm == MPI_COMM_WORLD) record_worlds_handler(handler);
        return code;
    });
}

int own_MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler) { return own_MPI_Comm_set_errhandler(comm, handler); }

int own_MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* handler) {
    return inside<progress_section>([&] { return get_handler(comm, handler); });
}

int own_MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* handler) {
    return own_MPI_Comm_get_errhandler(comm, handler);
}

} // namespace commtask::interposer
