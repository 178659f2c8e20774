// SPDX-License-Identifier: Apache-2.0
//
// Standing receives, owned by one object: a function is called for each message that comes with a tag, whoever sends it. It looks at
// the message where it lies, or takes it along to a thread or a task that works on it.
#pragma once

#include <commtask/closure.hpp>
#include <commtask/datatype.hpp>
#include <commtask/error.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <utility>

namespace commtask {

/// A message that has come. The handler's as long as it runs; moved away, it stays until the object it was moved to is gone.
class message {
public:
    /// None.
    message() noexcept = default;
    message(const message&) = delete;
    message& operator=(const message&) = delete;
    /// @param other  has none afterwards; its memory is kept from now on.
    message(message&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)), is_kept_(true) {}
    /// @param other  has none afterwards.
    /// @return this message; the one before is given back.
    message& operator=(message&& other) noexcept {
        message taken{std::move(other)};
        std::swap(raw_, taken.raw_);
        std::swap(is_kept_, taken.is_kept_);
        return *this;
    }
    /// Gives its memory back for the next message.
    ~message() {
        if (is_kept_) static_cast<void>(commtask_message_release(raw_));
    }

    /// Whether there is one.
    explicit operator bool() const noexcept { return raw_ != nullptr; }
    /// Whether it was received: else it was longer than a slot, or MPI says error().
    /// @return so it is.
    [[nodiscard]] bool is_good() const noexcept { return raw_->error == MPI_SUCCESS; }
    /// Why it was not received.
    /// @return an MPI error code.
    [[nodiscard]] int error() const noexcept { return raw_->error; }
    /// Who sent it.
    /// @return the rank.
    [[nodiscard]] int source() const noexcept { return raw_->source; }
    /// Its tag.
    /// @return the tag.
    [[nodiscard]] int tag() const noexcept { return raw_->tag; }
    /// What was sent.
    /// @return the bytes, aligned to 64.
    [[nodiscard]] std::span<std::byte> bytes() const noexcept {
        return {static_cast<std::byte*>(raw_->data), static_cast<std::size_t>(raw_->bytes)};
    }
    /// What was sent, as elements of one type.
    /// @return as many as the message has whole ones.
    template <plain_element T>
    [[nodiscard]] std::span<T> as() const noexcept {
        return {static_cast<T*>(raw_->data), static_cast<std::size_t>(raw_->bytes) / sizeof(T)};
    }

private:
    friend class listener;
    explicit message(commtask_message* raw) noexcept : raw_(raw) {}

    commtask_message* raw_ = nullptr;
    bool is_kept_ = false; ///< Else its handler runs.
};

/// Receives messages from anybody for as long as it lives. Move-only; an empty one receives nothing.
class listener {
public:
    /// An empty one.
    listener() noexcept = default;
    /// From now on calls `handler(message&)` for each message, on the worker: it may signal, post and move the message away, must not
    /// wait and should not compute. Messages of one sender come in their order.
    /// @param comm  the communicator.
    /// @param tag  of the messages, or MPI_ANY_TAG.
    /// @param max_bytes  the longest message.
    /// @param n_slots  how many can be here at the same time; those beyond wait with MPI, as commtask_listen says.
    /// @param handler  must not throw.
    /// @throws error  if an argument is wrong, or there is no memory.
    template <std::invocable<message&> Handler>
    listener(MPI_Comm comm, int tag, std::size_t max_bytes, std::size_t n_slots, Handler handler)
        : handler_(frontend::own_function(std::move(handler))) {
        const auto call = [](commtask_message* raw, void* self) noexcept -> int {
            message come{raw};
            (*static_cast<Handler*>(self))(come);
            return come ? COMMTASK_MESSAGE_DONE : COMMTASK_MESSAGE_KEPT;
        };
        frontend::check(commtask_listen(comm, tag, max_bytes, n_slots, +call, handler_.get(), &handle_));
    }
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;
    /// @param other  is empty afterwards.
    listener(listener&& other) noexcept
        : handler_(std::move(other.handler_)), handle_(std::exchange(other.handle_, COMMTASK_LISTENER_NULL)) {}
    /// @param other  is empty afterwards.
    /// @return this listener; the one before is ended.
    listener& operator=(listener&& other) noexcept {
        listener taken{std::move(other)};
        std::swap(handler_, taken.handler_);
        std::swap(handle_, taken.handle_);
        return *this;
    }
    /// As stop(). In a callback, where it cannot wait, and without memory it leaves handler and receives to commtask_finalize.
    ~listener() {
        if (handle_ == COMMTASK_LISTENER_NULL) return;
        if (!frontend::has_let_go(commtask_unlisten(&handle_))) static_cast<void>(handler_.release());
    }

    /// Waits until the handler has been called for the last time. Messages that were moved away stay good.
    /// @throws error  in a callback, or without memory.
    void stop() { frontend::check(commtask_unlisten(&handle_)); }

    /// Whether it receives.
    explicit operator bool() const noexcept { return handle_ != COMMTASK_LISTENER_NULL; }

private:
    frontend::owned_function handler_ = frontend::no_function();
    commtask_listener_t handle_ = COMMTASK_LISTENER_NULL;
};

} // namespace commtask
