// SPDX-License-Identifier: Apache-2.0
//
// Error messages are built only after an error, so this code may allocate memory and, where the
// calling thread may call MPI, ask MPI for names. MPI_Abort is called on a thread that has no lock;
// if MPI_Abort does not return, a signal ends the process.
#include "api/failures.hpp"

#include "api/context.hpp"
#include "api/plan_start.hpp"
#include "base/last_error.hpp"
#include "base/log.hpp"
#include "base/tuning.hpp"
#include "core/operation_traits.hpp"
#include "core/plan.hpp"
#include "mpi/describe.hpp"
#include "mpi/one_sided.hpp"
#include "mpi/status_fields.hpp"

#include <commtask/frontend.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace commtask::detail {
namespace {

/// Outcomes that the program does not see. relaxed: read at the end, after every counting thread
/// has ended.
struct counts {
    /// Printed messages, including those of refusals that the program sees.
    std::atomic<unsigned> n_printed{0};
    std::atomic<unsigned> failed{0};
    std::atomic<unsigned> canceled{0};
};
counts unseen;

constexpr unsigned most_printed = 10;

using message_buffer = std::array<char, 1024>;

/// Passed from before to after the callback of a task that did not complete.
struct telling {
    const task* of = nullptr; ///< Null: the program was told, or the error handler was called.
    task_state how = task_state::open;
    message_buffer message{};
    /// Saves commtask_last_error() of this thread, which the program may still read.
    message_buffer earlier{};
};
thread_local constinit telling now;

void copy_last_message(message_buffer& to) noexcept { std::snprintf(to.data(), to.size(), "%s", last_message()); }

/// "rank 1: ", or empty if the rank is not known.
[[nodiscard]] std::string_view rank_text() noexcept {
    constexpr std::string_view begins_all = "commtask: ";
    return log_prefix().substr(begins_all.size());
}

[[nodiscard]] bool is_mpi_alive() noexcept {
    int is_initialized = 0;
    int is_finalized = 0;
    MPI_Initialized(&is_initialized);
    MPI_Finalized(&is_finalized);
    return is_initialized != 0 && is_finalized == 0;
}

/// The delay between the message that says why the job ends and MPI_Abort. Without it MPICH's
/// launcher drops the last line of one of 30 jobs. A thread also waits at most this long until it
/// may call MPI.
constexpr long wait_before_abort_ns = 200'000'000;

/// After so many seconds in MPI_Abort the process ends without it. A shorter limit would end the
/// process before a slow launcher has received the abort.
constexpr unsigned abort_limit_s = 3;

/// Lets the calling thread call MPI. The wait is short: only the error handler is queried and the
/// job ended.
class mpi_caller {
public:
    explicit mpi_caller(context* runtime) noexcept {
        if (runtime == nullptr || runtime->thread_level() == MPI_THREAD_MULTIPLE) return;
        if (in_progress_call() || runtime->lanes().has_lock()) return;
        may_call_ = runtime->lanes().try_acquire_all_locks(now_ns() + wait_before_abort_ns);
        if (may_call_) held_ = &runtime->lanes();
    }
    mpi_caller(const mpi_caller&) = delete;
    mpi_caller& operator=(const mpi_caller&) = delete;
    ~mpi_caller() {
        if (held_ != nullptr) held_->release_all_locks();
    }
    /// @return false if another thread has been inside MPI for too long
    [[nodiscard]] bool may_call() const noexcept { return may_call_; }

private:
    lane_set* held_ = nullptr;
    bool may_call_ = true;
};

using choice = mpi_error_handling::choice;

[[nodiscard]] error_handler handler_of(MPI_File file) noexcept {
    MPI_Errhandler its = MPI_ERRORS_RETURN; // the default of a file
    MPI_File_get_errhandler(file, &its);
    if (its != MPI_ERRORS_ARE_FATAL && its != MPI_ERRORS_RETURN) MPI_Errhandler_free(&its);
    return its == MPI_ERRORS_ARE_FATAL ? error_handler::fatal : error_handler::returns;
}

/// Called on a thread that may call MPI.
/// @param comm_is_bad  MPI must not be asked about the communicator
[[nodiscard]] choice choice_of(const commtask_op* op, bool comm_is_bad) noexcept {
    const bool has_comm = op != nullptr && !comm_is_bad && op->comm != MPI_COMM_NULL;
    const MPI_Comm comm = has_comm ? op->comm : MPI_COMM_WORLD;
    const errors_return scope;
    if (op != nullptr && operation_of(op->kind).takes_file) return {handler_of(file_of(*op)), comm};
    context* const runtime = context::running();
    if (op != nullptr && operation_of(op->kind).takes_window && runtime != nullptr) {
        // While the window is registered, the library has replaced the program's error handler.
        const auto window = runtime->windows().find(window_of(*op));
        if (window) {
            const bool is_fatal = window->handler_before == MPI_ERRORS_ARE_FATAL;
            return {is_fatal ? error_handler::fatal : error_handler::returns, MPI_COMM_WORLD};
        }
    }
    return mpi_error_handling::choice_for(comm);
}

/// One thread ends the job. MPI_Abort ends the process by exit(). OpenMP's exit handlers may wait
/// for the threads of a team, or free data that those threads use. A handler registered here
/// therefore ends the process before them. With MPICH the end never returns if another rank is in
/// MPI_Finalize; the alarm then ends the process.
[[noreturn]] void end_job(MPI_Comm comm, int error_class) noexcept {
    static std::atomic<int> exit_code{MPI_SUCCESS}; // any other value: a thread is ending the job
    int none = MPI_SUCCESS;
    while (!exit_code.compare_exchange_strong(none, error_class) && none != MPI_SUCCESS) pause();
    const timespec until_read{0, wait_before_abort_ns};
    nanosleep(&until_read, nullptr);
    std::signal(SIGALRM, [](int /*signal*/) { std::_Exit(exit_code.load()); });
    alarm(abort_limit_s);
    std::atexit([] {
        std::fflush(stdout);
        std::_Exit(exit_code.load());
    });
    // lint-allow(ending): the program asked for its end when it left MPI_ERRORS_ARE_FATAL in place.
    if (is_mpi_alive()) MPI_Abort(comm, error_class);
    // lint-allow(ending): as above, without MPI.
    std::abort();
}

/// @param message  begins with the rank, or with a prefix that commtask_print accepts
void print_message(const char* message) noexcept {
    const bool has_rank = !rank_text().empty() && std::string_view{message}.starts_with(rank_text());
    commtask_print(message + (has_rank ? rank_text().size() : 0));
}

void print_if_few(const char* message) noexcept {
    if (unseen.n_printed.fetch_add(1, std::memory_order_relaxed) < most_printed) print_message(message);
}

/// The program does not see this outcome.
void follow(const choice& wanted, int error_class, const char* message) noexcept {
    unseen.failed.fetch_add(1, std::memory_order_relaxed);
    if (wanted.handler != error_handler::fatal) return print_if_few(message);
    print_message(message);
    end_job(wanted.comm, error_class);
}

/// Whether the program sees how the task ends. A callback with COMMTASK_CALLBACK_RELAYS belongs to
/// a front end, which says itself whether it told the program.
[[nodiscard]] bool is_observed(const task& which) noexcept {
    if ((which.flags() & (flag_has_handle | flag_is_call | flag_has_handler)) != 0) return true;
    if (!which.has_extras()) return false;
    const bool has_callback = which.extras.callback != nullptr && (which.flags() & COMMTASK_CALLBACK_RELAYS) == 0;
    return has_callback || which.extras.user_status != nullptr ||
           (which.is_member() && which.member->of->has_callback_for(*which.member));
}

/// The failed member, if the task is the run of a plan; otherwise the task itself.
[[nodiscard]] const task& failed_part(const task& which) noexcept {
    return which.is_run() && which.run.failed_member != nullptr ? *which.run.failed_member : which;
}

/// MPI's text for an error code, as one line.
[[nodiscard]] std::string mpi_text(int code) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) return "error code " + std::to_string(code);
    std::string line{text.data()};
    std::ranges::replace(line, '\n', ' ');
    return line;
}

/// The size in bytes of a receive's buffer; -1: the operation is no receive.
[[nodiscard]] std::int64_t room_of(const task& which, const transport& below) noexcept {
    std::int64_t room = -1;
    // The program may have reused its lists.
    if (operation_of(which.op.kind).has_dests) return room;
    below.each_message(which.op, [&](const message_shape& each) {
        if (each.is_received) room = each.bytes;
    });
    return room;
}

/// Whether MPI gave the length of a truncated message. MPICH leaves the old value in the status.
[[nodiscard]] bool knows_length(const task& which, std::int64_t room) noexcept {
    return !status_of_mpich<MPI_Status> && which.result.bytes > room;
}

/// "rank 1: recv of 1 MPI_INT from rank 0, tag 7, halo, created at halo.c:50, failed: it has room
/// for 4 bytes and got 16: ..."
[[nodiscard]] std::string failure_text(const task& which) {
    const errors_return scope;
    const transport& below = which.queue->served_by->engine.below();
    std::string text = std::string{rank_text()} + below.describe(which) + ", failed: ";
    const bool is_cut = which.result.error_class == MPI_ERR_TRUNCATE;
    if (const std::int64_t room = is_cut ? room_of(which, below) : -1; room >= 0) {
        text += "it has room for " + std::to_string(room) + " bytes and got " +
                (knows_length(which, room) ? std::to_string(which.result.bytes) : "more") + ": ";
    }
    return text + mpi_text(which.result.error);
}

[[nodiscard]] std::string cancel_text(const task& which, task_state how) {
    return std::string{rank_text()} + which.queue->served_by->engine.below().describe(which) + ", was canceled" +
           (how == task_state::abandoned ? ": commtask_finalize abandoned it" : "");
}

[[nodiscard]] std::string comm_text(const commtask_op& op, context* runtime, bool may_ask_mpi) {
    if (op.comm == MPI_COMM_NULL) return operation_of(op.kind).takes_window ? "a window" : "MPI_COMM_NULL";
    const comm_queue* const queue = runtime != nullptr ? runtime->comms().find(op.comm) : nullptr;
    if (queue != nullptr) return queue->name;
    std::array<char, MPI_MAX_OBJECT_NAME> name{};
    int length = 0;
    const bool is_named = runtime == nullptr && may_ask_mpi &&
                          MPI_Comm_get_name(op.comm, name.data(), &length) == MPI_SUCCESS && length > 0;
    return is_named ? name.data() : "a communicator without tasks";
}

/// Called once per task, before the task's successors are released and before a front end lets the
/// program continue.
void ask_handler() noexcept {
    const task* const which = std::exchange(now.of, nullptr);
    // The run of a plan reports for its members.
    if (which == nullptr || which->is_member() || is_observed(*which)) return;
    if (now.how == task_state::canceled) {
        unseen.canceled.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    const task& failed = failed_part(*which);
    if (&failed != which && is_observed(failed)) return;
    const bool comm_is_bad = !failed.queue->serves(failed.op.comm);
    follow(choice_of(&failed.op, comm_is_bad), failed.result.error_class, now.message.data());
}

} // namespace

void task_failures::before_callback(const task& which, task_state how) noexcept {
    copy_last_message(now.earlier);
    now.how = how;
    now.of = how == task_state::abandoned ? nullptr : &which;
    try {
        if (how == task_state::failed) {
            static_cast<void>(refuse(COMMTASK_FAILED, "%s", failure_text(failed_part(which)).c_str()));
        } else {
            static_cast<void>(refuse(COMMTASK_CANCELED, "%s", cancel_text(which, how).c_str()));
        }
    } catch (const std::bad_alloc&) {
        static_cast<void>(
            refuse(COMMTASK_FAILED, "a task failed or was canceled, and there is no memory to say which"));
    }
    copy_last_message(now.message);
}

void task_failures::after_callback() noexcept {
    ask_handler();
    static_cast<void>(refuse(COMMTASK_OK, "%s", now.earlier.data()));
}

int name_refused(int code, const commtask_op* operation) noexcept {
    const bool is_own = operation != nullptr && (static_cast<std::uint32_t>(operation->reserved) & flag_is_call) != 0;
    if (is_own) return code;
    try {
        const std::string reason = last_message();
        context* const runtime = context::running();
        const errors_return scope;
        bool may_ask_mpi = false;
        if (runtime != nullptr) {
            may_ask_mpi = runtime->thread_level() == MPI_THREAD_MULTIPLE || in_progress_call();
        } else if (is_mpi_alive()) {
            may_ask_mpi = true;
            int rank = 0;
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
            set_log_rank(rank);
        }
        std::string text = operation == nullptr ? "a task" : describe(*operation, may_ask_mpi);
        if (operation != nullptr && !starts_plan(*operation)) {
            text += ", " + comm_text(*operation, runtime, may_ask_mpi);
        }
        return refuse(code, "%s%s was refused: %s", std::string{rank_text()}.c_str(), text.c_str(), reason.c_str());
    } catch (const std::bad_alloc&) {
        return code; // nothing to prepend
    }
}

int conclude_failures(int code) noexcept {
    const unsigned n_failed = unseen.failed.exchange(0, std::memory_order_relaxed);
    const unsigned n_canceled = unseen.canceled.exchange(0, std::memory_order_relaxed);
    unseen.n_printed.store(0, std::memory_order_relaxed);
    if (n_failed == 0) return code;
    message_buffer text{};
    const int length = std::snprintf(text.data(), text.size(), "%u %s failed or %s refused%s", n_failed,
                                     n_failed == 1 ? "task" : "tasks", n_failed == 1 ? "was" : "were",
                                     n_failed > most_printed ? "; the first 10 are named above" : "");
    if (n_canceled > 0) {
        const auto used = static_cast<std::size_t>(length);
        std::snprintf(&text[used], text.size() - used, "; %u %s canceled, which came after such a task", n_canceled,
                      n_canceled == 1 ? "task was" : "tasks were");
    }
    say("%s", text.data());
    return code == COMMTASK_OK ? refuse(COMMTASK_FAILED, "%s", text.data()) : code;
}

} // namespace commtask::detail

using namespace commtask::detail;

int commtask_frontend_set_error(int code, const commtask_op* operation, const char* reason) noexcept {
    return name_refused(refuse(code, "%s", reason), operation);
}

void commtask_frontend_describe(const commtask_op* operation, const char* file, int line, char* text,
                                size_t size_bytes) noexcept {
    text[0] = '\0';
    try {
        const std::string whole = describe(*operation, false) + describe({file, line});
        std::snprintf(text, size_bytes, "%s", whole.c_str());
    } catch (const std::bad_alloc&) {
        std::snprintf(text, size_bytes, "%s", "an operation that there is no memory to name");
    }
}

void commtask_frontend_report_refusal(int code, const commtask_op* operation, int is_observed,
                                      const char* message) noexcept {
    if (is_observed != 0) return print_if_few(message);
    if (!is_mpi_alive())
        return follow({error_handler::fatal, MPI_COMM_WORLD}, commtask_frontend_mpi_class(code), message);
    const mpi_caller scope{context::running()};
    const choice wanted = choice_of(operation, code == COMMTASK_ERR_COMM);
    const int error_class = commtask_frontend_mpi_class(code);
    follow(wanted, error_class, message);
    // MPI never saw this operation, so the library calls the program's error handler.
    const bool is_called = wanted.handler == error_handler::function && operation != nullptr && scope.may_call();
    if (is_called) MPI_Comm_call_errhandler(wanted.comm, error_class);
}

void commtask_frontend_failure_reported(int is_told) noexcept {
    if (is_told != 0) now.of = nullptr;
    ask_handler();
}
