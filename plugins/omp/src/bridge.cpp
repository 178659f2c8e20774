// SPDX-License-Identifier: Apache-2.0
//
// Operations of tasks with a detach clause. In a team of several threads the worker fulfils the
// task's event. In a team of one thread (OMP_NUM_THREADS=1, or outside of parallel regions) libomp
// counts a task's children only while an earlier child is incomplete. A fulfilment from outside
// removes that child before its dependents are released, so taskwait returns too early. There the
// team's own thread fulfils the event, after a proxy task was completed. See proxy_task.hpp and
// docs/adr/0015.
#include "bridge.hpp"

#include "announce.hpp"
#include "bound_task.hpp"
#include "check.hpp"
#include "completion_queue.hpp"
#include "errors.hpp"
#include "kmp_task.hpp"
#include "outstanding.hpp"
#include "proxy_task.hpp"
#include "tracing.hpp"
#include "wait.hpp"
#include "waiting.hpp"

#include <commtask/frontend.h>

#include <array>
#include <memory>
#include <utility>

namespace commtask::omp {
namespace {

void* pack(omp_event_handle_t event) noexcept { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(event)); }
omp_event_handle_t unpack(void* argument) noexcept {
    return static_cast<omp_event_handle_t>(reinterpret_cast<std::uintptr_t>(argument));
}

/// Ends one of the operations that a task started in its body.
void end_operation(task_binding& binding) noexcept {
    // This was not the last operation, or the task waits in its body: `binding` may have been
    // freed.
    if (!binding.note_ended()) {
        outstanding::of_process().note_ended();
    } else if (binding.proxy_task != nullptr) {
        start_proxy_task(binding.proxy_task);
        outstanding::of_process().note_ended();
    } else if (!progress_scope::try_defer(binding.event)) {
        complete(binding.event);
        outstanding::of_process().note_ended();
    }
}

/// Runs on the worker, or on another progress thread, when the operation has ended. Template
/// arguments carry the report's data other than the status, so that a start allocates nothing.
template <std::size_t Kind, bool HasStatus, ending By>
void end_task(const commtask_status* status, void* argument) {
    if (status->state != COMMTASK_STATE_COMPLETED) {
        report_ending(Kind, *status, HasStatus || By == ending::status_out);
    }
    // Counted as ended after the task is released, so that a thread that waits for all tasks finds
    // it released.
    if constexpr (By == ending::serial) {
        static_cast<serial_start*>(argument)->end();
    } else if constexpr (By == ending::binding) {
        end_operation(*static_cast<task_binding*>(argument));
    } else if constexpr (By == ending::status_out) {
        const std::unique_ptr<bound_status> status_out(static_cast<bound_status*>(argument));
        *status_out->status = status->mpi;
        status_out->status->MPI_ERROR = status->error;
        end_operation(*status_out->binding);
    } else {
        end_event(unpack(argument));
    }
}

template <bool HasStatus, ending By, std::size_t... Kinds>
constexpr std::array<commtask_callback, sizeof...(Kinds)> table_of(std::index_sequence<Kinds...> /*kinds*/) noexcept {
    return {&end_task<Kinds, HasStatus, By>...};
}

template <ending By>
commtask_callback callback_of(std::size_t place, bool has_status) noexcept {
    static constexpr auto silent = table_of<false, By>(std::make_index_sequence<COMMTASK_OP_END>{});
    static constexpr auto with_status = table_of<true, By>(std::make_index_sequence<COMMTASK_OP_END>{});
    return has_status ? with_status[place] : silent[place];
}

commtask_callback callback_of(ending by, unsigned kind, bool has_status) noexcept {
    const std::size_t place = kind < COMMTASK_OP_END ? kind : 0;
    switch (by) {
    case ending::serial: return callback_of<ending::serial>(place, has_status);
    case ending::binding: return callback_of<ending::binding>(place, has_status);
    case ending::status_out: return callback_of<ending::status_out>(place, has_status);
    default: return callback_of<ending::event>(place, has_status);
    }
}

} // namespace

void end_event(omp_event_handle_t event) noexcept {
    if (progress_scope::try_defer(event)) {
        return;
    }
    omp_fulfill_event(event);
    outstanding::of_process().note_ended();
}

int take_turn(const commtask_op& operation, std::uint32_t flags, source_place where, commtask_ticket& ticket) noexcept {
    commtask_options options = COMMTASK_OPTIONS_INIT;
    options.flags = flags & (COMMTASK_ORDERED | COMMTASK_UNORDERED);
    options.file = where.file;
    options.line = where.line;
    const progress_scope scope; // the first task of a communicator waits for the worker
    return commtask_ticket_take_with(&operation, &options, &ticket);
}

namespace {

/// Reports why nothing was posted, and releases the ticket.
/// @param reason  as for report_refusal().
int refuse_post(int code, const commtask_op& operation, const commtask_omp_options& options, const char* reason,
                source_place where) noexcept {
    report_refusal(code, &operation, options, reason, where);
    if (options.ticket.number != 0) {
        (void)commtask_ticket_drop(operation.comm, options.ticket);
    }
    return code;
}

} // namespace

int post(const commtask_op& operation, const commtask_omp_options& options, ending by, void* argument,
         source_place where) noexcept {
    commtask_options posted = COMMTASK_OPTIONS_INIT;
    posted.flags = COMMTASK_CALLBACK_RELAYS | (options.flags & (COMMTASK_ORDERED | COMMTASK_UNORDERED)) |
                   (may_not_progress() ? COMMTASK_NONE : COMMTASK_PROGRESS_FOLLOWS) |
                   (by == ending::status_out ? COMMTASK_NONE : COMMTASK_CALLBACK_STATE) |
                   (by == ending::binding || by == ending::status_out ? COMMTASK_START_NOW : COMMTASK_NONE);
    posted.status = options.status;
    posted.ticket = options.ticket;
    posted.callback = callback_of(by, operation.kind, options.status != nullptr);
    posted.callback_argument = argument;
    posted.file = where.file;
    posted.line = where.line;
    const int code = [&] {
        const progress_scope scope; // the first task of a communicator waits for the worker
        return commtask_post_operation(&operation, &posted, nullptr);
    }();
    if (code == COMMTASK_OK) {
        // With a shared worker this thread would keep the worker waiting for the core, so the
        // operation is started now.
        (void)progress(by == ending::serial ? static_cast<serial_start*>(argument) : nullptr);
        return code;
    }
    return refuse_post(code, operation, options, nullptr, where);
}

int start(const commtask_op& operation, const commtask_omp_options& options, omp_event_handle_t event,
          source_place where) noexcept {
    int code = COMMTASK_OK;
    if (omp_get_num_threads() == 1) {
        serial_start* const mine = completion_queue::mine().take_start();
        if (mine == nullptr) {
            code = refuse_post(COMMTASK_ERR_NO_MEMORY, operation, options, "no memory for its end", where);
        } else {
            mine->begin(event, options.flags);
            code = post(operation, options, ending::serial, mine, where);
            if (code != COMMTASK_OK) {
                mine->give_up();
            }
            return code;
        }
    } else {
        code = post(operation, options, ending::event, pack(event), where);
    }
    if (code != COMMTASK_OK) {
        omp_fulfill_event(event);
        outstanding::of_process().note_ended();
    }
    return code;
}

namespace {

/// Why the task's creation was refused a ticket, with `code`. The reason is computed again, since
/// the refusal may have happened on another thread; a different result says nothing about the
/// refusal.
/// @return as report_refusal() takes it.
const char* why_refused(const commtask_op& operation, int code) noexcept {
    commtask_ticket place{};
    const int now = take_turn(operation, COMMTASK_NONE, {}, place);
    if (now == code) {
        return nullptr;
    }
    if (now == COMMTASK_OK && place.number != 0) {
        (void)commtask_ticket_drop(operation.comm, place);
    }
    return "its ticket was refused when its task was created, for a reason that no longer exists";
}

/// Calls start() with a caller's arguments, which are checked; the outstanding count includes the
/// task.
/// @param at_creation  the result of creating the task: a refused ticket cannot be taken later,
/// since
///                     later operations have taken their tickets.
int begin(const commtask_op* operation, const commtask_omp_options& options, omp_event_handle_t event,
          int at_creation = COMMTASK_OK, source_place where = {}) noexcept {
    const auto refuse = [&](int code, const char* reason) {
        return report_refusal(code, operation, options, reason, where);
    };
    const bool has_event = static_cast<std::uintptr_t>(event) != 0;
    int code = COMMTASK_OK;
    tool::begin_events(false);
    ensure_task_queue();
    check::warn_if_shut_out();
    tracing::warn_if_shut_out();
    if (!has_event) {
        code = refuse(COMMTASK_ERR_ARGUMENT,
                      "its event is null: the task has no detach clause, or was compiled by gcc, to which "
                      "libomp gives no event (use COMM_TASK or commtask_omp_spawn there)");
    } else if (operation == nullptr) {
        code = refuse(COMMTASK_ERR_ARGUMENT, "the operation is null");
    } else if (!runtime_objection().empty()) {
        code = refuse(COMMTASK_ERR_RUNTIME, runtime_objection().c_str());
    } else if (const char* const wrong = objection_to(options); wrong != nullptr) {
        code = refuse(COMMTASK_ERR_ARGUMENT, wrong);
    } else if (const char* const undeferred = check::note_start({operation, where}); undeferred != nullptr) {
        code = refuse(COMMTASK_ERR_ARGUMENT, undeferred);
    } else if (at_creation != COMMTASK_OK) {
        code = refuse(at_creation, why_refused(*operation, at_creation));
    } else {
        return start(*operation, options, event, where);
    }
    if (operation != nullptr && options.ticket.number != 0) {
        (void)commtask_ticket_drop(operation->comm, options.ticket);
    }
    if (has_event) {
        omp_fulfill_event(event);
    }
    outstanding::of_process().note_ended();
    return code;
}

} // namespace
} // namespace commtask::omp

using namespace commtask::omp;

extern "C" {

int commtask_omp_start(const commtask_op* operation, const commtask_omp_options* options,
                       omp_event_handle_t event) noexcept {
    outstanding::of_process().note_made();
    commtask_omp_options given = options != nullptr ? *options : COMMTASK_OMP_OPTIONS_INIT;
    given.flags &= ~flag_parent_is_implicit; // the parent of the calling task is not known
    return begin(operation, given, event);
}

int commtask_omp_prepare_task(const commtask_op* operation, uint32_t flags, commtask_status* status, const char* file,
                              int line, commtask_omp_task* task) noexcept {
    tool::begin_events(flag_of_parent() == 0);
    if (operation == nullptr || task == nullptr || task->struct_size < sizeof *task) {
        return set_last_error(COMMTASK_ERR_ARGUMENT,
                              "commtask: the operation or the task is null, or task->struct_size is too small");
    }
    outstanding::of_process().note_made();
    task->operation = *operation;
    task->options = COMMTASK_OMP_OPTIONS_INIT;
    task->options.flags = flags | flag_of_parent();
    task->options.status = status;
    task->file = file;
    task->line = line;
    task->code = COMMTASK_OK;
    if (objection_to(task->options) != nullptr) {
        task->code = COMMTASK_ERR_ARGUMENT; // commtask_omp_start_prepared reports the reason
    } else {
        task->code = take_turn(*operation, flags, {file, line}, task->options.ticket);
    }
    {
        const progress_scope scope; // the first task of a communicator waits for the worker
        begin_waiting(*task);
    }
    throttle_creator();
    return COMMTASK_OK;
}

int commtask_omp_start_prepared(const commtask_omp_task* task, omp_event_handle_t event) noexcept {
    if (task == nullptr) {
        return commtask_omp_start(nullptr, nullptr, event);
    }
    commtask_retained_t const kept = end_waiting(*task);
    const int code = begin(&task->operation, task->options, event, task->code, {task->file, task->line});
    commtask_frontend_release(kept);
    return code;
}

int commtask_omp_drop(const commtask_omp_task* task) noexcept {
    if (task == nullptr) {
        return set_last_error(COMMTASK_ERR_ARGUMENT, "commtask: the prepared task is null");
    }
    commtask_frontend_release(end_waiting(*task));
    outstanding::of_process().note_ended();
    if (task->options.ticket.number == 0) {
        return COMMTASK_OK;
    }
    const int code = commtask_ticket_drop(task->operation.comm, task->options.ticket);
    return code == COMMTASK_OK ? code : set_last_error(code, commtask_last_error());
}
}
