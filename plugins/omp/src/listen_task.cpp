// SPDX-License-Identifier: Apache-2.0
//
// The detached task of commtask_omp_listen. The library fulfils its event, so the caller's compiler
// need not support events. The task posts no operation: the team may create it at any time, also
// concurrently with commtask_finalize (docs/adr/0015).
#include "bridge.hpp"
#include "check.hpp"
#include "completion_queue.hpp"
#include "kmp_task.hpp"
#include "outstanding.hpp"
#include "proxy_task.hpp"
#include "tracing.hpp"

#include <commtask/omp_listen.h>

#include <cstdint>

namespace commtask::omp {
namespace {

/// The detached task. The thread that completes it owns it until the event is fulfilled.
struct listen_task {
    void (*hang)(void* bell, void* argument);
    void* argument;
    std::uint32_t flags;
    omp_event_handle_t event;
    serial_start* serial; ///< Only in a team of one thread, which fulfils its events itself.
    bool has_run;

    void run() noexcept {
        has_run = true;
        if (omp_get_num_threads() > 1) {
            hang(this, argument);
            return;
        }
        serial = completion_queue::mine().take_start();
        if (serial == nullptr) { // then the task completes at once
            discard();
            return;
        }
        serial_start& mine = *serial; // completing it frees the task
        mine.begin(event, flags);
        hang(this, argument);
        mine.settle();
    }
    /// A discarded task must be completed, since its taskgroup would wait for ever otherwise.
    void end() noexcept {
        if (!has_run) {
            discard();
        }
    }

    void ring() const noexcept {
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

void commtask_omp_listen_hang_(void (*hang)(void* bell, void* argument), void* argument, const void* rung) noexcept {
    tool::begin_events(flag_of_parent() == 0);
    check::warn_if_shut_out();
    tracing::warn_if_shut_out();
    kmp_task_of<listen_task> task(kmp_is_detachable, {hang, argument, flag_of_parent(), {}, nullptr, false});
    task.payload().event = task.event();
    outstanding::of_process().note_made();
    kmp_depend when{reinterpret_cast<std::intptr_t>(rung), 1, kmp_depend_inout};
    const commtask_op stands_for = commtask_op_recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_NULL);
    task.submit(1, &when, {&stands_for, {}});
}

void commtask_omp_listen_ring_(void* bell) noexcept { static_cast<listen_task*>(bell)->ring(); }
