// SPDX-License-Identifier: Apache-2.0
//
// The library's part of commtask_omp_listen: its listener, and the detached task that the handler
// completes. commtask_omp_listen_complete_ fulfils the task's event, so the caller's compiler need
// not support events. The task posts no operation: the team may create it at any moment, also
// concurrently with commtask_finalize (docs/adr/0015).
#include "bridge.hpp"
#include "check.hpp"
#include "completion_queue.hpp"
#include "kmp_task.hpp"
#include "outstanding.hpp"
#include "proxy_task.hpp"
#include "tracing.hpp"

#include <commtask/frontend.h>
#include <commtask/omp_listen.h>

#include <cstdint>

namespace commtask::omp {
namespace {

/// The task. The thread that completes it owns it until the event is fulfilled.
struct listen_task {
    void (*on_ready)(void* detached, void* argument);
    void* argument;
    std::uint32_t flags;
    omp_event_handle_t event;
    serial_start* serial; ///< Only in a team of one thread, which fulfils its events itself.
    bool has_run;

    void run() noexcept {
        has_run = true;
        if (omp_get_num_threads() > 1) {
            on_ready(this, argument);
            return;
        }
        serial = completion_queue::mine().take_start();
        if (serial == nullptr) { // then the task completes at once
            discard();
            return;
        }
        serial_start& mine = *serial; // completing it frees the task
        mine.begin(event, flags);
        on_ready(this, argument);
        mine.settle();
    }
    /// A discarded task must be completed, since its taskgroup would wait for ever otherwise.
    void end() noexcept {
        if (!has_run) {
            discard();
        }
    }

    void complete() const noexcept {
        if (serial != nullptr) {
            serial->end();
        } else {
            end_event(event);
        }
    }

private:
    void discard() const noexcept {
        omp_fulfill_event(event);
        outstanding::of_process().note_ended();
    }
};

} // namespace
} // namespace commtask::omp

using namespace commtask::omp;

int commtask_omp_listen_begin_(MPI_Comm comm, int tag, size_t max_bytes, size_t n_slots,
                               commtask_message_handler handler, commtask_omp_listener* listener,
                               void (*end)(void* listener)) noexcept {
    const int code = commtask_listen(comm, tag, max_bytes, n_slots, handler, listener, &listener->listener);
    if (code == COMMTASK_OK) commtask_frontend_on_listener_end(listener->listener, end, listener);
    return code;
}

void commtask_omp_listen_create_detached_(void (*on_ready)(void* detached, void* argument), void* argument,
                                          const void* dependence) noexcept {
    tool::begin_events(flag_of_parent() == 0);
    check::warn_if_shut_out();
    tracing::warn_if_shut_out();
    kmp_task_of<listen_task> task(kmp_is_detachable, {on_ready, argument, flag_of_parent(), {}, nullptr, false});
    task.payload().event = task.event();
    outstanding::of_process().note_made();
    kmp_depend when{reinterpret_cast<std::intptr_t>(dependence), 1, kmp_depend_inout};
    const commtask_op stands_for = commtask_op_recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_NULL);
    task.submit(1, &when, {&stands_for, {}});
}

void commtask_omp_listen_complete_(void* detached) noexcept { static_cast<listen_task*>(detached)->complete(); }
