// SPDX-License-Identifier: Apache-2.0
//
// Waiting inside a task without blocking its thread. The task is suspended, its thread takes other
// work of the arena, and a thread of the arena resumes the task when the communication has ended.
// The cost is one stack per suspended task (oneTBB keeps stacks for reuse) and about 1 µs in
// addition to the completion.
#pragma once

#include <commtask/event.hpp>
#include <commtask/options.hpp>
#include <commtask/outcome.hpp>
#include <commtask/post.hpp>
#include <commtask/task.hpp>
#include <commtask/trace.h>

#include <oneapi/tbb/task.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace commtask::tbb {

/// @cond
namespace frontend {

using commtask::frontend::after_option;
using commtask::frontend::check;

/// In a trace: the body that runs here pauses, and resumes on any thread, after the tasks that it
/// waited for.
class traced_pause {
public:
    explicit traced_pause(const commtask_options& awaited) noexcept : body_(commtask_trace_running()) {
        if (body_ == 0) return;
        for (std::size_t i = 0; i < awaited.n_after; ++i)
            commtask_trace_after(body_, commtask_trace_task(awaited.after[i]));
        commtask_trace_compute_end(body_, COMMTASK_TRACE_PAUSED);
    }
    traced_pause(const traced_pause&) = delete;
    traced_pause& operator=(const traced_pause&) = delete;
    ~traced_pause() {
        if (body_ == 0) return;
        // This thread may have left the middle of another body, which waits for tasks of oneTBB.
        commtask_trace_compute_end(commtask_trace_running(), COMMTASK_TRACE_PAUSED);
        commtask_trace_compute_begin(body_);
    }

private:
    const std::uint64_t body_;
};

/// An empty task that runs after the awaited tasks; its callback resumes the suspended task. The
/// object is on the suspended stack, so no member may be accessed after the resume.
class suspension {
public:
    explicit suspension(const after_option& predecessors) {
        predecessors.apply(raw_);
        raw_.flags = COMMTASK_RUN_AFTER_FAILURE | COMMTASK_CALLBACK_RELAYS | COMMTASK_CALLBACK_STATE;
        raw_.callback = [](const commtask_status* /*status*/, void* self) noexcept {
            const ::tbb::task::suspend_point point = static_cast<suspension*>(self)->point_;
            ::tbb::task::resume(point);
        };
        raw_.callback_argument = this;
    }
    void suspend() {
        const traced_pause scope{raw_};
        // oneTBB allows the resume before the suspension is complete, from any thread, also from
        // inside this function.
        ::tbb::task::suspend([this](::tbb::task::suspend_point point) {
            point_ = point;
            const int code = commtask_post(commtask_op_noop(MPI_COMM_SELF), &raw_, nullptr);
            if (code == COMMTASK_OK) return; // *this may be destroyed
            code_ = code;
            ::tbb::task::resume(point);
        });
        check(code_);
    }

private:
    commtask_options raw_ = COMMTASK_OPTIONS_INIT;
    ::tbb::task::suspend_point point_ = nullptr;
    int code_ = COMMTASK_OK;
};

/// Whether the calling thread runs a task of oneTBB that it may leave for other work. A thread
/// inside a progress call may not leave: it would keep the progress lock, and no other thread could
/// make progress.
[[nodiscard]] inline bool may_suspend() {
    return ::tbb::task::current_context() != nullptr && commtask_in_progress_call() == 0;
}

} // namespace frontend
/// @endcond

/// Waits for a task; meanwhile the thread runs other tasks.
/// The calling task may resume on another thread, so it must not rely on thread-local variables or
/// own a locked mutex across the call. Inside this_task_arena::isolate the thread may take work
/// from outside the isolated region, on another stack.
/// @param awaited  its handle is empty afterwards; for an empty handle the call returns at once. No
///                 other thread may use the handle meanwhile.
/// @return how the task ended. A canceled task group ends no wait: cancel the awaited task too.
/// @throws error  on the worker, e.g. in a callback, where waiting would stop all communication.
/// @blocking Never a thread that runs a task of oneTBB. Any other thread blocks as in
///           commtask::task::wait().
[[nodiscard]] inline outcome wait(task& awaited) {
    if (!frontend::may_suspend()) return awaited.wait();
    if (auto ended = awaited.test()) return *std::move(ended);
    frontend::suspension{after(awaited)}.suspend();
    return awaited.wait(); // ended, unless the library gave up the noop before
}

/// Waits for a task whose handle is a temporary: wait(post(...)).
/// @param awaited  a temporary.
/// @return how the task ended.
/// @throws error  as wait(task&).
/// @blocking As wait(task&).
[[nodiscard]] inline outcome wait(task&& awaited) { return wait(awaited); }

/// Waits for several tasks with one suspension.
/// @param awaited  handles; empty handles are skipped. All are empty afterwards.
/// @return failed if at least one failed, else canceled if at least one was canceled, else
///         completed.
/// @throws error  as wait().
/// @blocking As wait().
[[nodiscard]] inline ending wait_all(std::span<task> awaited) {
    if (frontend::may_suspend()) frontend::suspension{after(awaited)}.suspend();
    return commtask::wait_all(awaited);
}

/// Waits for an event.
/// @param awaited  must live until the call returns.
/// @throws error  as wait().
/// @blocking As wait().
inline void wait(const event& awaited) {
    if (frontend::may_suspend()) return frontend::suspension{after(awaited)}.suspend();
    static_cast<void>(post(noop(), after(awaited)).wait());
}

} // namespace commtask::tbb
