// SPDX-License-Identifier: Apache-2.0
//
// Program order within one communicator. An operation that may have to wait takes a turn when it is
// created. The lane starts the operation when its predecessors are complete and no earlier turn
// conflicts with its turn. Two turns conflict if they have a channel in common. The channels are:
// sends to one rank with one tag, receives whose sources and tags overlap, collectives, operations
// with COMMTASK_ORDERED. Operations without a common channel never wait for each other. If no turn
// is open, a post takes none, since the submission queue keeps the order.
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

/// The kind of a channel. Channels of different kinds never conflict.
enum class channel_kind : std::uint8_t {
    send,
    receive,    ///< Receives and probes.
    collective, ///< All collectives of a communicator.
    ordered,    ///< All operations of a communicator with COMMTASK_ORDERED.
};

/// The values by which MPI matches one message of an operation. `peer` and `tag` of a receive may
/// be wildcards.
struct channel {
    channel_kind kind = channel_kind::send;
    int peer = 0;
    int tag = 0;

    [[nodiscard]] bool operator==(const channel&) const noexcept = default;
};

class program_order;

/// The turn of one operation: its channels, and the number of earlier turns that it waits for.
class alignas(2 * cache_line_bytes) turn {
public:
    turn() = default;
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

    /// Any thread, while the turn is not open. Sets the operation.
    /// @return false without memory
    [[nodiscard]] bool set(const commtask_op& op, std::uint32_t flags, const source_location& where) noexcept;

    /// Whether the operation has a channel. A message to MPI_PROC_NULL has none, and needs no turn.
    [[nodiscard]] bool has_channels() const noexcept { return n_links_ > 0; }

    /// The thread that starts a plan, and later the lane. Whether the turn was taken and its
    /// operation has not started.
    [[nodiscard]] bool is_open() const noexcept { return is_open_; }

private:
    friend class program_order;

    /// A channel of the turn, and its links in the lists of the program_order.
    struct link {
        channel at{};
        turn* of = nullptr;
        bool is_listed = false;
        link* before = nullptr; ///< In the list of its bucket or of the wildcards.
        link* after = nullptr;
        link* earlier = nullptr; ///< In the list of all receives.
        link* later = nullptr;
    };

    [[nodiscard]] link* links() noexcept { return n_links_ > few_.size() ? many_.get() : few_.data(); }
    [[nodiscard]] const link* links() const noexcept { return n_links_ > few_.size() ? many_.get() : few_.data(); }

    // Guarded by the lock of the program_order. All are in one line, next to the line of the first
    // channel, since the lane's core has written both last.
    std::uint64_t number_ = 0; ///< Increases in the order in which turns are taken.
    task* waiting_ = nullptr;  ///< The task, once it waits only for the turn.
    turn* next_ = nullptr;     ///< The link in the list of free turns, or of turns about to start.
    source_location where_{};  ///< Where the operation was created, and its kind: for messages.
    std::uint16_t kind_ = 0;   ///< The operation's commtask_kind.
    bool is_open_ = false;
    bool is_kept_ = false; ///< A ticket for the turn exists, and was not used.
    /// The number of earlier open turns that conflict, as program_order::insert() counts them.
    std::uint32_t n_before_ = 0;
    std::uint32_t n_links_ = 0;
    /// The index in program_order::own_ plus 1; 0: the turn belongs to a plan.
    std::uint32_t index_ = 0;
    /// A generation counter: a ticket of an earlier use of the turn is invalid.
    std::uint32_t times_used_ = 0;
    alignas(cache_line_bytes) std::array<link, 3> few_{};
    std::unique_ptr<link[]> many_; ///< Used instead of `few_` for more than three channels.
    std::uint32_t n_many_ = 0;
};

class program_order {
public:
    program_order() = default;
    program_order(const program_order&) = delete;
    program_order& operator=(const program_order&) = delete;

    // Any thread ----------------------------------------------------------------------------------

    /// Returns a turn that this object owns. The turn is recycled when it is over.
    /// @return null without memory
    [[nodiscard]] turn* make(const commtask_op& op, std::uint32_t flags, const source_location& where) noexcept;
    /// Recycles a turn that was not taken.
    void unmake(turn& unused) noexcept;

    /// Takes the turn: a conflicting operation that takes its turn later starts later. Cannot fail.
    void take(turn& next) noexcept;

    /// A ticket: a turn that is reserved for an operation which is posted later.
    struct ticket {
        bool has_memory = true;
        std::uint64_t number = 0; ///< 0: the operation has no channel, and needs no turn.
    };
    [[nodiscard]] ticket make_and_keep(const commtask_op& op, std::uint32_t flags,
                                       const source_location& where) noexcept;
    /// Uses a ticket.
    /// @return null if the ticket does not exist, or was used before
    [[nodiscard]] turn* use(std::uint64_t ticket) noexcept;
    /// Makes the ticket valid again, since the operation was not posted.
    void take_back_use(turn& unused) noexcept;

    /// Whether any turn is open: then every post takes a turn. relaxed: a thread that synchronizes
    /// with the thread that took a turn sees it; for other threads the order is undefined.
    [[nodiscard]] bool has_open() const noexcept { return n_open_.load(std::memory_order_relaxed) != 0; }

    // The lane's progress thread ------------------------------------------------------------------

    /// The task of an open turn now waits only for the turn.
    /// @param started  receives the tasks whose turn has come, perhaps `which` too; their turns are
    /// over
    void arrive(turn& its, task& which, task_list& started) noexcept;

    /// Ends the turn of a task that will not start, whether arrive() was called or not.
    /// @param started  receives the tasks that waited only for this turn
    void leave(turn& its, task_list& started) noexcept;

    /// The operation of an earlier turn that blocks a turn.
    struct blocker {
        int kind = 0;
        channel at{}; ///< The conflicting channel of the earlier turn.
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
    /// Hash table of channels without wildcards; each list is in the order of the turns.
    std::vector<list> buckets_;
    list few_buckets_; ///< Used until `buckets_` is allocated.
    list wildcards_;   ///< Channels with a wildcard.
    list receives_;    ///< All receives. Searched only if a wildcard exists.
    std::size_t n_linked_ = 0;
    std::uint64_t n_taken_ = 0;
    std::vector<std::unique_ptr<turn>> own_; ///< Indexed by index_.
    turn* free_ = nullptr;
    std::atomic<std::uint64_t> n_open_{0}; ///< Written with the lock.
};

} // namespace commtask::detail
