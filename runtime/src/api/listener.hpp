// SPDX-License-Identifier: Apache-2.0
//
// An active-message handler: a set of ordinary receives from MPI_ANY_SOURCE. MPI matches messages
// in the order in which the receives were posted, but completes them in any order. The slots are
// therefore queued in the order of their posts, and a message is passed to the handler after all
// earlier ones. Only progress threads of the communicator's lane use the queue; other threads
// return messages through a list. MPI_Improbe would give exact sizes, but would search all
// unexpected messages in each progress call, and copy each message.
#pragma once

#include "base/use_count.hpp"

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

/// The public handle points to this object. A listener exists until it is closed, none of its
/// receives is posted, and every kept message is released.
struct commtask_listener_s {
    using slot = commtask::detail::message_slot;

    /// @throws std::bad_alloc
    commtask_listener_s(commtask::detail::comm_queue& home, MPI_Comm comm, int tag, std::size_t max_bytes,
                        std::size_t n_slots, commtask_message_handler handler, void* argument);
    commtask_listener_s(const commtask_listener_s&) = delete;
    commtask_listener_s& operator=(const commtask_listener_s&) = delete;
    ~commtask_listener_s();

    /// Posts all receives. On a progress thread of the communicator's lane. @return COMMTASK_OK, or
    /// the error code of the first receive that was refused
    [[nodiscard]] int open() noexcept;
    /// Cancels the receives. On a progress thread of the communicator's lane.
    void close() noexcept;
    /// Called when the library ends, when no thread makes progress and receives may have been
    /// abandoned. The listener's memory is not freed.
    void abandon() noexcept { end(); }
    /// Sets the function that is called when the listener ends. Called by the thread that opened
    /// the listener, before any thread ends it.
    void set_on_end(void (*whom)(void*), void* argument) noexcept {
        on_ended_ = whom;
        on_ended_argument_ = argument;
    }
    /// Any thread. Whether no receive is posted, and none will be. acquire: partner of the release
    /// in end().
    [[nodiscard]] bool has_ended() const noexcept { return has_ended_.load(std::memory_order_acquire); }
    /// Any thread. Releases a message. @return COMMTASK_OK, or the error code that kept the control
    /// task from being posted
    [[nodiscard]] int give_back(slot& released) noexcept;
    /// Called by the thread that ends the listener, after its end. From here on messages are
    /// released without a control task. @return whether no thread is releasing a message, and no
    /// control task is pending
    [[nodiscard]] bool try_close_returns() noexcept { return returning_.close(); }
    /// Drops the reference of the program or of the context. The listener has ended, and no thread
    /// uses it any more.
    static void let_go(commtask_listener_s* ended) noexcept;
    /// Drops a reference; the last one destroys the listener.
    static void drop(commtask_listener_s* which) noexcept;
    /// The queue whose lane runs the listener. When the communicator is freed the queue remains,
    /// and may serve another communicator.
    [[nodiscard]] commtask::detail::comm_queue& home() const noexcept { return home_; }
    /// The communicator passed to commtask_listen. After it was freed, the handle may belong to
    /// another communicator.
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
    /// The life of home_ when the listener was opened: identifies the communicator.
    const std::uint64_t home_life_;
    const MPI_Comm comm_;
    const int tag_;
    const std::size_t max_bytes_;
    const commtask_message_handler handler_;
    void* const argument_;
    std::unique_ptr<std::byte[]> memory_;
    std::vector<slot> slots_;

    // Used by the progress thread only.
    /// The oldest posted receive whose message was not passed to the handler.
    slot* first_ = nullptr;
    slot* last_ = nullptr;
    bool is_closed_ = false;
    bool has_warned_ = false;           ///< A slot without memory for its next receive was reported.
    void (*on_ended_)(void*) = nullptr; ///< Null after the call.
    void* on_ended_argument_ = nullptr;

    // Used by any thread.
    std::atomic<slot*> returned_{nullptr};
    /// A control task is pending that has not fetched returned_ yet.
    std::atomic<bool> has_control_task_{false};
    /// Threads that are releasing a message, and their control tasks.
    commtask::detail::use_count returning_;
    /// References: the program or the context, every message that is not in the queue, and a
    /// pending control task.
    std::atomic<std::size_t> n_holders_{1};
    std::atomic<bool> has_ended_{false};
};

namespace commtask::detail {

/// A receive and its buffer.
struct message_slot {
    commtask_message message{}; ///< First member: the program's pointer to it is also the slot's.
    commtask_listener_s* of = nullptr;
    std::byte* memory = nullptr;
    commtask_t receive = COMMTASK_NULL; ///< Null unless posted.
    message_slot* next = nullptr;       ///< In the queue, or in the list of returned slots.
    bool is_over = false;               ///< This receive is complete; earlier ones may not be.
    bool is_withdrawn = false;
};

/// The listeners of a context. commtask_finalize ends the ones that the program has not ended. A
/// mutex suffices, since listeners are rarely opened and closed.
class listener_registry {
public:
    /// Any thread. @return false if memory is exhausted
    [[nodiscard]] bool add(commtask_listener_s& made) noexcept;
    /// @return whether the listener was registered
    [[nodiscard]] bool remove(const commtask_listener_s& ended) noexcept;
    /// Any thread. Whether a listener receives on the queue's communicator.
    [[nodiscard]] bool has_one_of(const comm_queue& queue) noexcept;
    /// Called first when the library ends: asks the progress threads to cancel all receives. Does
    /// not wait.
    void close_all() noexcept;
    /// Called when the library ends, when no thread makes progress.
    /// @param has_abandoned_receives  some receives could not be canceled
    void forget_all(bool has_abandoned_receives) noexcept;

private:
    std::mutex mutex_;
    std::vector<commtask_listener_s*> listeners_;
};

} // namespace commtask::detail
