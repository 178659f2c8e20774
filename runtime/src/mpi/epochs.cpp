// SPDX-License-Identifier: Apache-2.0
//
// Checks the order of window operations by MPI's rules only. The log records posts, not
// completions. If a task is canceled because a predecessor failed, the log no longer matches MPI's
// state, and later errors are left to MPI. While a ticket is open, all later operations are logged:
// if the ticket is dropped, they are replayed without it.
#include "mpi/epochs.hpp"

#include "base/last_error.hpp"
#include "core/operation_traits.hpp"
#include "mpi/one_sided.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace commtask::detail {
namespace {

template <typename Item>
void make_room_for_one(std::vector<Item>& list) {
    if (list.size() == list.capacity()) list.reserve(2 * list.size() + 4);
}

} // namespace

bool takes_group(const commtask_op& op) noexcept {
    return op.kind == COMMTASK_OP_WIN_POST || op.kind == COMMTASK_OP_WIN_START;
}

int check_synchronisation(const commtask_op& op, bool has_epochs, const std::string& name) noexcept {
    switch (op.kind) {
    case COMMTASK_OP_WIN_POST:
    case COMMTASK_OP_WIN_START:
    case COMMTASK_OP_WIN_FENCE:
    case COMMTASK_OP_WIN_COMPLETE:
    case COMMTASK_OP_WIN_WAIT:
    case COMMTASK_OP_WIN_LOCK:
    case COMMTASK_OP_WIN_UNLOCK:
    case COMMTASK_OP_WIN_LOCK_ALL:
    case COMMTASK_OP_WIN_UNLOCK_ALL: break;
    default: return COMMTASK_OK;
    }
    if (!has_epochs) {
        return refuse(COMMTASK_ERR_WINDOW,
                      "%s of %s: the library manages the epochs of this window; register it with "
                      "commtask_win_register_epochs to use your own",
                      operation_of(op.kind).name, name.c_str());
    }
    if (takes_group(op) && group_of(op) == MPI_GROUP_NULL)
        return refuse(COMMTASK_ERR_ARGUMENT, "group is MPI_GROUP_NULL");
    const int lock = lock_type_of(op);
    if (op.kind == COMMTASK_OP_WIN_LOCK && lock != MPI_LOCK_EXCLUSIVE && lock != MPI_LOCK_SHARED) {
        return refuse(COMMTASK_ERR_ARGUMENT, "lock_type is %d, and must be MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED",
                      lock);
    }
    return COMMTASK_OK;
}

bool epoch_state::is_target(int rank) const noexcept { return std::ranges::find(targets_, rank) != targets_.end(); }

const char* epoch_state::error_of(const commtask_op& op) const noexcept {
    const bool is_in_lock = now_ == access::lock_all || is_locked(op.peer);
    const char* const open = "its last epoch has not ended";
    switch (op.kind) {
    case COMMTASK_OP_WIN_FENCE:
        if (is_posted_) return "an exposure epoch is open: post win_wait first";
        return is_free() || now_ == access::used_fence ? nullptr : open;
    case COMMTASK_OP_WIN_POST:
        if (is_posted_) return "an exposure epoch is open already: post win_wait first";
        return now_ == access::used_fence ? "a fence epoch is open: end it by win_fence with MPI_MODE_NOSUCCEED"
                                          : nullptr;
    case COMMTASK_OP_WIN_WAIT: return is_posted_ ? nullptr : "no exposure epoch is open: post win_post first";
    case COMMTASK_OP_WIN_START:
    case COMMTASK_OP_WIN_LOCK_ALL: return is_free() ? nullptr : open;
    case COMMTASK_OP_WIN_COMPLETE: return now_ == access::start ? nullptr : "win_start was not posted";
    case COMMTASK_OP_WIN_LOCK:
        if (is_locked(op.peer)) return "the target is locked already";
        return is_free() || now_ == access::lock ? nullptr : open;
    case COMMTASK_OP_WIN_UNLOCK: return is_locked(op.peer) ? nullptr : "the target is not locked";
    case COMMTASK_OP_WIN_UNLOCK_ALL: return now_ == access::lock_all ? nullptr : "win_lock_all was not posted";
    case COMMTASK_OP_FLUSH:
        if (op.peer == MPI_PROC_NULL) return nullptr;
        return is_in_lock ? nullptr
                          : "a flush needs a lock of the target: post win_lock or win_lock_all first, or use win_fence "
                            "or win_complete instead";
    case COMMTASK_OP_FLUSH_ALL:
        return now_ == access::lock || now_ == access::lock_all
                   ? nullptr
                   : "a flush needs a lock of the target: post win_lock or win_lock_all first, or use win_fence or "
                     "win_complete instead";
    case COMMTASK_OP_WIN_SYNC: return nullptr;
    default: break;
    }
    if (operation_of(op.kind).has_steps) {
        return "notifications need a window registered with commtask_win_register";
    }
    if (now_ == access::none)
        return "no access epoch is open: post win_fence, win_start, win_lock or win_lock_all first";
    if (op.peer == MPI_PROC_NULL || is_target(op.peer)) return nullptr;
    if (now_ == access::lock) return "the target is not locked";
    return now_ == access::start ? "the target is not in the group of win_start" : nullptr;
}

void epoch_state::reserve(std::size_t n_in_group) {
    make_room_for_one(targets_);
    targets_.reserve(n_in_group);
}

void epoch_state::move(const commtask_op& op, std::span<const int> group) {
    switch (op.kind) {
    case COMMTASK_OP_WIN_FENCE:
        now_ = (assertion_of(op) & MPI_MODE_NOSUCCEED) != 0 ? access::none : access::fence;
        break;
    case COMMTASK_OP_WIN_POST: is_posted_ = true; break;
    case COMMTASK_OP_WIN_WAIT: is_posted_ = false; break;
    case COMMTASK_OP_WIN_START:
        targets_.assign(group.begin(), group.end());
        now_ = access::start;
        break;
    case COMMTASK_OP_WIN_LOCK_ALL: now_ = access::lock_all; break;
    case COMMTASK_OP_WIN_COMPLETE:
        targets_.clear();
        now_ = access::none;
        break;
    case COMMTASK_OP_WIN_UNLOCK_ALL: now_ = access::none; break;
    case COMMTASK_OP_WIN_LOCK:
        targets_.push_back(op.peer);
        now_ = access::lock;
        break;
    case COMMTASK_OP_WIN_UNLOCK:
        std::erase(targets_, op.peer);
        if (targets_.empty()) now_ = access::none;
        break;
    default:
        if (now_ == access::fence && operation_of(op.kind).counts != count_shape::none) now_ = access::used_fence;
        break;
    }
}

const char* epoch_state::missing_operation() const noexcept {
    if (is_posted_) return "win_wait";
    switch (now_) {
    case access::none:
    case access::fence: return nullptr;
    case access::used_fence: return "win_fence";
    case access::start: return "win_complete";
    case access::lock: return "win_unlock";
    case access::lock_all: return "win_unlock_all";
    }
    return nullptr;
}

int epoch_log::refuse_without_memory() noexcept {
    return refuse(COMMTASK_ERR_NO_MEMORY, "no memory for the window's epoch log");
}

int epoch_log::check(const commtask_op& op, const std::string& name) const noexcept {
    const char* const why = now_.error_of(op);
    return why == nullptr ? static_cast<int>(COMMTASK_OK)
                          : refuse(COMMTASK_ERR_WINDOW, "%s of %s: %s", operation_of(op.kind).name, name.c_str(), why);
}

/// @param group  in: the group; out: the ranks that must be logged
/// @param is_kept  whether the operation has a ticket
int epoch_log::prepare(const commtask_op& op, const std::string& name, std::span<const int>& group,
                       bool is_kept) noexcept {
    if (const int code = check(op, name); code != COMMTASK_OK) return code;
    // Later checks need only the group of win_start.
    if (op.kind != COMMTASK_OP_WIN_START) group = {};
    return reserve(group.size(), is_kept) ? static_cast<int>(COMMTASK_OK) : refuse_without_memory();
}

bool epoch_log::reserve(std::size_t n_in_group, bool is_kept) noexcept {
    try {
        now_.reserve(n_in_group);
        if (is_kept && n_logged_ == 0) base_ = now_;
        if (!is_kept && n_logged_ == 0) return true;
        if (n_logged_ == log_.size()) log_.emplace_back();
        log_[n_logged_].group.reserve(n_in_group);
    } catch (const std::bad_alloc&) {
        return false;
    }
    return true;
}

/// Precondition: reserve() succeeded.
void epoch_log::add(const commtask_op& op, std::span<const int> group, std::uint64_t ticket) noexcept {
    now_.move(op, group);
    if (ticket == 0 && n_logged_ == 0) return;
    entry& added = log_[n_logged_++];
    added.op = op;
    added.group.assign(group.begin(), group.end());
    added.ticket = ticket;
}

epoch_log::entry* epoch_log::find(std::uint64_t ticket) noexcept {
    const auto found = std::ranges::find(entries(), ticket, &entry::ticket);
    return found == entries().end() ? nullptr : &*found;
}

void epoch_log::drop(std::size_t first, std::size_t n_dropped) noexcept {
    const std::span<entry> from = entries().subspan(first);
    std::rotate(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(n_dropped), from.end());
    n_logged_ -= n_dropped;
}

/// Applies the operations before the first open ticket to base_: no replay needs them.
void epoch_log::fold_into_base() noexcept {
    const auto first_open = std::ranges::find_if(entries(), [](const entry& each) { return each.ticket != 0; });
    auto next = entries().begin();
    try {
        for (; next != first_open; ++next) {
            if (base_.error_of(next->op) == nullptr) base_.move(next->op, next->group);
        }
    } catch (const std::bad_alloc&) { // the next call tries again
    }
    drop(0, static_cast<std::size_t>((first_open == entries().end() ? first_open : next) - entries().begin()));
}

void epoch_log::was_posted(std::uint64_t ticket) noexcept {
    const std::lock_guard guard{mutex_};
    entry* const found = find(ticket);
    if (found == nullptr) return;
    found->ticket = 0;
    fold_into_base();
}

void epoch_log::was_dropped(std::uint64_t ticket) noexcept {
    const std::lock_guard guard{mutex_};
    const entry* const found = find(ticket);
    if (found == nullptr) return;
    drop(static_cast<std::size_t>(found - log_.data()), 1);
    try {
        epoch_state again = base_;
        for (const entry& each : entries()) {
            if (again.error_of(each.op) == nullptr) again.move(each.op, each.group);
        }
        now_ = std::move(again);
    } catch (const std::bad_alloc&) { // keep the old state: the dropped operation still counts
    }
    fold_into_base();
}

const char* epoch_log::missing_operation() noexcept {
    const std::lock_guard guard{mutex_};
    return now_.missing_operation();
}

} // namespace commtask::detail
