// SPDX-License-Identifier: Apache-2.0
//
// Program order within one communicator. An operation that may have to wait takes a turn when it is
// created. The lane starts the operation when its predecessors are complete and no earlier turn
// conflicts with its turn. Two turns conflict if both have the same channel: sends to one rank with
// one tag, receives whose sources and tags overlap, collectives, operations with COMMTASK_ORDERED.
// Operations that do not conflict never wait for each other. If no turn is open in a communicator,
// a post takes none: the submission queue keeps its order.
#pragma once

#include "base/assert.hpp"
#include "base/system.hpp"
#include "core/task_list.hpp"

#include <commtask/operation.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace commtask::detail {

/// The kind of a channel. Only turns with channels of one kind conflict.
enum class channel_kind : std::uint8_t {
    send,
    receive,    ///< Probes too.
    collective, ///< The one channel of a communicator's collectives.
    ordered,    ///< The one channel of a communicator's operations with COMMTASK_ORDERED.
};

/// The values by which one message of an operation matches. `peer` and `tag` of a receive may be
/// wildcards.
struct channel {
    channel_kind kind = channel_kind::send;
    int peer = 0;
    int tag = 0;

    [[nodiscard]] bool operator==(const channel&) const noexcept = default;
};

class program_order;

/// The turn of one operation: its channels, and how many earlier turns it waits for.
class alignas(2 * cache_line_bytes) turn {
public:
    turn() = default;
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

    /// Any thread, while the turn is not open: sets the operation of the turn.
    /// @return false without memory
    [[nodiscard]] bool set(const commtask_op& op, std::uint32_t flags, const source_location& where) noexcept;

    /// Whether the operation has any channel. A message to MPI_PROC_NULL has none, and needs no
    /// turn.
    [[nodiscard]] bool has_channels() const noexcept { return n_links_ > 0; }

    /// The thread that starts a plan, and then the lane: whether the turn was taken, and its
    /// operation has not started.
    [[nodiscard]] bool is_open() const noexcept { return is_open_; }

private:
    friend class program_order;

    /// A channel of the turn, in the lists of its order.
    struct link {
        channel at{};
        turn* of = nullptr;
        bool is_listed = false;
        link* before = nullptr; ///< In its bucket, or among the wildcards.
        link* after = nullptr;
        link* earlier = nullptr; ///< Among the receives.
        link* later = nullptr;
    };

    [[nodiscard]] link* links() noexcept { return n_links_ > few_.size() ? many_.get() : few_.data(); }
    [[nodiscard]] const link* links() const noexcept { return n_links_ > few_.size() ? many_.get() : few_.data(); }

    // With the order's lock. Together in one line, next to the line of the first channel, since the
    // lane's core has written them last.
    std::uint64_t number_ = 0; ///< Grows in the order in which turns were taken.
    task* waiting_ = nullptr;  ///< The turn's task, once the task waits for nothing but the turn.
    turn* next_ = nullptr;     ///< The next turn that is free, or about to start.
    source_location where_{};  ///< This and the next: for texts about the operation.
    std::uint16_t kind_ = 0;   ///< Of the operation.
    bool is_open_ = false;
    bool is_kept_ = false; ///< A ticket for the turn was given out, and has not been used.
    /// Earlier open turns that conflict, as program_order::insert() counts them.
    std::uint32_t n_before_ = 0;
    std::uint32_t n_links_ = 0;
    std::uint32_t index_ = 0; ///< The index in the order's list, from 1; 0: the turn is a plan's.
    /// A count that makes a ticket invalid for the next use of the turn.
    std::uint32_t times_used_ = 0;
    alignas(cache_line_bytes) std::array<link, 3> few_{};
    std::unique_ptr<link[]> many_; ///< Used instead of `few_` if there are too many channels.
    std::uint32_t n_many_ = 0;
};

class program_order {
public:
    program_order() = default;
    program_order(const program_order&) = delete;
    program_order& operator=(const program_order&) = delete;

    // Any thread ----------------------------------------------------------------------------------

    /// A turn from the memory of this order. The memory is given back when the turn is over.
    /// @return null without memory
    [[nodiscard]] turn* make(const commtask_op& op, std::uint32_t flags, const source_location& where) noexcept;
    /// Gives back a turn that was made and not taken.
    void unmake(turn& unused) noexcept;

    /// Takes the turn: operations that conflict with it and take their turns later start later.
    /// Cannot fail.
    void take(turn& next) noexcept;

    /// A ticket: the turn of an operation that is posted later.
    struct ticket {
        bool has_memory = true;
        std::uint64_t number = 0; ///< 0: the operation has no channel, and needs no turn.
    };
    [[nodiscard]] ticket make_and_keep(const commtask_op& op, std::uint32_t flags,
                                       const source_location& where) noexcept;
    /// Uses a ticket up.
    /// @return null if the ticket was never given out, or was used before
    [[nodiscard]] turn* use(std::uint64_t ticket) noexcept;
    /// The operation was not posted after all: the ticket is valid again.
    void take_back_use(turn& unused) noexcept;

    /// Whether any turn is open: then a post takes a turn, even if it waits for nothing else.
    /// relaxed: a thread that was told of a turn sees it, and other threads have no order to it.
    [[nodiscard]] bool has_open() const noexcept { return n_open_.load(std::memory_order_relaxed) != 0; }

    // The lane's progress thread ------------------------------------------------------------------

    /// The task of an open turn waits for nothing else.
    /// @param started  gets the tasks whose turn has come, perhaps including `which`; their turns
    /// are over
    void arrive(turn& its, task& which, task_list& started) noexcept;

    /// A task gives its turn up, whether the task has arrived or not.
    /// @param started  gets the tasks that had to wait only for this turn
    void leave(turn& its, task_list& started) noexcept;

    /// The operation of an earlier turn for which this turn waits.
    struct blocker {
        int kind = 0;
        channel at{}; ///< The channel of the earlier turn that conflicts.
        source_location where{};
    };
    [[nodiscard]] std::optional<blocker> blocker_of(const turn& its) noexcept;

private:
    using link = turn::link;
    struct list {
        link* first = nullptr;
        link* last = nullptr;
    };
    static constexpr std::size_t first_buckets = 16;

    // With the lock:
    [[nodiscard]] turn* make_locked(const commtask_op& op, std::uint32_t flags, const source_location& where) noexcept;
    void unmake_locked(turn& unused) noexcept;
    void take_locked(turn& next) noexcept;
    [[nodiscard]] list& bucket_of(const channel& at) noexcept;
    void grow() noexcept;
    void insert(link& added) noexcept;
    void remove(link& gone, turn*& startable) noexcept;
    [[nodiscard]] link* same_channel_before(const link& of) noexcept;
    [[nodiscard]] static link* same_channel_after(const link& of) noexcept;
    static void count_down(turn& later, turn*& startable) noexcept;
    void end(turn& over, turn*& startable) noexcept;
    void start_all(turn* startable, task_list& started) noexcept;

    std::mutex mutex_;
    /// Indexed by the hash of exact channels; each list is in the order in which turns were taken.
    std::vector<list> buckets_;
    list few_buckets_; ///< Used instead of `buckets_` until there is memory.
    list wildcards_;   ///< Receives with a wildcard.
    list receives_;    ///< All receives. Searched only if there are wildcards.
    std::size_t n_linked_ = 0;
    std::uint64_t n_taken_ = 0;
    std::vector<std::unique_ptr<turn>> own_; ///< Indexed by index_.
    turn* free_ = nullptr;
    std::atomic<std::uint64_t> n_open_{0}; ///< Written with the lock.
};

} // namespace commtask::detail
