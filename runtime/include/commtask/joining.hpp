// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a task whose handle is dropped. A task that is still open writes to its buffers, which may be about to go: an exception
// that passes, the end of a scope and the end of a routine end the task first. Otherwise it goes on. Nothing here is for callers.
#pragma once

#include <commtask/error.hpp>
#include <commtask/unfinished.h>

#include <cstddef>
#include <exception>
#include <new>
#include <utility>
#include <vector>

/// @cond
namespace commtask::frontend {

/// Cancels, then waits. Never throws and, where a thread must not wait, never hangs.
inline void join(std::size_t n_tasks, commtask_t* tasks) noexcept {
    if (commtask_join(n_tasks, tasks) != COMMTASK_ERR_WORKER_THREAD) return;
    commtask_say("a task was dropped where it cannot be waited for, in a callback: it was canceled, and what it has "
                 "begun may go on");
}

/// Open tasks that end with a scope, or with a routine. One thread at a time.
class owner {
public:
    owner() noexcept = default;
    owner(const owner&) = delete;
    owner& operator=(const owner&) = delete;
    ~owner() = default;

    /// The calling thread's; null: it is in none.
    [[nodiscard]] static owner* innermost() noexcept { return of_thread(); }
    /// @return the one before
    static owner* enter(owner* next) noexcept { return std::exchange(of_thread(), next); }

    /// A task goes on, and is this owner's from now on.
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

    /// Whether a handle that is dropped now must not go on.
    [[nodiscard]] bool joins_now() const noexcept { return is_leaving_ || std::uncaught_exceptions() > n_exceptions_; }
    void is_entered() noexcept { n_exceptions_ = std::uncaught_exceptions(); }
    /// From here on the variables go.
    void leave() noexcept { is_leaving_ = true; }

    /// From here on handles that are dropped are given back.
    void let_all_go() noexcept { lets_go_ = true; }

    void join_all() noexcept {
        join(open_.size(), open_.data());
        open_.clear();
    }
    /// Waits without canceling.
    /// @return as commtask_wait_all; COMMTASK_CANCELED also of what ended earlier
    [[nodiscard]] int wait_all() noexcept {
        const int code = commtask_wait_all(open_.size(), open_.data(), -1, nullptr);
        std::erase(open_, COMMTASK_NULL);
        return code;
    }
    void cancel_all() noexcept {
        for (const commtask_t each : open_) static_cast<void>(commtask_cancel(each));
    }
    /// They go on.
    void let_go() noexcept {
        for (commtask_t& each : open_) static_cast<void>(commtask_release(&each));
        open_.clear();
    }

private:
    [[nodiscard]] static owner*& of_thread() noexcept {
        static constinit thread_local owner* innermost_of_thread = nullptr;
        return innermost_of_thread;
    }

    /// A loop that drops its handles must not have this grow.
    void forget_ended() noexcept {
        for (commtask_t& each : open_) static_cast<void>(commtask_wait_for(&each, 0, nullptr));
        std::erase(open_, COMMTASK_NULL);
    }

    std::vector<commtask_t> open_;
    int n_exceptions_ = std::uncaught_exceptions();
    bool is_leaving_ = false;
    bool lets_go_ = false;
};

/// While one of these lives, the thread is in no scope, or in another one.
class in_owner {
public:
    explicit in_owner(owner* next) noexcept : before_(owner::enter(next)) {}
    in_owner(const in_owner&) = delete;
    in_owner& operator=(const in_owner&) = delete;
    ~in_owner() { owner::enter(before_); }

private:
    owner* before_;
};

/// While a function of the program is called back: the thread may wait in a scope, or join, and the function is no part of that.
class in_callback {
public:
    in_callback() noexcept { mine_.let_all_go(); }

private:
    owner mine_;
    in_owner scope_{&mine_};
};

/// The end of a `task` that nobody has waited for.
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
