// SPDX-License-Identifier: Apache-2.0
//
// Reports a task's end to the program: writes the status and calls the callback, on the progress
// thread. A warning names a callback that delays the progress thread for long.
#include "base/log.hpp"
#include "core/plan_runs.hpp"
#include "core/progress_engine.hpp"

#include <cstring>
#include <new>
#include <string>

namespace commtask::detail {

namespace {

/// Fills all fields but the size.
void fill_status(const task& which, task_state state, commtask_status& full) noexcept {
    full.state = state == task_state::abandoned ? COMMTASK_STATE_CANCELED : static_cast<commtask_state>(state);
    full.error = which.result.error;
    full.error_class = which.result.error_class;
    full.source = which.result.source;
    full.tag = which.result.tag;
    full.bytes = static_cast<MPI_Count>(which.result.bytes);
    static_assert(sizeof(full.mpi) <= sizeof(which.mpi_status));
    std::memcpy(&full.mpi, which.mpi_status, sizeof(full.mpi));
}

} // namespace

void progress_engine::run_callback(task& which, task_state state) noexcept {
    const task_extras& extras = which.extras;
    if (extras.user_status != nullptr) copy_status(which, state, *extras.user_status);
    const bool has_member_call = has_member_callback(which);
    if (extras.callback == nullptr && !has_member_call) return;
    commtask_status status; // Not initialized, so that no field is written twice.
    status.struct_size = sizeof status;
    fill_for_callback(which, state, (which.flags() & COMMTASK_CALLBACK_STATE) != 0 && !has_member_call, status);
    const auto call = [&] {
        thread_does(activity::callback);
        if (extras.callback != nullptr) extras.callback(&status, extras.callback_argument);
        if (has_member_call) call_member_callback(which, status);
        wait_if_abandoned();
        thread_does(activity::issue);
    };
    if ((which.flags() & COMMTASK_CALLBACK_RELAYS) != 0) return call();
    const auto found = callbacks_.run(call);
    if (!found) return;
    try {
        report_slow_callback(which, *found);
    } catch (const std::bad_alloc&) { // No memory: the warning is left out.
    }
}

void progress_engine::report_slow_callback(const task& which, const callback_guard::verdict& found) const {
    const std::string others =
        found.n_suppressed == 0 ? ""
                                : "; so did " + std::to_string(found.n_suppressed) + " others since the last warning";
    say("warning: the callback of %s used %.0f us of the worker's processor time and delayed all other tasks%s; "
        "a callback should only signal another thread (COMMTASK_CALLBACK_LIMIT_US)",
        transport_->describe(which).c_str(), static_cast<double>(found.used_ns) * 1e-3, others.c_str());
}

void fill_for_callback(const task& which, task_state state, bool reads_state_alone, commtask_status& status) noexcept {
    if (reads_state_alone && state == task_state::completed) {
        status.state = COMMTASK_STATE_COMPLETED;
    } else {
        fill_status(which, state, status);
    }
}

void copy_status(const task& which, task_state state, commtask_status& status) noexcept {
    if (status.struct_size >= sizeof status) return fill_status(which, state, status);
    commtask_status full{};
    full.struct_size = status.struct_size;
    fill_status(which, state, full);
    std::memcpy(&status, &full, status.struct_size);
}

} // namespace commtask::detail
