// SPDX-License-Identifier: Apache-2.0
//
// Tasks that the library creates for the caller, with dependences and an event, for callers of any
// compiler. The tasks are untied: by OpenMP's task scheduling constraint, tied tasks that create
// communication tasks and wait for them can deadlock. Dependence lists of usual length need no heap
// memory.
#include "bridge.hpp"
#include "check.hpp"
#include "completion_queue.hpp"
#include "errors.hpp"
#include "kmp_task.hpp"
#include "outstanding.hpp"
#include "tracing.hpp"
#include "wait.hpp"
#include "waiting.hpp"

#include <commtask/frontend.h>

#include <array>
#include <memory>
#include <span>

namespace commtask::omp {
namespace {

/// The task of one operation.
struct communication {
    commtask_op operation;
    commtask_omp_options options;
    source_place where;
    omp_event_handle_t event;
    bool has_run;
    waiting_task waiting;
    commtask_retained_t kept;

    void run() noexcept {
        has_run = true;
        end_waiting(waiting);
        (void)start(operation, options, event, where);
        commtask_frontend_release(kept);
    }
    /// A discarded task releases its ticket and completes, since its taskgroup would wait for ever
    /// otherwise.
    void end() noexcept {
        if (has_run) {
            return;
        }
        end_waiting(waiting);
        if (options.ticket.number != 0) {
            (void)commtask_ticket_drop(operation.comm, options.ticket);
        }
        commtask_frontend_release(kept);
        if (options.status != nullptr) {
            options.status->state = COMMTASK_STATE_CANCELED;
        }
        outstanding::of_process().note_ended();
        omp_fulfill_event(event);
    }
};

/// A list of dependences, on the heap only if it is long.
class depend_list {
public:
    /// @return false if memory is exhausted.
    [[nodiscard]] bool reserve(std::size_t n) noexcept {
        if (n <= few_.size()) {
            return true;
        }
        many_.reset(new (std::nothrow) kmp_depend[n]);
        entries_ = many_.get();
        return entries_ != nullptr;
    }
    void add(kmp_depend_kind kind, std::span<const void* const> addresses) noexcept {
        for (const void* address : addresses) {
            entries_[n_++] = {reinterpret_cast<std::intptr_t>(address), 1, kind};
        }
    }
    [[nodiscard]] std::int32_t size() const noexcept { return static_cast<std::int32_t>(n_); }
    [[nodiscard]] kmp_depend* data() noexcept { return entries_; }

private:
    std::array<kmp_depend, 16> few_;
    std::unique_ptr<kmp_depend[]> many_;
    kmp_depend* entries_ = few_.data();
    std::size_t n_ = 0;
};

/// Reports why no task can be created for this operation.
int refuse(const commtask_op* operation, const commtask_omp_options& options, source_place where) noexcept {
    if (operation == nullptr) {
        return report_refusal(COMMTASK_ERR_ARGUMENT, nullptr, options, "the operation is null", where);
    }
    if (!runtime_objection().empty()) {
        return report_refusal(COMMTASK_ERR_RUNTIME, operation, options, runtime_objection().c_str(), where);
    }
    if (const char* const wrong = objection_to(options); wrong != nullptr) {
        return report_refusal(COMMTASK_ERR_ARGUMENT, operation, options, wrong, where);
    }
    return COMMTASK_OK;
}

int spawn(const commtask_op& operation, commtask_omp_options options, depend_list& depends,
          source_place where) noexcept {
    options.ticket = {};
    options.flags = (options.flags & ~flag_parent_is_implicit) | flag_of_parent();
    if (const int code = take_turn(operation, options.flags, where, options.ticket); code != COMMTASK_OK) {
        return report_refusal(code, &operation, options, nullptr, where);
    }
    options.flags &= ~flag_caller_looks; // not for failures after this call
    kmp_task_of<communication> task(kmp_is_detachable | (options.priority != 0 ? kmp_has_priority : 0),
                                    {operation, options, where, {}, false, {}, nullptr});
    if (options.priority != 0) {
        task.set_priority(options.priority);
        ensure_task_queue();
    }
    task.payload().event = task.event();
    {
        const progress_scope scope; // the first task of a communicator waits for the worker
        task.payload().kept = commtask_frontend_retain(&task.payload().operation);
    }
    tool::begin_events((options.flags & flag_parent_is_implicit) == 0);
    outstanding::of_process().note_made();
    begin_waiting(task.payload().waiting, task.payload().operation, where);
    check::warn_if_shut_out();
    tracing::warn_if_shut_out();
    task.submit(depends.size(), depends.data(), {&operation, where});
    throttle_creator();
    return COMMTASK_OK;
}

/// Tasks of a mutexinoutset run in any order, one at a time: a task that has the mutex could wait
/// for its turn in program order behind a task that waits for the mutex. With inout they run in the
/// order of their creation, which is one of the permitted orders.
kmp_depend_kind depend_kind_of(int kind, bool has_turn) noexcept {
    switch (kind) {
    case COMMTASK_OMP_IN: return kmp_depend_in;
    case COMMTASK_OMP_MUTEXINOUTSET: return has_turn ? kmp_depend_inout : kmp_depend_mutexinoutset;
    case COMMTASK_OMP_INOUTSET: return kmp_depend_inoutset;
    default: return kmp_depend_inout;
    }
}

} // namespace
} // namespace commtask::omp

using namespace commtask::omp;

extern "C" {

int commtask_omp_spawn(const commtask_op* operation, const commtask_omp_options* options, size_t n_in,
                       const void* const* in, size_t n_out, const void* const* out, size_t n_inout,
                       const void* const* inout) noexcept {
    const commtask_omp_options given = options != nullptr ? *options : COMMTASK_OMP_OPTIONS_INIT;
    if (const int code = refuse(operation, given, {}); code != COMMTASK_OK) {
        return code;
    }
    if ((n_in > 0 && in == nullptr) || (n_out > 0 && out == nullptr) || (n_inout > 0 && inout == nullptr)) {
        return report_refusal(COMMTASK_ERR_ARGUMENT, operation, given,
                              "a list of addresses is null, and its length is not 0");
    }
    depend_list depends;
    if (!depends.reserve(n_in + n_out + n_inout)) {
        return report_refusal(COMMTASK_ERR_NO_MEMORY, operation, given, "no memory for its dependences");
    }
    depends.add(kmp_depend_in, {in, n_in});
    depends.add(kmp_depend_inout, {out, n_out});
    depends.add(kmp_depend_inout, {inout, n_inout});
    return spawn(*operation, given, depends, {});
}

int commtask_omp_spawn_clauses(const commtask_op* operation, size_t n_clauses, const commtask_omp_clause* clauses,
                               const char* file, int line) noexcept {
    const source_place where{file, line};
    commtask_omp_options options = COMMTASK_OMP_OPTIONS_INIT;
    std::size_t n_depends = 0;
    const std::span given(clauses, n_clauses);
    for (const commtask_omp_clause& clause : given) {
        switch (clause.kind) {
        case COMMTASK_OMP_FLAG: options.flags |= static_cast<std::uint32_t>(clause.number); break;
        case COMMTASK_OMP_PRIORITY: options.priority = clause.number; break;
        case COMMTASK_OMP_STATUS: options.status = clause.status; break;
        default: n_depends += clause.n_addresses; break;
        }
    }
    if (const int code = refuse(operation, options, where); code != COMMTASK_OK) {
        return code;
    }
    depend_list depends;
    if (!depends.reserve(n_depends)) {
        return report_refusal(COMMTASK_ERR_NO_MEMORY, operation, options, "no memory for its dependences", where);
    }
    for (const commtask_omp_clause& clause : given) {
        if (clause.n_addresses > 0) {
            const bool has_turn = (options.flags & COMMTASK_UNORDERED) == 0;
            depends.add(depend_kind_of(clause.kind, has_turn), {clause.addresses, clause.n_addresses});
        }
    }
    return spawn(*operation, options, depends, where);
}
}
