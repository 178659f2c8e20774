// SPDX-License-Identifier: Apache-2.0
//
// The handle of a task, owned by one object, and waiting for it. Dropping the handle lets the task go on, but for what the handle's
// scope or routine does, or an exception that passes (joining.hpp). Waiting empties the handle, because the slot behind it is
// then used for another task.
#pragma once

#include <commtask/handles.hpp>
#include <commtask/joining.hpp>
#include <commtask/outcome.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace commtask {

/// A posted task. Move-only; an empty one counts as ended. One thread at a time may use a handle.
class [[nodiscard]] task {
public:
    /// An empty handle.
    task() noexcept = default;
    task(const task&) = delete;
    task& operator=(const task&) = delete;
    /// @param other  is empty afterwards.
    task(task&& other) noexcept : handle_(std::exchange(other.handle_, COMMTASK_NULL)) {}
    /// @param other  is empty afterwards.
    /// @return this handle; the task that it held before is dropped, as by the destructor.
    task& operator=(task&& other) noexcept {
        task taken{std::move(other)};
        std::swap(handle_, taken.handle_);
        return *this;
    }
    /// Without a scope the task goes on, and in a scope or a routine it belongs to that. While an exception passes it is canceled, and
    /// waited for: buffers that were declared before the handle may go afterwards.
    ~task() {
        if (handle_ != COMMTASK_NULL) frontend::drop(handle_);
    }

    /// Takes over a handle of the C interface.
    /// @param handle  from commtask_post; this object gives it back.
    /// @return its owner.
    static task adopt(commtask_t handle) noexcept {
        task owner;
        owner.handle_ = handle;
        return owner;
    }

    /// Whether there is a task that was not waited for yet.
    explicit operator bool() const noexcept { return handle_ != COMMTASK_NULL; }

    /// Waits until the task has ended; the handle is empty afterwards.
    /// @return how it ended.
    /// @throws error  on the worker, where waiting would stop everything.
    outcome wait() {
        outcome result;
        frontend::check_waited(commtask_wait(&handle_, &result.native()));
        return result;
    }

    /// Waits, but not for ever.
    /// @param timeout  zero or negative: one look.
    /// @return how it ended; nothing if the time is over, then the handle stays valid.
    /// @throws error  on the worker, where waiting would stop everything.
    template <typename Rep, typename Period>
    [[nodiscard]] std::optional<outcome> wait_for(std::chrono::duration<Rep, Period> timeout) {
        outcome result;
        const int code = commtask_wait_for(&handle_, frontend::timeout_ns(timeout), &result.native());
        if (code == COMMTASK_TIMEOUT) return std::nullopt;
        frontend::check_waited(code);
        return result;
    }

    /// Looks whether the task has ended; if so, the handle is empty afterwards.
    /// @return how it ended; nothing if it has not.
    [[nodiscard]] std::optional<outcome> test() {
        outcome result;
        int ended = 0;
        frontend::check_waited(commtask_test(&handle_, &ended, &result.native()));
        if (ended == 0) return std::nullopt;
        return result;
    }

    /// Asks for the task to be canceled. One that has not started never will; a receive that no message has matched is
    /// withdrawn; anything else completes. Wait for it to learn which.
    /// @throws error  if the handle is empty.
    void cancel() { frontend::check(commtask_cancel(handle_)); }

    /// Gives the handle back without waiting; the task goes on, whatever scope this is in.
    void release() noexcept {
        if (handle_ != COMMTASK_NULL) static_cast<void>(commtask_release(&handle_));
    }

    /// The C handle.
    /// @return a handle that this object keeps.
    [[nodiscard]] commtask_t native() const noexcept { return handle_; }

    /// Hands the C handle over.
    /// @return a handle that the caller must give back; this object is empty.
    [[nodiscard]] commtask_t to_native() noexcept { return std::exchange(handle_, COMMTASK_NULL); }

private:
    commtask_t handle_ = COMMTASK_NULL;
};

/// Which of several tasks ended, and how.
struct ended_task {
    std::size_t index; ///< Its place; the number of tasks if all handles were empty.
    outcome result;    ///< How it ended.
};

/// @cond
namespace frontend {

/// The C handles of several tasks for the time of one call, written back at its end whatever it does.
class borrowed_handles {
public:
    explicit borrowed_handles(std::span<task> tasks) : tasks_(tasks) {
        for (const task& each : tasks) handles_.add(each.native());
        for (task& each : tasks) static_cast<void>(each.to_native());
    }
    borrowed_handles(const borrowed_handles&) = delete;
    borrowed_handles& operator=(const borrowed_handles&) = delete;
    ~borrowed_handles() {
        for (std::size_t i = 0; i < tasks_.size(); ++i) tasks_[i] = task::adopt(handles_.data()[i]);
    }
    [[nodiscard]] commtask_t* data() noexcept { return handles_.data(); }
    [[nodiscard]] std::size_t size() const noexcept { return tasks_.size(); }

private:
    std::span<task> tasks_;
    handle_list<commtask_t, 32> handles_;
};

inline std::optional<ended_task> wait_any_ns(std::span<task> tasks, std::int64_t timeout) {
    borrowed_handles handles{tasks};
    ended_task ended{tasks.size(), {}};
    const int code = commtask_wait_any(handles.size(), handles.data(), timeout, &ended.index, &ended.result.native());
    if (code == COMMTASK_TIMEOUT) return std::nullopt;
    check_waited(code);
    return ended;
}

inline std::optional<ending> wait_all_ns(std::span<task> tasks, std::int64_t timeout) {
    borrowed_handles handles{tasks};
    const int code = commtask_wait_all(handles.size(), handles.data(), timeout, nullptr);
    switch (code) {
    case COMMTASK_TIMEOUT: return std::nullopt;
    case COMMTASK_FAILED: return ending::failed;
    case COMMTASK_CANCELED: return ending::canceled;
    default: check(code); return ending::completed;
    }
}

} // namespace frontend
/// @endcond

/// Waits until one of several tasks has ended; its handle is empty afterwards.
/// @param tasks  handles; empty ones are skipped.
/// @return which one and how; the index is tasks.size() if all were empty.
/// @throws error  on the worker.
[[nodiscard]] inline ended_task wait_any(std::span<task> tasks) { return *frontend::wait_any_ns(tasks, -1); }

/// Waits for one of several tasks, but not for ever.
/// @param tasks  handles; empty ones are skipped.
/// @param timeout  zero or negative: one look.
/// @return which one and how; nothing if the time is over.
/// @throws error  on the worker.
template <typename Rep, typename Period>
[[nodiscard]] std::optional<ended_task> wait_any_for(std::span<task> tasks,
                                                     std::chrono::duration<Rep, Period> timeout) {
    return frontend::wait_any_ns(tasks, frontend::timeout_ns(timeout));
}

/// Waits until all of several tasks have ended; their handles are empty afterwards. Wait for each alone, or use
/// report_to(), to learn which of them failed and why.
/// @param tasks  handles; empty ones are skipped.
/// @return failed if at least one failed, else canceled if at least one was, else completed.
/// @throws error  on the worker.
[[nodiscard]] inline ending wait_all(std::span<task> tasks) { return *frontend::wait_all_ns(tasks, -1); }

/// Waits for several tasks, but not for ever.
/// @param tasks  handles; empty ones are skipped.
/// @param timeout  for all together; zero or negative: one look.
/// @return as wait_all(); nothing if the time is over, then the tasks that have not ended keep their handles.
/// @throws error  on the worker.
template <typename Rep, typename Period>
[[nodiscard]] std::optional<ending> wait_all_for(std::span<task> tasks, std::chrono::duration<Rep, Period> timeout) {
    return frontend::wait_all_ns(tasks, frontend::timeout_ns(timeout));
}

} // namespace commtask
