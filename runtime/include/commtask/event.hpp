// SPDX-License-Identifier: Apache-2.0
//
// An event that compute threads signal and tasks wait for, owned by one object. Share it by
// reference, since it cannot be copied. A predecessor event costs a post no more than a predecessor
// task.
#pragma once

#include <commtask/error.hpp>

#include <utility>

namespace commtask {

/// An event that is complete after a number of signals. Any thread may signal; the owner must
/// outlive the last signal.
class event {
public:
    /// @param n_signals  number of signals that complete the event, at least 1.
    /// @throws error  if `n_signals` is 0, the library is not initialised or there is no memory.
    explicit event(unsigned n_signals = 1) { frontend::check(commtask_event_create(n_signals, &handle_)); }

    event(const event&) = delete;
    event& operator=(const event&) = delete;
    /// @param other  is empty afterwards.
    event(event&& other) noexcept : handle_(std::exchange(other.handle_, COMMTASK_EVENT_NULL)) {}
    /// @param other  is empty afterwards.
    /// @return this event; its previous event is released.
    event& operator=(event&& other) noexcept {
        event taken{std::move(other)};
        std::swap(handle_, taken.handle_);
        return *this;
    }
    /// Releases the event. Tasks that wait for it keep waiting.
    ~event() {
        if (handle_ != COMMTASK_EVENT_NULL) static_cast<void>(commtask_event_release(&handle_));
    }

    /// Signals once; the last signal lets the successors start.
    /// @throws error  if it was signalled more than n_signals times.
    void signal() { frontend::check(commtask_event_signal(handle_)); }

    /// Signals once, without an exception, e.g. in callbacks.
    /// @return false if it was signalled more than n_signals times.
    [[nodiscard]] bool try_signal() noexcept { return commtask_event_signal(handle_) == COMMTASK_OK; }

    /// Returns the C handle.
    /// @return a handle that this object still owns.
    [[nodiscard]] commtask_event_t native() const noexcept { return handle_; }

private:
    commtask_event_t handle_ = COMMTASK_EVENT_NULL;
};

} // namespace commtask
