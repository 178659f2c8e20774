// SPDX-License-Identifier: Apache-2.0
//
// Operations started in the body of a task, whose completion waits for them. Outside the body of a
// bound task, the calling thread itself waits, or the call is refused. This file and bound_task.hpp
// decide which; docs/bind.md documents the rules.
#include "bound_task.hpp"
#include "announce.hpp"
#include "bridge.hpp"
#include "check.hpp"
#include "errors.hpp"
#include "kmp_task.hpp"
#include "outstanding.hpp"
#include "proxy_task.hpp"
#include "wait.hpp"

#include <commtask/omp.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <span>

namespace commtask::omp {
namespace {

void begin_binding(const running_task& self) noexcept {
    task_binding& binding = *self.binding;
    if (binding.end == task_end::is_delayed && omp_in_final() != 0) {
        binding.end = task_end::waits_final;
    }
    if (binding.end == task_end::is_delayed) {
        binding.event = static_cast<omp_event_handle_t>(reinterpret_cast<std::uintptr_t>(
            __kmpc_task_allow_completion_event(&task_ident, __kmpc_global_thread_num(&task_ident), self.task)));
    }
    binding.n_open.store(1, std::memory_order_relaxed); // the first operation's post publishes it
}

/// Whether `self` is the current task, and is not suspended in a region that its body opened. In a
/// team of one thread libomp treats such a region as a part of the task.
bool is_current(const running_task* self) noexcept {
    return self != nullptr && self->level == omp_get_level() && omp_in_explicit_task() != 0;
}

/// The owner of operations that are started now: the current task, or this object outside of tasks.
/// The object waits for its operations.
class operation_owner {
public:
    operation_owner() noexcept {
        const running_task* const self = innermost_task();
        if (!is_current(self)) {
            own_.end = task_end::waits_outside;
            own_.n_open.store(1, std::memory_order_relaxed); // as in begin_binding()
            return;
        }
        // only this body changes it from 0
        if (self->binding->n_open.load(std::memory_order_relaxed) == 0) {
            begin_binding(*self);
        }
        binding_ = self->binding;
    }
    operation_owner(const operation_owner&) = delete;
    operation_owner& operator=(const operation_owner&) = delete;
    ~operation_owner() {
        if (binding_ == &own_) {
            own_.end_body();
        }
    }

    int start(const commtask_op& operation, const commtask_omp_options& options) noexcept {
        bound_status* status_out = nullptr;
        if (options.mpi_status != nullptr) {
            status_out = new (std::nothrow) bound_status{binding_, options.mpi_status};
            if (status_out == nullptr) {
                return report_refusal(COMMTASK_ERR_NO_MEMORY, &operation, options, "no memory for its status");
            }
        }
        binding_->n_open.fetch_add(1, std::memory_order_relaxed); // before its post, which publishes it
        outstanding::of_process().note_made();
        const int code = status_out != nullptr ? post(operation, options, ending::status_out, status_out, {})
                                               : post(operation, options, ending::binding, binding_, {});
        if (code != COMMTASK_OK) {
            delete status_out;
            (void)binding_->note_ended(); // not the last: the body has not ended
            outstanding::of_process().note_ended();
        }
        return code;
    }

private:
    task_binding own_;
    task_binding* binding_ = &own_;
};

/// Reports why no operation can be bound to the current task.
int refuse(const commtask_op& operation, const commtask_omp_options& options) noexcept {
    if (!binding_objection().empty()) {
        return report_refusal(COMMTASK_ERR_RUNTIME, &operation, options, binding_objection().c_str());
    }
    if (const char* const wrong = objection_to(options); wrong != nullptr) {
        return report_refusal(COMMTASK_ERR_ARGUMENT, &operation, options, wrong);
    }
    if (omp_in_explicit_task() != 0 && innermost_task() == nullptr) {
        return report_refusal(
            COMMTASK_ERR_RUNTIME, &operation, options,
            "its task was not created through libcommtask-omp-bind, so its completion cannot be delayed: the code that "
            "created it bypasses that library, for example because it was loaded with its own libomp");
    }
    if (!is_current(innermost_task()) && commtask_in_progress_call() != 0) {
        return report_refusal(COMMTASK_ERR_WORKER_THREAD, &operation, options,
                              "it was started in a callback, where there is no current task to bind it to");
    }
    return COMMTASK_OK;
}

} // namespace

void task_binding::end_body() noexcept {
    if (static_cast<std::uintptr_t>(event) == 0) {
        wait_in_place(*this);
        n_open.store(0, std::memory_order_relaxed); // no other thread uses it
        return;
    }
    // A thread that waits in this library runs libomp's queue for a team of one only if a proxy
    // task was completed. The proxy task is made after the end of the body, since a taskwait in the
    // body would wait for it.
    if (has_operations() && omp_get_num_threads() == 1) {
        proxy_task = make_proxy_task_of_bound(event);
    }
    if (note_ended()) {
        // No other thread uses the task.
        if (proxy_task != nullptr) {
            start_proxy_task(proxy_task);
        } else {
            complete(event);
        }
    }
}

} // namespace commtask::omp

using namespace commtask::omp;

extern "C" {

int commtask_omp_bind_operation(const commtask_op* operation, const commtask_omp_options* options) noexcept {
    commtask_omp_options given = COMMTASK_OMP_OPTIONS_INIT;
    if (options != nullptr) {
        // A program compiled with an older header has fewer fields; a size that is not set is
        // refused below.
        std::memcpy(&given, options, std::clamp(options->struct_size, sizeof given.struct_size, sizeof given));
    }
    if (operation == nullptr) {
        return report_refusal(COMMTASK_ERR_ARGUMENT, nullptr, given, "the operation is null");
    }
    if (const int code = refuse(*operation, given); code != COMMTASK_OK) {
        if (given.ticket.number != 0) {
            (void)commtask_ticket_drop(operation->comm, given.ticket);
        }
        return code;
    }
    tool::begin_events(false);
    ensure_task_queue();
    (void)check::note_start({operation, {}});
    return operation_owner().start(*operation, given);
}

int commtask_omp_bind_requests(size_t n_requests, MPI_Request* requests) noexcept {
    const commtask_omp_options options = COMMTASK_OMP_OPTIONS_INIT;
    if (requests == nullptr && n_requests > 0) {
        return report_refusal(COMMTASK_ERR_ARGUMENT, nullptr, options, "requests is null, and n_requests is not 0");
    }
    MPI_Request none = MPI_REQUEST_NULL;
    if (const int code = refuse(commtask_op_attach(&none, MPI_COMM_WORLD), options); code != COMMTASK_OK) {
        return code;
    }
    tool::begin_events(false);
    ensure_task_queue();
    operation_owner now;
    for (MPI_Request& request : std::span(requests, n_requests)) {
        if (request == MPI_REQUEST_NULL) {
            continue;
        }
        const commtask_op attached = commtask_op_attach(&request, MPI_COMM_WORLD);
        (void)check::note_start({&attached, {}});
        if (const int code = now.start(attached, options); code != COMMTASK_OK) {
            return code;
        }
    }
    return COMMTASK_OK;
}
}
