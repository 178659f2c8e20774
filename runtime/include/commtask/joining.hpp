// SPDX-License-Identifier: Apache-2.0
//
// What happens to a task whose handle is dropped. A task that has not ended uses its buffers, which
// may be about to go out of scope. So the task is canceled and waited for if an exception unwinds
// the handle, or if a scope or a routine ends. Otherwise the task continues. Internal.
#pragma once

#include <commtask/commtask.h>
#include <commtask/error.hpp>

#include <cstddef>
#include <exception>
#include <new>
#include <utility>
#include <vector>

/// @cond
namespace commtask::frontend {

/// Cancels tasks and waits for them, without waiting in a callback. Never throws.
inline void join(std::size_t n_tasks, commtask_t* tasks) noexcept {
    if (commtask_join(n_tasks, tasks) != COMMTASK_ERR_WORKER_THREAD) return;
    commtask_print("a task was dropped in a callback, which cannot wait for it: it was canceled, and an operation that "
                   "has started may continue");
}

/// Open tasks that end with a scope or a routine. One thread at a time may use it.
class owner {
public:
    owner() noexcept = default;
    owner(const owner&) = delete;
    owner& operator=(const owner&) = delete;
    ~owner() = default;

    /// Returns the innermost owner of the calling thread; null: none.
    [[nodiscard]] static owner* innermost() noexcept { return of_thread(); }
    /// Sets the innermost owner of the calling thread.
    /// @return the previous owner
    static owner* enter(owner* next) noexcept { return std::exchange(of_thread(), next); }

    /// Adds a task that continues and now belongs to this owner.
    void add(commtask_t handle) noexcept {
        if (lets_go_) {
            static_cast<void>(commtask_release(&handle));
            return;
        }
        if (open_.size() == open_.capacity()) forget_ended();
        try {
            open_.push_back(handle);
        } catch (const std::bad_alloc&) {
            join(1, &handle);
        }
    }

    /// Tells whether a task whose handle is dropped now must be joined.
    [[nodiscard]] bool joins_now() const noexcept { return is_leaving_ || std::uncaught_exceptions() > n_exceptions_; }
    void is_entered() noexcept { n_exceptions_ = std::uncaught_exceptions(); }
    /// Marks the end of the scope: its variables are destroyed from here on.
    void leave() noexcept { is_leaving_ = true; }

    /// From here on, tasks whose handles are dropped continue without an owner.
    void let_all_go() noexcept { lets_go_ = true; }

    void join_all() noexcept {
        join(open_.size(), open_.data());
        open_.clear();
    }
    /// Waits without canceling.
    /// @return as commtask_wait_all; COMMTASK_CANCELED also for tasks that ended earlier
    [[nodiscard]] int wait_all() noexcept {
        const int code = commtask_wait_all(open_.size(), open_.data(), nullptr);
        std::erase(open_, COMMTASK_NULL);
        return code;
    }
    void cancel_all() noexcept {
        for (const commtask_t each : open_) static_cast<void>(commtask_cancel(each));
    }
    /// Lets all tasks continue without an owner.
    void let_go() noexcept {
        for (commtask_t& each : open_) static_cast<void>(commtask_release(&each));
        open_.clear();
    }

private:
    [[nodiscard]] static owner*& of_thread() noexcept {
        static constinit thread_local owner* innermost_of_thread = nullptr;
        return innermost_of_thread;
    }

    /// Removes tasks that have ended, so that a loop that drops its handles does not let the list
    /// grow.
    void forget_ended() noexcept {
        for (commtask_t& each : open_) static_cast<void>(commtask_wait_for(&each, 0, nullptr));
        std::erase(open_, COMMTASK_NULL);
    }

    std::vector<commtask_t> open_;
    int n_exceptions_ = std::uncaught_exceptions();
    bool is_leaving_ = false;
    bool lets_go_ = false;
};

/// Sets the innermost owner of the thread for its lifetime; null: none.
class in_owner {
public:
    explicit in_owner(owner* next) noexcept : before_(owner::enter(next)) {}
    in_owner(const in_owner&) = delete;
    in_owner& operator=(const in_owner&) = delete;
    ~in_owner() { owner::enter(before_); }

private:
    owner* before_;
};

/// Exists while a callback of the program runs. The thread may be waiting in a scope, and tasks of
/// the callback must not belong to that scope.
class in_callback {
public:
    in_callback() noexcept { mine_.let_all_go(); }

private:
    owner mine_;
    in_owner scope_{&mine_};
};

/// Drops the handle of a `task` object that was not waited for.
inline void drop(commtask_t handle) noexcept {
    owner* const mine = owner::innermost();
    if (mine == nullptr ? std::uncaught_exceptions() > 0 : mine->joins_now()) {
        join(1, &handle);
    } else if (mine != nullptr) {
        mine->add(handle);
    } else {
        static_cast<void>(commtask_release(&handle));
    }
}

} // namespace commtask::frontend
/// @endcond
