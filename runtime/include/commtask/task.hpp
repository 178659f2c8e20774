// SPDX-License-Identifier: Apache-2.0
//
// The handle of a task, owned by one object, and functions that wait for tasks. If a handle is
// dropped, the task continues, unless a scope, a routine or an exception ends it (joining.hpp). A
// wait empties the handle, because the library reuses the task's memory.
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

/// A posted task. Move-only; an empty handle counts as ended. One thread at a time may use a
/// handle.
class [[nodiscard]] task {
public:
    /// Makes an empty handle.
    task() noexcept = default;
    task(const task&) = delete;
    task& operator=(const task&) = delete;
    /// @param other  is empty afterwards.
    task(task&& other) noexcept : handle_(std::exchange(other.handle_, COMMTASK_NULL)) {}
    /// @param other  is empty afterwards.
    /// @return this handle; its previous task is dropped, as by the destructor.
    task& operator=(task&& other) noexcept {
        task taken{std::move(other)};
        std::swap(handle_, taken.handle_);
        return *this;
    }
    /// Drops the handle. Outside a scope or routine the task continues; inside, the scope or
    /// routine owns the task now. If an exception unwinds the handle, the task is canceled and
    /// waited for, since buffers that were declared before the handle may be destroyed next.
    ~task() {
        if (handle_ != COMMTASK_NULL) frontend::drop(handle_);
    }

    /// Takes over a handle of the C interface.
    /// @param handle  from commtask_post; this object releases it.
    /// @return its owner.
    static task adopt(commtask_t handle) noexcept {
        task owner;
        owner.handle_ = handle;
        return owner;
    }

    /// Whether the handle has a task that was not waited for yet.
    explicit operator bool() const noexcept { return handle_ != COMMTASK_NULL; }

    /// Waits until the task has ended; the handle is empty afterwards.
    /// @return how it ended.
    /// @throws error  if called on the worker, which must not wait.
    outcome wait() {
        outcome result;
        frontend::check_waited(commtask_wait(&handle_, &result.native()));
        return result;
    }

    /// Waits until the task has ended, at most for a given time. If it has ended, the handle is
    /// empty afterwards.
    /// @param timeout  zero or negative: tests and does not wait.
    /// @return how it ended; nothing after the timeout, and the handle stays valid.
    /// @throws error if called on the worker, which must not wait.
    template <typename Rep, typename Period>
    [[nodiscard]] std::optional<outcome> wait_for(std::chrono::duration<Rep, Period> timeout) {
        outcome result;
        const int code = commtask_wait_for(&handle_, frontend::timeout_ns(timeout), &result.native());
        if (code == COMMTASK_TIMEOUT) return std::nullopt;
        frontend::check_waited(code);
        return result;
    }

    /// Tests whether the task has ended; if so, the handle is empty afterwards.
    /// @return how it ended; nothing if it has not.
    [[nodiscard]] std::optional<outcome> test() {
        outcome result;
        int ended = 0;
        frontend::check_waited(commtask_test(&handle_, &ended, &result.native()));
        if (ended == 0) return std::nullopt;
        return result;
    }

    /// Requests that the task be canceled. A task that has not started never starts. A receive is
    /// canceled if no message has matched it. Any other task completes. The outcome of wait() tells
    /// which of these happened.
    /// @throws error  if the handle is empty.
    void cancel() { frontend::check(commtask_cancel(handle_)); }

    /// Releases the handle without waiting; the task continues, even in a scope.
    void release() noexcept {
        if (handle_ != COMMTASK_NULL) static_cast<void>(commtask_release(&handle_));
    }

    /// Returns the C handle.
    /// @return a handle that this object still owns.
    [[nodiscard]] commtask_t native() const noexcept { return handle_; }

    /// Returns the C handle and its ownership.
    /// @return a handle that the caller must release; this object is empty.
    [[nodiscard]] commtask_t to_native() noexcept { return std::exchange(handle_, COMMTASK_NULL); }

private:
    commtask_t handle_ = COMMTASK_NULL;
};

/// The task that ended, of several tasks, and its outcome.
struct ended_task {
    std::size_t index; ///< Its index; the number of tasks if all handles were empty.
    outcome result;    ///< How it ended.
};

/// @cond
namespace frontend {

/// The C handles of several tasks for the time of one call. The destructor writes them back.
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

/// Converts the code of commtask_wait_all.
[[nodiscard]] inline ending ending_of_all(int code) {
    if (code == COMMTASK_FAILED) return ending::failed;
    if (code == COMMTASK_CANCELED) return ending::canceled;
    check(code);
    return ending::completed;
}

} // namespace frontend
/// @endcond

/// Waits until one of several tasks has ended; its handle is empty afterwards.
/// @param tasks  handles; empty ones are skipped.
/// @return index and outcome; the index is tasks.size() if all handles were empty.
/// @throws error  if called on the worker.
[[nodiscard]] inline ended_task wait_any(std::span<task> tasks) {
    frontend::borrowed_handles handles{tasks};
    ended_task ended{tasks.size(), {}};
    frontend::check_waited(commtask_wait_any(handles.size(), handles.data(), &ended.index, &ended.result.native()));
    return ended;
}

/// Waits until one of several tasks has ended, at most for a given time.
/// @param tasks  handles; empty ones are skipped.
/// @param timeout  zero or negative: tests and does not wait.
/// @return index and outcome; nothing after the timeout.
/// @throws error  if called on the worker.
template <typename Rep, typename Period>
[[nodiscard]] std::optional<ended_task> wait_any_for(std::span<task> tasks,
                                                     std::chrono::duration<Rep, Period> timeout) {
    frontend::borrowed_handles handles{tasks};
    ended_task ended{tasks.size(), {}};
    const int code = commtask_wait_any_for(handles.size(), handles.data(), frontend::timeout_ns(timeout), &ended.index,
                                           &ended.result.native());
    if (code == COMMTASK_TIMEOUT) return std::nullopt;
    frontend::check_waited(code);
    return ended;
}

/// Waits until all of several tasks have ended; their handles are empty afterwards. To learn which
/// task failed and why, wait for each task alone, or use report_to().
/// @param tasks  handles; empty ones are skipped.
/// @return failed if at least one task failed, else canceled if at least one was canceled, else
///         completed.
/// @throws error  if called on the worker.
[[nodiscard]] inline ending wait_all(std::span<task> tasks) {
    frontend::borrowed_handles handles{tasks};
    return frontend::ending_of_all(commtask_wait_all(handles.size(), handles.data(), nullptr));
}

/// Waits until all of several tasks have ended, at most for a given time.
/// @param tasks  handles; empty ones are skipped.
/// @param timeout  for all tasks together; zero or negative: tests and does not wait.
/// @return as wait_all(); nothing after the timeout, and tasks that have not ended keep their
///         handles.
/// @throws error  if called on the worker.
template <typename Rep, typename Period>
[[nodiscard]] std::optional<ending> wait_all_for(std::span<task> tasks, std::chrono::duration<Rep, Period> timeout) {
    frontend::borrowed_handles handles{tasks};
    const int code = commtask_wait_all_for(handles.size(), handles.data(), frontend::timeout_ns(timeout), nullptr);
    if (code == COMMTASK_TIMEOUT) return std::nullopt;
    return frontend::ending_of_all(code);
}

} // namespace commtask
