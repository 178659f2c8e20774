// SPDX-License-Identifier: Apache-2.0
//
// The library's error handler can do little for a call of the program. With MPI_THREAD_MULTIPLE,
// MPICH calls the handler with its global lock locked, so the handler cannot call MPI, not even
// MPI_Abort. It then prints the code and calls abort(), and the launcher ends the job, as with
// MPI_ERRORS_ARE_FATAL.
#include "mpi/errors.hpp"

#include "base/log.hpp"
#include "core/lane.hpp"
#include "mpi/fatal_errors.hpp"
#include "mpi/identity.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_set>
#include <utility>

namespace commtask::detail {
namespace {

thread_local int quiet_depth = 0;
thread_local int kept_code = MPI_SUCCESS;

/// The communicators that have the library's handler. One table per process, since MPI calls the
/// handler without a context.
struct handler_table {
    std::mutex mutex;
    MPI_Errhandler ours = MPI_ERRHANDLER_NULL;
    // Atomic: the next commtask_init writes them, perhaps concurrently with a thread that an
    // earlier context has abandoned inside MPI.
    std::atomic<bool> may_call_mpi{false}; ///< The library's handler may call MPI.
    /// MPI returns MPI_SUCCESS after a function as handler.
    std::atomic<bool> handlers_lose_codes{false};
    /// MPI sets no error in statuses of persistent requests.
    std::atomic<bool> statuses_lack_errors{false};
    /// If set, this function is called for errors that would end the program.
    std::atomic<fatal_error_function*> of_program{nullptr};
    std::unordered_set<MPI_Comm> taken_over;
};

handler_table& handlers() {
    // Never destroyed, since handlers may run during exit. Not on the heap, where an allocation
    // might fail at the start.
    alignas(handler_table) static std::array<std::byte, sizeof(handler_table)> memory;
    static auto* const table = ::new (static_cast<void*>(memory.data())) handler_table;
    return *table;
}

/// The program's handler of the communicator, even if the library's has replaced it.
/// MPI_ERRORS_ARE_FATAL if MPI does not report it.
[[nodiscard]] error_handler own_handler(MPI_Comm comm) noexcept {
    MPI_Errhandler now = MPI_ERRHANDLER_NULL;
    if (MPI_Comm_get_errhandler(comm, &now) != MPI_SUCCESS) return error_handler::fatal;
    const bool is_predefined = now == MPI_ERRORS_ARE_FATAL || now == MPI_ERRORS_RETURN;
#if MPI_VERSION >= 4
    const bool is_abort = now == MPI_ERRORS_ABORT;
#else
    constexpr bool is_abort = false;
#endif
    const bool is_fatal = now == MPI_ERRORS_ARE_FATAL || is_abort || now == handlers().ours;
    // frees the library's reference only
    if (!is_predefined && !is_abort) MPI_Errhandler_free(&now);
    if (is_fatal) return error_handler::fatal;
    return is_predefined ? error_handler::returns : error_handler::function;
}

#if defined(MPICH_VERSION)
/// In MPICH a communicator that inherited the default handler follows the current handler of
/// MPI_COMM_WORLD.
[[nodiscard]] bool follows_world(MPI_Comm comm) noexcept {
    return comm != MPI_COMM_WORLD && own_handler(MPI_COMM_WORLD) != error_handler::fatal;
}
#else
[[nodiscard]] bool follows_world(MPI_Comm /*comm*/) noexcept { return false; }
#endif

#if defined(MPICH_VERSION)
/// True for MPICH 4.3.2 and 5.0.2, not for 4.2.3. Decided by the version, since the behaviour shows
/// only after an error.
[[nodiscard]] bool returns_success_after_functions(const mpi_identity& mpi) {
    const auto [major, minor, patch] = mpi.numbers();
    return mpi.family == "mpich" && (major > 4 || (major == 4 && minor >= 3));
}

/// True for MPICH 4.2.3, 4.3.2 and 5.0.2 and Intel MPI 2021.19, not for MPICH 4.0.2 and 4.1.3.
[[nodiscard]] bool forgets_errors_of_persistent_requests(const mpi_identity& mpi) {
    const auto [major, minor, patch] = mpi.numbers();
    return mpi.family == "intel" || (mpi.family == "mpich" && (major > 4 || (major == 4 && minor >= 2)));
}
#endif

void on_error(MPI_Comm* comm, int* code, ...) {
    if (mpi_error_handling::is_quiet()) return mpi_error_handling::keep(*code);
    if (auto* const of_program = handlers().of_program.load(std::memory_order_relaxed)) return of_program(*comm, *code);
    // The program made this call, and its communicator's handler was MPI_ERRORS_ARE_FATAL.
    if (handlers().may_call_mpi.load(std::memory_order_relaxed)) {
        if (follows_world(*comm)) {
            MPI_Comm_call_errhandler(MPI_COMM_WORLD, *code);
            return;
        }
        MPI_Comm_set_errhandler(*comm, MPI_ERRORS_ARE_FATAL);
        MPI_Comm_call_errhandler(*comm, *code);
    }
    say("an MPI call of the program failed with error code %d, and its communicator has MPI_ERRORS_ARE_FATAL", *code);
    // lint-allow(ending): the program asked for its end when it left MPI_ERRORS_ARE_FATAL in place.
    std::abort();
}

} // namespace

errors_return::errors_return() noexcept : outer_(std::exchange(kept_code, MPI_SUCCESS)) { ++quiet_depth; }

errors_return::~errors_return() {
    --quiet_depth;
    kept_code = outer_;
}

int errors_return::code_of(int code) const noexcept {
    const int kept = std::exchange(kept_code, MPI_SUCCESS);
    return code == MPI_SUCCESS && handlers().handlers_lose_codes.load(std::memory_order_relaxed) ? kept : code;
}

mpi_error_handling::mpi_error_handling() {
    const errors_return scope;
    handler_table& table = handlers();
    if (table.ours == MPI_ERRHANDLER_NULL) MPI_Comm_create_errhandler(&on_error, &table.ours);
#if defined(MPICH_VERSION)
    int thread_level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&thread_level);
    table.may_call_mpi.store(thread_level < MPI_THREAD_MULTIPLE, std::memory_order_relaxed);
    table.handlers_lose_codes.store(returns_success_after_functions(mpi_at_run_time()), std::memory_order_relaxed);
    table.statuses_lack_errors.store(forgets_errors_of_persistent_requests(mpi_at_run_time()),
                                     std::memory_order_relaxed);
#else
    table.may_call_mpi.store(true, std::memory_order_relaxed);
#endif
    take_over(MPI_COMM_WORLD);
    take_over(MPI_COMM_SELF);
}

MPI_Errhandler mpi_error_handling::returning_fatal() noexcept { return handlers().ours; }
bool mpi_error_handling::is_quiet() noexcept { return quiet_depth > 0 || in_progress_call(); }
bool mpi_error_handling::handlers_lose_codes() noexcept {
    return handlers().handlers_lose_codes.load(std::memory_order_relaxed);
}
bool mpi_error_handling::statuses_lack_errors() noexcept {
    return handlers().statuses_lack_errors.load(std::memory_order_relaxed);
}

void set_fatal_error_function(fatal_error_function* function) noexcept {
    handlers().of_program.store(function, std::memory_order_relaxed);
}

void mpi_error_handling::keep(int code) noexcept {
    if (kept_code == MPI_SUCCESS) kept_code = code; // the first error counts
}

int mpi_error_handling::take_over(MPI_Comm comm) noexcept {
    const errors_return scope;
#if defined(MPICH_VERSION)
    // MPI_COMM_SELF follows MPI_COMM_WORLD's handler until the program sets its own, and later
    // versions of MPICH raise errors without a communicator there. With the library's handler on
    // MPI_COMM_SELF, a handler that the program sets for MPI_COMM_WORLD would not take effect.
    if (comm == MPI_COMM_SELF) return MPI_SUCCESS;
#endif
    handler_table& table = handlers();
    MPI_Errhandler before = MPI_ERRHANDLER_NULL;
    if (const int code = MPI_Comm_get_errhandler(comm, &before); code != MPI_SUCCESS) return code;
    if (before == MPI_ERRORS_RETURN) return MPI_SUCCESS;
    // Frees the library's reference only.
    if (before != MPI_ERRORS_ARE_FATAL) return MPI_Errhandler_free(&before);
    try {
        const std::lock_guard guard{table.mutex};
        table.taken_over.insert(comm);
    } catch (const std::bad_alloc&) {
        return MPI_ERR_NO_MEM;
    }
    return MPI_Comm_set_errhandler(comm, table.ours);
}

mpi_error_handling::choice mpi_error_handling::choice_for(MPI_Comm comm) noexcept {
    const errors_return scope;
    const error_handler own = own_handler(comm);
    if (own != error_handler::fatal || !follows_world(comm)) return {own, comm};
    return {own_handler(MPI_COMM_WORLD), MPI_COMM_WORLD};
}

void mpi_error_handling::forget(MPI_Comm comm) noexcept {
    handler_table& table = handlers();
    const std::lock_guard guard{table.mutex};
    table.taken_over.erase(comm);
}

mpi_error_handling::~mpi_error_handling() {
    const errors_return scope;
    handler_table& table = handlers();
    std::unordered_set<MPI_Comm> taken_over;
    {
        const std::lock_guard guard{table.mutex};
        taken_over.swap(table.taken_over);
    }
    for (const MPI_Comm comm : taken_over) {
        MPI_Errhandler now = MPI_ERRHANDLER_NULL;
        if (MPI_Comm_get_errhandler(comm, &now) != MPI_SUCCESS) continue;
        if (now == table.ours) MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    }
}

} // namespace commtask::detail
