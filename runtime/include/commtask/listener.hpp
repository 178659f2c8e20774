// SPDX-License-Identifier: Apache-2.0
//
// Active-message handlers, owned by one object: a function is called for each message with a tag,
// from any rank. The handler reads the message in place, or moves it to a thread or a task.
#pragma once

#include <commtask/closure.hpp>
#include <commtask/datatype.hpp>
#include <commtask/error.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <utility>

namespace commtask {

/// A received message. It belongs to the handler until the handler returns. If the handler moves it
/// to another object, the message stays until that object is destroyed.
class message {
public:
    /// Makes an empty object.
    message() noexcept = default;
    message(const message&) = delete;
    message& operator=(const message&) = delete;
    /// @param other  is empty afterwards. The message then outlives its handler.
    message(message&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)), is_kept_(true) {}
    /// @param other  is empty afterwards.
    /// @return this message; its previous message is released.
    message& operator=(message&& other) noexcept {
        message taken{std::move(other)};
        std::swap(raw_, taken.raw_);
        std::swap(is_kept_, taken.is_kept_);
        return *this;
    }
    /// Releases the message, so that its memory can receive the next message.
    ~message() {
        if (is_kept_) static_cast<void>(commtask_message_release(raw_));
    }

    /// Whether the object has a message.
    explicit operator bool() const noexcept { return raw_ != nullptr; }
    /// Tells whether the message was received. Otherwise it was longer than max_bytes, or MPI
    /// reported error().
    /// @return true if it was received.
    [[nodiscard]] bool is_good() const noexcept { return raw_->error == MPI_SUCCESS; }
    /// Returns the error of a message that was not received.
    /// @return an MPI error code.
    [[nodiscard]] int error() const noexcept { return raw_->error; }
    /// Returns the rank that sent the message.
    /// @return the rank.
    [[nodiscard]] int source() const noexcept { return raw_->source; }
    /// Returns the tag.
    /// @return the tag.
    [[nodiscard]] int tag() const noexcept { return raw_->tag; }
    /// Returns the received bytes.
    /// @return the bytes, aligned to 64 bytes.
    [[nodiscard]] std::span<std::byte> bytes() const noexcept {
        return {static_cast<std::byte*>(raw_->data), static_cast<std::size_t>(raw_->bytes)};
    }
    /// Returns the received elements of type T.
    /// @return all whole elements of the message.
    template <plain_element T>
    [[nodiscard]] std::span<T> as() const noexcept {
        return {static_cast<T*>(raw_->data), static_cast<std::size_t>(raw_->bytes) / sizeof(T)};
    }

private:
    friend class listener;
    explicit message(commtask_message* raw) noexcept : raw_(raw) {}

    commtask_message* raw_ = nullptr;
    bool is_kept_ = false; ///< False while its handler runs.
};

/// Receives messages of any rank during its lifetime. Move-only; an empty listener receives
/// nothing.
class listener {
public:
    /// Makes an empty listener.
    listener() noexcept = default;
    /// Calls `handler(message&)` for each message from now on, on a progress thread. The handler
    /// may signal, post and move the message away; it must not wait and should not compute.
    /// Messages of one sender come in the order of their sends.
    /// @param comm  the communicator.
    /// @param tag  tag of the messages, or MPI_ANY_TAG.
    /// @param max_bytes  length of the longest message, in bytes.
    /// @param n_slots  maximum number of messages that were received and not yet released; further
    ///                 messages stay with MPI.
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
    /// @return this listener; its previous listener is ended.
    listener& operator=(listener&& other) noexcept {
        listener taken{std::move(other)};
        std::swap(handler_, taken.handler_);
        std::swap(handle_, taken.handle_);
        return *this;
    }
    /// Ends the listener like stop(). In a callback, or if memory is exhausted, commtask_finalize
    /// ends the listener instead.
    ~listener() {
        if (handle_ == COMMTASK_LISTENER_NULL) return;
        if (!frontend::has_let_go(commtask_unlisten(&handle_))) static_cast<void>(handler_.release());
    }

    /// Ends the listener: waits until the handler has been called for the last time. Messages that
    /// were moved away stay valid.
    /// @throws error  in a callback, or if memory is exhausted.
    void stop() { frontend::check(commtask_unlisten(&handle_)); }

    /// Whether the object has a running listener.
    explicit operator bool() const noexcept { return handle_ != COMMTASK_LISTENER_NULL; }

private:
    frontend::owned_function handler_ = frontend::no_function();
    commtask_listener_t handle_ = COMMTASK_LISTENER_NULL;
};

} // namespace commtask
