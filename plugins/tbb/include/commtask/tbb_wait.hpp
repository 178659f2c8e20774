// SPDX-License-Identifier: Apache-2.0
//
// Waiting inside a task without holding its thread. The task is suspended, the thread takes other work of its arena, and
// some thread of the arena goes on when the communication has ended. The price is a stack per suspended task (oneTBB
// keeps them for reuse) and about one microsecond on top of the completion.
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

/// In a trace: the body that runs here pauses, and goes on, on whatever thread that is then, because of what it waited for.
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

/// A task that does nothing comes after what is waited for, and its callback resumes. It lies on the suspended stack, so
/// nothing of it may be touched after the resume.
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
        // oneTBB allows the resume to come before the suspension is complete, from any thread or from in here.
        ::tbb::task::suspend([this](::tbb::task::suspend_point point) {
            point_ = point;
            const int code = commtask_submit(commtask_op_noop(MPI_COMM_SELF), &raw_, nullptr);
            if (code == COMMTASK_OK) return; // *this may be gone
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

/// Whether this thread runs a task of oneTBB, so that there may be other work for it, and may leave it: who drives the lane
/// would take it along, and nobody else could.
[[nodiscard]] inline bool may_suspend() {
    return ::tbb::task::current_context() != nullptr && commtask_in_progress_call() == 0;
}

} // namespace frontend
/// @endcond

/// Waits for a task; the thread does other work meanwhile. The calling task may go on on another thread, so nothing that
/// belongs to a thread (thread-local variables, a held mutex) may be carried across; inside this_task_arena::isolate the
/// thread may take work from outside the isolated region, on another stack.
/// @param awaited  its handle is empty afterwards; an empty one returns at once. No other thread may use it meanwhile.
/// @return how it ended. A canceled task group ends no wait: cancel the task too.
/// @throws error  on the worker, e.g. in a callback, where waiting would stop everything.
/// @blocking Never a thread that runs a task of oneTBB. A thread that runs none blocks as in commtask::task::wait().
[[nodiscard]] inline outcome wait(task& awaited) {
    if (!frontend::may_suspend()) return awaited.wait();
    if (auto ended = awaited.test()) return *std::move(ended);
    frontend::suspension{after(awaited)}.suspend();
    return awaited.wait(); // it has ended, unless the library gave the waiting up before the task
}

/// Waits for a task whose handle nobody else has: wait(post(...)).
/// @param awaited  a temporary.
/// @return how it ended.
/// @throws error  as for the other one.
/// @blocking As the other one.
[[nodiscard]] inline outcome wait(task&& awaited) { return wait(awaited); }

/// Waits for several tasks with one suspension.
/// @param awaited  handles; empty ones are skipped. They are empty afterwards.
/// @return failed if at least one failed, else canceled if at least one was, else completed.
/// @throws error  as wait().
/// @blocking As wait().
[[nodiscard]] inline ending wait_all(std::span<task> awaited) {
    if (frontend::may_suspend()) frontend::suspension{after(awaited)}.suspend();
    return commtask::wait_all(awaited);
}

/// Waits for an event.
/// @param awaited  must live until then.
/// @throws error  as wait().
/// @blocking As wait().
inline void wait(const event& awaited) {
    if (frontend::may_suspend()) return frontend::suspension{after(awaited)}.suspend();
    static_cast<void>(post(noop(), after(awaited)).wait());
}

} // namespace commtask::tbb
