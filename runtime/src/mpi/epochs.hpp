// SPDX-License-Identifier: Apache-2.0
//
// The epochs of a window that the program synchronises itself, as its posts say: what comes next is known when it is posted,
// since all tasks of such a window are ordered. So what MPI would find wrong when it is too late for a sentence, an operation
// outside of any epoch or an epoch that does not fit the last one, is refused before anything is started.
#pragma once

#include <commtask/operation.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace commtask::detail {

[[nodiscard]] bool takes_group(const commtask_op& op) noexcept;

/// An operation that begins or ends an epoch, whenever it comes; others are right.
/// @param has_epochs  whether those of the window are the program's
/// @param name  of the window, for the sentence
[[nodiscard]] int check_synchronisation(const commtask_op& op, bool has_epochs, const std::string& name) noexcept;

/// Where a window stands.
class epoch_state {
public:
    /// Why the operation may not come now; null if it may.
    [[nodiscard]] const char* trouble_with(const commtask_op& op) const noexcept;
    /// So that one operation more, with a group of so many ranks, can come without memory. @throws std::bad_alloc
    void make_room(std::size_t n_in_group);
    /// The operation comes. @param group  of win_start: its ranks in the window
    /// @throws std::bad_alloc, and nothing has changed; not after make_room()
    void move(const commtask_op& op, std::span<const int> group);
    /// What must still be posted before the window can be given back; null if nothing.
    [[nodiscard]] const char* what_is_open() const noexcept;

private:
    /// Towards others. One line per state: who moves it on.
    enum class access : std::uint8_t {
        none,       ///< -> fence, start, lock, lock_all.
        fence,      ///< Between two fences -> fence; while unused also what none permits.
        used_fence, ///< The same, and operations were posted -> fence.
        start,      ///< Towards the ranks in targets_ -> complete.
        lock,       ///< Of the ranks in targets_ -> unlock of the last one.
        lock_all,   ///< -> unlock_all.
    };

    [[nodiscard]] bool is_free() const noexcept { return now_ == access::none || now_ == access::fence; }
    [[nodiscard]] bool is_target(int rank) const noexcept;
    [[nodiscard]] bool is_locked(int rank) const noexcept { return now_ == access::lock && is_target(rank); }

    access now_ = access::none;
    bool is_posted_ = false;   ///< Exposed by win_post.
    std::vector<int> targets_; ///< Empty but between start and complete, and in locks of single ranks.
};

class epoch_book {
public:
    /// Any thread. Takes the operation into the book if it may come now.
    /// @param name  of the window, for the sentence
    /// @param group  of win_start and win_post: its ranks in the window
    /// @return COMMTASK_OK; ERR_WINDOW with a sentence, and nothing has changed
    [[nodiscard]] int enter(const commtask_op& op, const std::string& name, std::span<const int> group) noexcept {
        const std::lock_guard guard{mutex_};
        if (const int code = prepare(op, name, group, false); code != COMMTASK_OK) return code;
        add(op, group, 0);
        return COMMTASK_OK;
    }
    /// The same for one that is posted later, in a place that it has now; was_posted() or was_dropped() comes then.
    /// @param take_ticket  std::uint64_t(): takes the place, in the order of the book; 0 without memory
    template <typename TakeTicket>
    [[nodiscard]] int enter_for_later(const commtask_op& op, const std::string& name, std::span<const int> group,
                                      TakeTicket&& take_ticket) noexcept {
        const std::lock_guard guard{mutex_};
        if (const int code = prepare(op, name, group, true); code != COMMTASK_OK) return code;
        const std::uint64_t ticket = take_ticket();
        if (ticket == 0) return refuse_without_memory();
        add(op, group, ticket);
        return COMMTASK_OK;
    }

    /// Any thread. For the ranks of a group: memory that is used again, empty where another thread has it.
    [[nodiscard]] std::vector<int> lend_memory() noexcept {
        const std::lock_guard guard{mutex_};
        return std::exchange(spare_, {});
    }
    void take_back_memory(std::vector<int>&& lent) noexcept {
        const std::lock_guard guard{mutex_};
        spare_.swap(lent);
    }

    /// Any thread. What the ticket was taken for.
    void was_posted(std::uint64_t ticket) noexcept;
    /// Any thread. What the ticket was taken for never comes: the window stands as if it had not been entered. What was posted
    /// after it and may not come without it is for MPI to find.
    void was_dropped(std::uint64_t ticket) noexcept;

    /// Any thread. What must still be posted before the window can be given back; null if nothing.
    [[nodiscard]] const char* what_is_open() noexcept;

private:
    struct entry {
        commtask_op op{};
        std::vector<int> group;   ///< Of win_start.
        std::uint64_t ticket = 0; ///< 0: it is posted.
    };

    // With the mutex:
    [[nodiscard]] int check(const commtask_op& op, const std::string& name) const noexcept;
    [[nodiscard]] static int refuse_without_memory() noexcept;
    [[nodiscard]] int prepare(const commtask_op& op, const std::string& name, std::span<const int>& group,
                              bool is_kept) noexcept;
    [[nodiscard]] bool make_room(std::size_t n_in_group, bool is_kept) noexcept;
    void add(const commtask_op& op, std::span<const int> group, std::uint64_t ticket) noexcept;
    [[nodiscard]] std::span<entry> entries() noexcept { return {since_.data(), n_since_}; }
    [[nodiscard]] entry* find(std::uint64_t ticket) noexcept;
    void drop(std::size_t first, std::size_t n_dropped) noexcept;
    void settle() noexcept;

    std::mutex mutex_;    ///< Guards the rest.
    epoch_state now_;     ///< With all that was entered.
    epoch_state settled_; ///< Before the first of the next; of no use while there are none.
    std::vector<entry>
        since_; ///< From the first ticket that is open on; behind n_since_ of them some whose memory is used again.
    std::size_t n_since_ = 0;
    std::vector<int> spare_;
};

} // namespace commtask::detail
