// SPDX-License-Identifier: Apache-2.0
//
// Handles: testing, waiting, releasing, canceling, and events. A waiting thread polls the task's
// own cache line, so waiting threads do not disturb each other. With a shared worker the waiting
// thread makes progress itself.
#include "api/context.hpp"
#include "api/posting.hpp"
#include "api/record.hpp"
#include "base/last_error.hpp"
#include "base/tuning.hpp"
#include "core/plan.hpp"
#include "core/task_pool.hpp"

#include <commtask/commtask.h>

#include <algorithm>
#include <new>
#include <span>

namespace commtask::detail {
namespace {

[[nodiscard]] bool has_ended(const task& which) noexcept { return which.life.state() != task_state::open; }

/// Reads the result of an ended task and releases its handle.
[[nodiscard]] int collect(commtask_t& handle, commtask_status* status) noexcept {
    task* const ended = handle;
    const task_state state = ended->life.state();
    if (status != nullptr) copy_status(*ended, state, *status);
    handle = COMMTASK_NULL;
    int code = COMMTASK_OK;
    if (state == task_state::failed) {
        code = refuse(COMMTASK_FAILED, "the task ended with an MPI error of class %d", ended->result.error_class);
    } else if (state != task_state::completed) {
        code = refuse(COMMTASK_CANCELED, "the task was canceled");
    }
    raise_flags(ended->result.flags);
    if (ended->result.is_of_run) plan_of(*ended).expect_start();
    task_pool::drop(ended);
    return code;
}

/// A successor of an event waits for this event only. A successor that ended before the event
/// belongs to this context or to an earlier one, whose lanes no longer exist. Only its slot is
/// used, which a canceled successor keeps for that purpose.
void tell_successor(task& successor) noexcept {
    switch (successor.life.state()) {
    case task_state::open: return successor.queue->served_by->released(successor);
    case task_state::abandoned: return;
    default: return task_pool::drop(&successor);
    }
}

[[nodiscard]] int check_status(const commtask_status* status) noexcept {
    if (status == nullptr || status->struct_size != 0) return COMMTASK_OK;
    return refuse(COMMTASK_ERR_ARGUMENT, "status->struct_size is 0: start from COMMTASK_STATUS_INIT");
}

/// The calling thread has waited for these tasks, which have all ended, and continues.
void tell_of_unblock(std::span<const commtask_t> ended) noexcept {
    context* const runtime = context::current();
    // Does not load the tasks' cache lines, which the worker uses.
    if (runtime == nullptr || !runtime->has_observers()) return;
    const task* last = nullptr;
    for (const task* const which : ended) {
        if (which != nullptr && (last == nullptr || which->run.since_ns > last->run.since_ns)) last = which;
    }
    if (last == nullptr) return;
    if (statistics* const counted = runtime->statistics_if_kept(*last->queue->served_by)) {
        const std::uint64_t now = now_ns();
        counted->add_unblock(now - std::min(last->run.since_ns, now));
    }
    if (task_trace* const traced = runtime->trace_if_kept()) traced->wait_ends(last);
}

/// Waits until `is_done()`, under the context's policy. If the wait succeeds, the caller reports
/// its end to the observers.
/// @param which  null if there are several
/// @return COMMTASK_OK, or TIMEOUT, ERR_WORKER_THREAD, ERR_NOT_INITIALIZED
template <typename IsDone>
[[nodiscard]] int wait_until(const task* which, std::int64_t timeout_ns, IsDone&& is_done) noexcept {
    if (is_done()) return COMMTASK_OK;
    if (timeout_ns != 0 && !may_wait()) {
        return refuse(COMMTASK_ERR_WORKER_THREAD, "%s",
                      in_progress_call() ? "a callback must not wait: the worker runs it"
                                         : "a function that MPI calls must not wait here");
    }
    if (timeout_ns != 0 && is_recording()) {
        return refuse(COMMTASK_ERR_ARGUMENT,
                      "a wait cannot be recorded: this thread is recording a plan, which runs when it is started");
    }
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    task_trace* const traced = runtime->trace_if_kept();
    if (traced != nullptr) traced->wait_begins(which);
    if (wait_in_library(runtime->lanes(), runtime->waiting(), timeout_ns, is_done)) return COMMTASK_OK;
    if (traced != nullptr) traced->wait_ends(nullptr);
    return refuse(COMMTASK_TIMEOUT, "the time limit is over, and the task has not ended");
}

/// Whether the task is a member of a run that has not started: MPI does not know the member, and no
/// other thread will end it.
[[nodiscard]] bool is_unstarted_member(const task& which) noexcept {
    return which.is_member() && !has_ended(which) && which.member->of->started_of(*which.member) != &which;
}

/// Makes sure that MPI has every ready task: posts a control task behind them on each lane, and
/// waits for it.
void let_ready_start(std::span<const commtask_t> posted) noexcept {
    const lane* last = nullptr;
    for (const task* const each : posted) {
        if (each == nullptr || each->queue == nullptr || has_ended(*each) || each->queue->served_by == last) continue;
        last = each->queue->served_by;
        commtask_t behind = COMMTASK_NULL;
        if (post_nothing(*each->queue, MPI_COMM_SELF, nullptr, &behind) == COMMTASK_OK)
            static_cast<void>(commtask_wait(&behind, nullptr));
    }
}

constexpr std::int64_t no_limit = -1;

/// The limit that a program gave: a wait with a negative limit only tests, as std::future::wait_for.
[[nodiscard]] std::int64_t limit_of(std::int64_t timeout_ns) noexcept { return std::max<std::int64_t>(timeout_ns, 0); }

[[nodiscard]] int wait_one(commtask_t* handle, std::int64_t timeout_ns, commtask_status* status) noexcept {
    if (handle == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "task is null");
    if (const int code = check_status(status); code != COMMTASK_OK) return code;
    if (*handle == COMMTASK_NULL) return COMMTASK_OK;
    if (has_ended(**handle)) return collect(*handle, status);
    if (const int code = wait_until(*handle, timeout_ns, [&] { return has_ended(**handle); }); code != COMMTASK_OK)
        return code;
    tell_of_unblock({handle, 1});
    return collect(*handle, status);
}

[[nodiscard]] int wait_any(std::size_t n_tasks, commtask_t* tasks, std::int64_t timeout_ns, std::size_t* index,
                           commtask_status* status) noexcept {
    if ((tasks == nullptr && n_tasks > 0) || index == nullptr) {
        return refuse(COMMTASK_ERR_ARGUMENT, "%s is null", index == nullptr ? "index" : "tasks");
    }
    if (const int code = check_status(status); code != COMMTASK_OK) return code;
    std::size_t found = n_tasks;
    bool is_any_active = false;
    const auto look = [&] {
        is_any_active = false;
        for (std::size_t i = 0; i < n_tasks; ++i) {
            if (tasks[i] == COMMTASK_NULL) continue;
            is_any_active = true;
            if (!has_ended(*tasks[i])) continue;
            found = i;
            return true;
        }
        return !is_any_active;
    };
    if (!look()) {
        if (const int code = wait_until(nullptr, timeout_ns, look); code != COMMTASK_OK) return code;
        if (found < n_tasks) tell_of_unblock({&tasks[found], 1});
    }
    *index = found;
    return is_any_active ? collect(tasks[found], status) : COMMTASK_OK;
}

[[nodiscard]] int wait_all(std::size_t n_tasks, commtask_t* tasks, std::int64_t timeout_ns,
                           commtask_status* statuses) noexcept {
    if (tasks == nullptr && n_tasks > 0) return refuse(COMMTASK_ERR_ARGUMENT, "tasks is null");
    for (std::size_t i = 0; statuses != nullptr && i < n_tasks; ++i) {
        if (const int code = check_status(&statuses[i]); code != COMMTASK_OK) return code;
    }
    // All tasks before this index have ended. All handles are given back together at the end:
    // callbacks of the remaining tasks may use them.
    std::size_t first_open = 0;
    const auto is_over = [&](std::size_t i) { return tasks[i] == COMMTASK_NULL || has_ended(*tasks[i]); };
    const auto look = [&] {
        // Polls a task a few places ahead first: polling each task until it ends would pull each
        // task's line from the worker that ends it.
        if (first_open < n_tasks && !is_over(std::min(first_open + tuning::steps_in_a_row, n_tasks - 1))) return false;
        while (first_open < n_tasks && is_over(first_open)) ++first_open;
        return first_open == n_tasks;
    };
    const bool had_to_wait = !look();
    const int waited = had_to_wait ? wait_until(nullptr, timeout_ns, look) : COMMTASK_OK;
    if (waited != COMMTASK_OK && waited != COMMTASK_TIMEOUT) return waited;
    if (had_to_wait && waited == COMMTASK_OK) tell_of_unblock({tasks, n_tasks});
    bool has_failed = false;
    bool was_canceled = false;
    for (std::size_t i = 0; i < n_tasks; ++i) {
        if (tasks[i] == COMMTASK_NULL || !has_ended(*tasks[i])) continue;
        const int code = collect(tasks[i], statuses == nullptr ? nullptr : &statuses[i]);
        has_failed = has_failed || code == COMMTASK_FAILED;
        was_canceled = was_canceled || code == COMMTASK_CANCELED;
    }
    if (waited == COMMTASK_TIMEOUT) return refuse(COMMTASK_TIMEOUT, "the time is over and some tasks go on");
    if (has_failed) return refuse(COMMTASK_FAILED, "at least one task ended with an MPI error");
    return was_canceled ? refuse(COMMTASK_CANCELED, "at least one task was canceled") : COMMTASK_OK;
}

} // namespace
} // namespace commtask::detail

using namespace commtask::detail;

int commtask_test(commtask_t* handle, int* ended, commtask_status* status) noexcept {
    if (handle == nullptr || ended == nullptr) {
        return refuse(COMMTASK_ERR_ARGUMENT, "%s is null", handle == nullptr ? "task" : "ended");
    }
    if (const int code = check_status(status); code != COMMTASK_OK) return code;
    *ended = *handle == COMMTASK_NULL || has_ended(**handle) ? 1 : 0;
    if (*ended == 0) {
        // With a shared worker, a test in a loop must make progress.
        context* const runtime = context::current();
        if (runtime == nullptr || !may_wait() || !runtime->should_make_progress()) return COMMTASK_OK;
        *ended = wait_in_library(runtime->lanes(), runtime->waiting(), 1, [&] { return has_ended(**handle); });
        if (*ended == 0) return COMMTASK_OK;
    }
    return *handle == COMMTASK_NULL ? COMMTASK_OK : collect(*handle, status);
}

int commtask_progress(int* moved) noexcept {
    if (moved == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "moved is null");
    context* const runtime = context::current();
    if (runtime == nullptr) return refuse_without_runtime();
    if (!may_wait()) {
        return refuse(COMMTASK_ERR_WORKER_THREAD,
                      "a callback must not call commtask_progress: its thread makes progress already");
    }
    *moved = 0;
    if (!runtime->should_make_progress()) return COMMTASK_OK;
    for (lane& each : runtime->lanes()) {
        const progress_result result = progress_for_a_moment(each, 1, [](bool) { return false; });
        if (result == progress_result::refused) {
            // The progress thread may be about to stop, and a task that the caller has posted with
            // COMMTASK_PROGRESS_FOLLOWS must not wait.
            each.wake_up.wake();
        } else {
            leave_to_worker(each);
        }
        if (result == progress_result::moved) *moved = 1;
    }
    return COMMTASK_OK;
}

int commtask_is_worker_shared(void) noexcept {
    context* const runtime = context::current();
    if (runtime == nullptr) return 0;
    return !runtime->waiting().worker_is_reserved || runtime->lanes().are_paused() ? 1 : 0;
}

int commtask_in_progress_call(void) noexcept {
    if (in_progress_call()) return 1;
    context* const runtime = context::running();
    return runtime != nullptr && runtime->lanes().has_lock() ? 1 : 0;
}

int commtask_wait(commtask_t* handle, commtask_status* status) noexcept { return wait_one(handle, no_limit, status); }

int commtask_wait_for(commtask_t* handle, int64_t timeout_ns, commtask_status* status) noexcept {
    return wait_one(handle, limit_of(timeout_ns), status);
}

int commtask_wait_any(size_t n_tasks, commtask_t* tasks, size_t* index, commtask_status* status) noexcept {
    return wait_any(n_tasks, tasks, no_limit, index, status);
}

int commtask_wait_any_for(size_t n_tasks, commtask_t* tasks, int64_t timeout_ns, size_t* index,
                          commtask_status* status) noexcept {
    return wait_any(n_tasks, tasks, limit_of(timeout_ns), index, status);
}

int commtask_wait_all(size_t n_tasks, commtask_t* tasks, commtask_status* statuses) noexcept {
    return wait_all(n_tasks, tasks, no_limit, statuses);
}

int commtask_wait_all_for(size_t n_tasks, commtask_t* tasks, int64_t timeout_ns, commtask_status* statuses) noexcept {
    return wait_all(n_tasks, tasks, limit_of(timeout_ns), statuses);
}

int commtask_release(commtask_t* handle) noexcept {
    if (handle == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "task is null");
    if (*handle != COMMTASK_NULL) task_pool::drop(*handle);
    *handle = COMMTASK_NULL;
    return COMMTASK_OK;
}

int commtask_cancel(commtask_t handle) noexcept {
    if (handle == COMMTASK_NULL) return refuse(COMMTASK_ERR_ARGUMENT, "task is COMMTASK_NULL");
    if (!has_ended(*handle)) handle->queue->served_by->cancel(*handle);
    return COMMTASK_OK;
}

int commtask_join(std::size_t n_tasks, commtask_t* tasks) noexcept {
    if (n_tasks > 0 && tasks == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "tasks is null, and n_tasks is not 0");
    const pause_recording posts_and_waits;
    const std::span joined{tasks, n_tasks};
    if (may_wait()) let_ready_start(joined);
    bool was_canceled = false;
    int code = COMMTASK_OK;
    for (const commtask_t each : joined) {
        if (each != COMMTASK_NULL && !is_unstarted_member(*each)) static_cast<void>(commtask_cancel(each));
    }
    for (commtask_t& each : joined) {
        if (each == COMMTASK_NULL) continue;
        const bool is_over = has_ended(*each) || is_unstarted_member(*each);
        const int waited = is_over ? COMMTASK_OK : wait_until(each, -1, [each] { return has_ended(*each); });
        if (waited == COMMTASK_ERR_WORKER_THREAD) code = waited;
        if (has_ended(*each)) {
            was_canceled = collect(each, nullptr) == COMMTASK_CANCELED || was_canceled;
        } else {
            static_cast<void>(commtask_release(&each));
        }
    }
    if (code != COMMTASK_OK) {
        return refuse(
            code,
            "this thread cannot wait for tasks: they were canceled where that was possible, and may not have ended");
    }
    return was_canceled ? refuse(COMMTASK_CANCELED, "at least one task was canceled") : COMMTASK_OK;
}

int commtask_event_create(unsigned n_signals, commtask_event_t* event) noexcept {
    if (context::current() == nullptr) {
        return refuse_without_runtime();
    }
    if (event == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "event is null");
    if (n_signals == 0) return refuse(COMMTASK_ERR_ARGUMENT, "n_signals is 0, and must be at least 1");
    task* const slot = task_pool::acquire();
    if (slot == nullptr) return refuse(COMMTASK_ERR_NO_MEMORY, "no memory for  an event");
    slot->begin_event(n_signals);
    if (task_trace* const traced = context::current()->trace_if_kept()) slot->trace_id = traced->records().new_id();
    *event = static_cast<commtask_event_t>(static_cast<void*>(slot));
    return COMMTASK_OK;
}

int commtask_event_signal(commtask_event_t event) noexcept {
    if (event == COMMTASK_EVENT_NULL) return refuse(COMMTASK_ERR_ARGUMENT, "event is COMMTASK_EVENT_NULL");
    // A signal may arrive after commtask_finalize has abandoned the successors.
    const context::visit late;
    if (!late.is_open()) return refuse_without_runtime();
    if (tracer* const records = tracer::current()) {
        records->write({now_ns(), event->trace_id, 0, {0, trace::record_type::signaled}});
    }
    return graph::signal(*event, &tell_successor)
               ? COMMTASK_OK
               : refuse(COMMTASK_ERR_ARGUMENT, "event was signaled more often than its n_signals");
}

int commtask_event_release(commtask_event_t* event) noexcept {
    if (event == nullptr) return refuse(COMMTASK_ERR_ARGUMENT, "event is null");
    if (*event != COMMTASK_EVENT_NULL) task_pool::drop(*event);
    *event = COMMTASK_EVENT_NULL;
    return COMMTASK_OK;
}
