// SPDX-License-Identifier: Apache-2.0
//
// oneTBB's compute tasks in a trace of COMMTASK_TRACE. oneTBB does not report its tasks to other
// code, so a program traces bodies: traced(name, body) calls `body` and records the call. Without a
// trace the cost is one function call. The nodes of this front end record their tasks themselves.
#pragma once

#include <commtask/trace.h>

#include <cstdint>
#include <functional>
#include <utility>

namespace commtask::tbb {

/// @cond
namespace frontend {

/// Records a body, or the work of a node, while it runs. A thread may run another task while this
/// body waits for tasks of oneTBB: the other task ends first. A body that waits for messages
/// (tbb_wait.hpp) leaves its thread and takes the frames around it along.
class traced_run {
public:
    /// @param before  the communication task after which it runs; 0: unknown
    traced_run(commtask_trace_model model, std::uint32_t name, std::uint64_t before = 0) noexcept {
        if (commtask_trace_is_on() == 0) return;
        outer_ = commtask_trace_running();
        id_ = commtask_trace_compute_created(model, name, outer_);
        commtask_trace_after(id_, before);
        commtask_trace_compute_end(outer_, COMMTASK_TRACE_PAUSED);
        commtask_trace_compute_begin(id_);
    }
    traced_run(const traced_run&) = delete;
    traced_run& operator=(const traced_run&) = delete;
    ~traced_run() {
        commtask_trace_compute_end(id_, COMMTASK_TRACE_COMPLETED);
        commtask_trace_compute_begin(outer_);
    }

private:
    std::uint64_t outer_ = 0;
    std::uint64_t id_ = 0;
};

/// A node forwards the result of a task, on any thread.
class forwarding : public traced_run {
public:
    forwarding(std::uint32_t node, std::uint64_t task) noexcept : traced_run(COMMTASK_TRACE_NODE, node, task) {}
};

} // namespace frontend
/// @endcond

/// The body of a node or of a parallel algorithm, with a name.
template <typename Body>
class traced {
public:
    /// @param name  of its tasks in the trace.
    /// @param body  the body of these tasks; copied as oneTBB copies bodies.
    traced(const char* name, Body body) : name_(commtask_trace_text(name)), body_(std::move(body)) {}

    /// Runs the body.
    /// @param arguments  passed by oneTBB.
    /// @return the result of the body.
    template <typename... Arguments>
    decltype(auto) operator()(Arguments&&... arguments) {
        const frontend::traced_run scope{COMMTASK_TRACE_TBB, name_};
        return std::invoke(body_, std::forward<Arguments>(arguments)...);
    }
    /// Runs the body, for oneTBB's algorithms, whose bodies are const.
    /// @param arguments  passed by oneTBB.
    /// @return the result of the body.
    template <typename... Arguments>
    decltype(auto) operator()(Arguments&&... arguments) const {
        const frontend::traced_run scope{COMMTASK_TRACE_TBB, name_};
        return std::invoke(body_, std::forward<Arguments>(arguments)...);
    }

private:
    std::uint32_t name_;
    Body body_;
};

} // namespace commtask::tbb
