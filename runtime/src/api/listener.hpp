// SPDX-License-Identifier: Apache-2.0
//
// A standing receive: a ring of ordinary receives from anybody. MPI matches messages with receives in the order in which these were
// posted, but completes them in any; so the slots stand in a queue in that order, and a message is handed on when those before it
// were. Drivers of the communicator's lane alone touch the queue: what other threads give back they hand to them. MPI_Improbe would give
// exact sizes, but search all unmatched messages in each progress call, and copy each message.
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

/// The public handle points to it. It lives until it was closed, no receive is posted, and every kept message was released.
struct commtask_listener_s {
    using slot = commtask::detail::message_slot;

    /// @throws std::bad_alloc
    commtask_listener_s(commtask::detail::comm_queue& home, MPI_Comm comm, int tag, std::size_t max_bytes,
                        std::size_t n_slots, commtask_message_handler handler, void* argument);
    commtask_listener_s(const commtask_listener_s&) = delete;
    commtask_listener_s& operator=(const commtask_listener_s&) = delete;
    ~commtask_listener_s();

    /// Posts all receives. A driver of the communicator's lane. @return the code of the first that was refused
    [[nodiscard]] int open() noexcept;
    /// Withdraws them. The same.
    void close() noexcept;
    /// At the end of the library, when no lane is driven and some of its receives may have been given up: its memory stays.
    void abandon() noexcept { end(); }
    /// Whoever opened it, before anybody ends it: whom to tell of the end.
    void tell_of_end(void (*whom)(void*), void* argument) noexcept {
        on_ended_ = whom;
        on_ended_argument_ = argument;
    }
    /// Any thread: whether no receive is posted any more, and none will be.
    /// acquire: partner of the release in end().
    [[nodiscard]] bool has_ended() const noexcept { return has_ended_.load(std::memory_order_acquire); }
    /// Any thread. @return COMMTASK_OK, or the code of why the driver does not know yet
    [[nodiscard]] int give_back(slot& released) noexcept;
    /// Who ends it, when it has ended: whether no thread is giving a message back, and no control_task of one is on its way. From here on
    /// messages are given back without.
    [[nodiscard]] bool is_left_alone() noexcept { return giving_back_.close(); }
    /// The program's or the context's part in one that has ended, when no driver and no other thread comes any more.
    static void let_go(commtask_listener_s* ended) noexcept;
    /// One who needs it less; the last one destroys it.
    static void drop(commtask_listener_s* which) noexcept;
    /// Whose lane's drivers it belongs to. The queue stays when its communicator is freed, and may then be another's.
    [[nodiscard]] commtask::detail::comm_queue& home() const noexcept { return home_; }
    /// As it was called. Its handle may be another's once it was freed.
    [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
    /// Any thread. Whether the communicator was not freed.
    [[nodiscard]] bool has_communicator() const noexcept;

private:
    [[nodiscard]] int post(slot& free) noexcept;
    void hand_on() noexcept;
    void hand_over(slot& taken) noexcept;
    void take_given_back() noexcept;
    void take_back(slot& free) noexcept;
    void lay_down(slot& free) noexcept;
    void leave() noexcept;
    void end_if_idle() noexcept;
    void end() noexcept;
    static void on_end(const commtask_status* status, void* slot) noexcept;
    static void on_given_back(const commtask_status* status, void* self) noexcept;

    commtask::detail::comm_queue& home_;
    const std::uint64_t home_life_; ///< Its communicator, as it was at the beginning.
    const MPI_Comm comm_;
    const int tag_;
    const std::size_t max_bytes_;
    const commtask_message_handler handler_;
    void* const argument_;
    std::unique_ptr<std::byte[]> memory_;
    std::vector<slot> slots_;

    // The driver's.
    slot* first_ = nullptr; ///< The receive that was posted first among those that were not handed on.
    slot* last_ = nullptr;
    bool is_closed_ = false;
    bool has_warned_ = false;           ///< Of a slot without memory for its next receive.
    void (*on_ended_)(void*) = nullptr; ///< Null once it was told.
    void* on_ended_argument_ = nullptr;

    // Of any thread.
    std::atomic<slot*> given_back_{nullptr};
    std::atomic<bool> has_control_task_{false}; ///< One is on its way that has not looked at them yet.
    commtask::detail::gate giving_back_; ///< Inside: threads that give a message back, and the control tasks of such.
    std::atomic<std::size_t> n_holders_{1}; ///< The program or the context, and every message that is out of the queue.
    std::atomic<bool> has_ended_{false};
};

namespace commtask::detail {

/// One receive and its memory.
struct message_slot {
    commtask_message message{}; ///< First: the program's pointer is the slot's.
    commtask_listener_s* of = nullptr;
    std::byte* memory = nullptr;
    commtask_t receive = COMMTASK_NULL; ///< While it is posted.
    message_slot* next = nullptr;       ///< In the queue, or among those given back.
    bool is_over = false;               ///< The receive has ended, and waits for those before it.
    bool is_withdrawn = false;
};

/// Those of a context, so that commtask_finalize ends what the program has not. A lock, since they come and go rarely.
class listener_book {
public:
    /// Any thread. @return false without memory
    [[nodiscard]] bool add(commtask_listener_s& made) noexcept;
    /// @return whether it was there
    [[nodiscard]] bool remove(const commtask_listener_s& ended) noexcept;
    /// Any thread.
    [[nodiscard]] bool has_one_of(const comm_queue& queue) noexcept;
    /// Before the end: asks the drivers to withdraw all receives. Waits for nothing.
    void close_all() noexcept;
    /// At the end, when no lane is driven. @param are_given_up  receives that could not be canceled may be among theirs
    void forget_all(bool are_given_up) noexcept;

private:
    std::mutex mutex_;
    std::vector<commtask_listener_s*> listeners_;
};

} // namespace commtask::detail
