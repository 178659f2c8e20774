// SPDX-License-Identifier: Apache-2.0
//
// The epochs of a window that the program synchronises itself, derived from its posts. All tasks of
// such a window are ordered, so the order of its operations is known when they are posted. An
// operation outside of any epoch, or an epoch that may not follow the previous one, is refused
// before anything is started. MPI would find such an error too late to report it for the post.
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

/// Checks the arguments of an operation that begins or ends an epoch; accepts all other operations.
/// @param has_epochs  whether the program manages the epochs of the window
/// @param name  of the window, for the error message
[[nodiscard]] int check_synchronisation(const commtask_op& op, bool has_epochs, const std::string& name) noexcept;

/// The epoch state of a window.
class epoch_state {
public:
    /// Why the operation is not allowed now; null if it is allowed.
    [[nodiscard]] const char* error_of(const commtask_op& op) const noexcept;
    /// Reserves memory for one more operation, with a group of `n_in_group` ranks, so that move()
    /// needs none. @throws std::bad_alloc
    void reserve(std::size_t n_in_group);
    /// Applies an operation. @param group  of win_start: its ranks in the window
    /// @throws std::bad_alloc, and nothing has changed; never after reserve()
    void move(const commtask_op& op, std::span<const int> group);
    /// The operation that ends the open epoch, which must be posted before the window is
    /// unregistered; null if no epoch is open.
    [[nodiscard]] const char* missing_operation() const noexcept;

private:
    /// The access epoch. One line per state: the operations that end it.
    enum class access : std::uint8_t {
        none, ///< -> fence, start, lock, lock_all.
        /// Between two fences -> fence; while unused, also the operations that end `none`.
        fence,
        /// Between two fences, with operations posted since the last -> fence.
        used_fence,
        /// With the ranks in targets_ as targets -> complete.
        start,
        lock,     ///< The ranks in targets_ are locked -> unlock of the last one.
        lock_all, ///< -> unlock_all.
    };

    [[nodiscard]] bool is_free() const noexcept { return now_ == access::none || now_ == access::fence; }
    [[nodiscard]] bool is_target(int rank) const noexcept;
    [[nodiscard]] bool is_locked(int rank) const noexcept { return now_ == access::lock && is_target(rank); }

    access now_ = access::none;
    bool is_posted_ = false; ///< An exposure epoch is open, by win_post.
    /// Empty except between start and complete, and while single ranks are locked.
    std::vector<int> targets_;
};

class epoch_log {
public:
    /// Any thread. Logs the operation if it is allowed now.
    /// @param name  of the window, for the error message
    /// @param group  of win_start and win_post: its ranks in the window
    /// @return COMMTASK_OK; COMMTASK_ERR_WINDOW with a message, and nothing has changed
    [[nodiscard]] int enter(const commtask_op& op, const std::string& name, std::span<const int> group) noexcept {
        const std::lock_guard guard{mutex_};
        if (const int code = prepare(op, name, group, false); code != COMMTASK_OK) return code;
        add(op, group, 0);
        return COMMTASK_OK;
    }
    /// Like enter() for an operation that is posted later, but takes its position in program order
    /// now. The caller calls was_posted() or was_dropped() later.
    /// @param take_ticket  std::uint64_t(): takes the position, in the order of the log; 0 if
    /// memory is exhausted
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

    /// Any thread. Lends reusable memory for the ranks of a group; empty while another thread uses
    /// it.
    [[nodiscard]] std::vector<int> lend_memory() noexcept {
        const std::lock_guard guard{mutex_};
        return std::exchange(reusable_, {});
    }
    void take_back_memory(std::vector<int>&& lent) noexcept {
        const std::lock_guard guard{mutex_};
        reusable_.swap(lent);
    }

    /// Any thread. The operation of the ticket was posted.
    void was_posted(std::uint64_t ticket) noexcept;
    /// Any thread. The operation of the ticket will not be posted: it is removed from the log. If a
    /// later operation that was posted needs it, MPI has to find that error.
    void was_dropped(std::uint64_t ticket) noexcept;

    /// Any thread. As in epoch_state.
    [[nodiscard]] const char* missing_operation() noexcept;

private:
    struct entry {
        commtask_op op{};
        std::vector<int> group;   ///< Of win_start.
        std::uint64_t ticket = 0; ///< 0: the operation is posted.
    };

    // With the mutex:
    [[nodiscard]] int check(const commtask_op& op, const std::string& name) const noexcept;
    [[nodiscard]] static int refuse_without_memory() noexcept;
    [[nodiscard]] int prepare(const commtask_op& op, const std::string& name, std::span<const int>& group,
                              bool is_kept) noexcept;
    [[nodiscard]] bool reserve(std::size_t n_in_group, bool is_kept) noexcept;
    void add(const commtask_op& op, std::span<const int> group, std::uint64_t ticket) noexcept;
    [[nodiscard]] std::span<entry> entries() noexcept { return {log_.data(), n_logged_}; }
    [[nodiscard]] entry* find(std::uint64_t ticket) noexcept;
    void drop(std::size_t first, std::size_t n_dropped) noexcept;
    void fold_into_base() noexcept;

    std::mutex mutex_; ///< Guards the rest.
    /// The state after all logged operations.
    epoch_state now_;
    /// The state before the first entry of log_; not used while log_ is empty.
    epoch_state base_;
    /// Starts at the first open ticket; entries from n_logged_ on are unused memory.
    std::vector<entry> log_;
    std::size_t n_logged_ = 0;
    std::vector<int> reusable_;
};

} // namespace commtask::detail
