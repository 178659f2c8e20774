// SPDX-License-Identifier: Apache-2.0
//
// The records of tasks for COMMTASK_TRACE=dir: an observer of the lanes that writes each step with
// its own time, and the records of posting and waiting threads. Statistics count the same steps; a
// trace stores each.
#pragma once

#include "core/observer.hpp"
#include "core/operation_traits.hpp"
#include "core/tracer.hpp"
#include "report/trace_file.hpp"

#include <cstdint>

namespace commtask::detail {

class task_trace final : public task_observer {
public:
    /// From here on threads write to the file.
    explicit task_trace(trace_file& file) noexcept;
    task_trace(const task_trace&) = delete;
    task_trace& operator=(const task_trace&) = delete;
    ~task_trace();

    void moved(const task& which, const life_step& step) noexcept override;

    /// Called by the submitter when the lane has the task. Writes the task's identifier and its
    /// operation.
    void posted(std::uint64_t id, const commtask_op& op, const comm_queue& queue, std::uint32_t flags,
                std::uint64_t begin_ns) noexcept;
    /// Called by the submitter, after posted().
    void waits_for(std::uint64_t id, std::uint64_t predecessor) noexcept;

    /// Called by a thread that called MPI directly, for an operation that was no task. It began at
    /// `begin_ns` and has just succeeded.
    /// @param how  source < 0: the operation has received nothing
    void passed(const commtask_op& op, const comm_queue& queue, std::uint64_t begin_ns, const task_result& how,
                std::int64_t sent_bytes) noexcept;

    /// The calling thread waits for a task, or for several (null).
    void wait_begins(const task* which) noexcept;
    void wait_ends(const task* which) noexcept;

    [[nodiscard]] tracer& records() noexcept { return records_; }

    /// Called after the last task has ended.
    void end(trace::file_state state) noexcept;

private:
    void member_begins(const task& which) noexcept;
    void write_others(std::uint64_t id, const commtask_op& op, const operation_traits& kind,
                      std::uint64_t begin_ns) noexcept;
    void write_posted(std::uint64_t id, const commtask_op& op, const comm_queue& queue, std::uint32_t flags,
                      std::uint64_t begin_ns) noexcept;

    trace_file& file_;
    tracer& records_;
    bool is_ended_ = false;
};

} // namespace commtask::detail
