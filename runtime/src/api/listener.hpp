// SPDX-License-Identifier: Apache-2.0
//
// An active-message handler: a ring of ordinary receives from MPI_ANY_SOURCE. MPI matches messages
// with receives in the order in which the receives were posted, but completes them in any order.
// The slots therefore stand in a queue in the order of their posts, and a message is handed on
// after the messages before it. Only progress threads of the communicator's lane touch the queue;
// other threads hand back messages through a list. MPI_Improbe would give exact sizes, but would
// search all unmatched messages in each progress call, and copy each message.
#pragma once

#include "base/gate.hpp"

#include <commtask/commtask.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace commtask::detail {

class comm_queue;
struct message_slot;

} // namespace commtask::detail

/// The public handle points to it. A listener lives until it was closed, none of its receives is
/// posted, and every kept message was released.
struct commtask_listener_s {
    using slot = commtask::detail::message_slot;

    /// @throws std::bad_alloc
    commtask_listener_s(commtask::detail::comm_queue& home, MPI_Comm comm, int tag, std::size_t max_bytes,
                        std::size_t n_slots, commtask_message_handler handler, void* argument);
    commtask_listener_s(const commtask_listener_s&) = delete;
    commtask_listener_s& operator=(const commtask_listener_s&) = delete;
    ~commtask_listener_s();

    /// Posts all receives. On a progress thread of the communicator's lane. @return the code of the
    /// first receive that was refused
    [[nodiscard]] int open() noexcept;
    /// Cancels the receives. On a progress thread of the communicator's lane.
    void close() noexcept;
    /// Called at the end of the library, when no thread makes progress and some of the receives may
    /// have been given up: the listener's memory stays.
    void abandon() noexcept { end(); }
    /// Sets the function to call at the end. Called by the thread that opened the listener, before
    /// any thread ends it.
    void set_on_end(void (*whom)(void*), void* argument) noexcept {
        on_ended_ = whom;
        on_ended_argument_ = argument;
    }
    /// Any thread: whether no receive is posted any more, and none will be.
    /// acquire: partner of the release in end().
    [[nodiscard]] bool has_ended() const noexcept { return has_ended_.load(std::memory_order_acquire); }
    /// Any thread. @return COMMTASK_OK, or the code of why no progress thread knows of the message
    /// yet
    [[nodiscard]] int give_back(slot& released) noexcept;
    /// Called by the thread that ends the listener, after its end: whether no thread is giving a
    /// message back, and no control task of such a thread is on its way. From here on messages are
    /// given back without a control task.
    [[nodiscard]] bool try_close_returns() noexcept { return returning_.close(); }
    /// Drops the reference of the program or of the context. The listener has ended, and no
    /// progress thread or other thread uses it any more.
    static void let_go(commtask_listener_s* ended) noexcept;
    /// Drops a reference; the last one destroys the listener.
    static void drop(commtask_listener_s* which) noexcept;
    /// The queue whose lane's progress threads own the listener. When the communicator is freed the
    /// queue stays, and may serve another communicator.
    [[nodiscard]] commtask::detail::comm_queue& home() const noexcept { return home_; }
    /// The communicator of commtask_listen. After it was freed, the handle may belong to another
    /// communicator.
    [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
    /// Any thread. Whether the communicator has not been freed.
    [[nodiscard]] bool has_communicator() const noexcept;

private:
    [[nodiscard]] int post(slot& free) noexcept;
    void deliver_in_order() noexcept;
    void hand_over(slot& taken) noexcept;
    void repost_returned() noexcept;
    void take_back(slot& free) noexcept;
    void push_returned(slot& free) noexcept;
    void leave() noexcept;
    void end_if_idle() noexcept;
    void end() noexcept;
    static void on_end(const commtask_status* status, void* slot) noexcept;
    static void on_returned(const commtask_status* status, void* self) noexcept;

    commtask::detail::comm_queue& home_;
    /// Identifies the communicator, as home_ had it at the beginning.
    const std::uint64_t home_life_;
    const MPI_Comm comm_;
    const int tag_;
    const std::size_t max_bytes_;
    const commtask_message_handler handler_;
    void* const argument_;
    std::unique_ptr<std::byte[]> memory_;
    std::vector<slot> slots_;

    // Of the progress thread.
    slot* first_ = nullptr; ///< The receive that was posted first among the ones not handed on.
    slot* last_ = nullptr;
    bool is_closed_ = false;
    bool has_warned_ = false;           ///< About a slot without memory for its next receive.
    void (*on_ended_)(void*) = nullptr; ///< Null once it was called.
    void* on_ended_argument_ = nullptr;

    // Of any thread.
    std::atomic<slot*> returned_{nullptr};
    /// A control task is on its way that has not fetched returned_ yet.
    std::atomic<bool> has_control_task_{false};
    /// Inside: threads that give a message back, and their control tasks.
    commtask::detail::gate returning_;
    /// The program or the context, every message that is out of the queue, and a control task.
    std::atomic<std::size_t> n_holders_{1};
    std::atomic<bool> has_ended_{false};
};

namespace commtask::detail {

/// One receive and its memory.
struct message_slot {
    commtask_message message{}; ///< First: the program's pointer is the slot's.
    commtask_listener_s* of = nullptr;
    std::byte* memory = nullptr;
    commtask_t receive = COMMTASK_NULL; ///< While it is posted.
    message_slot* next = nullptr;       ///< In the queue, or in the list of given-back slots.
    bool is_over = false;               ///< The receive has ended; earlier receives may not have.
    bool is_withdrawn = false;
};

/// The listeners of a context, so that commtask_finalize ends the ones that the program has not
/// ended. A lock suffices: listeners are opened and closed rarely.
class listener_registry {
public:
    /// Any thread. @return false without memory
    [[nodiscard]] bool add(commtask_listener_s& made) noexcept;
    /// @return whether the listener was in the book
    [[nodiscard]] bool remove(const commtask_listener_s& ended) noexcept;
    /// Any thread. Whether a listener receives on the queue's communicator.
    [[nodiscard]] bool has_one_of(const comm_queue& queue) noexcept;
    /// Called before the end: asks the progress threads to cancel all receives. Does not wait.
    void close_all() noexcept;
    /// Called at the end, when no thread makes progress.
    /// @param has_abandoned_receives  receives that could not be canceled may be among the listeners'
    /// receives
    void forget_all(bool has_abandoned_receives) noexcept;

private:
    std::mutex mutex_;
    std::vector<commtask_listener_s*> listeners_;
};

} // namespace commtask::detail
