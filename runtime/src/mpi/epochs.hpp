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
#include <string>
#include <vector>

namespace commtask::detail {

/// An operation that begins or ends an epoch, whenever it comes; others are right.
/// @param has_epochs  whether those of the window are the program's
/// @param name  of the window, for the sentence
[[nodiscard]] int check_synchronisation(const commtask_op& op, bool has_epochs, const std::string& name) noexcept;

class epoch_book {
public:
    /// Any thread. Takes the operation into the book if it may come now.
    /// @param name  of the window, for the sentence
    /// @return COMMTASK_OK; ERR_WINDOW with a sentence, and nothing has changed
    [[nodiscard]] int enter(const commtask_op& op, const std::string& name) noexcept;

    /// Any thread. What must still be posted before the window can be given back; null if nothing.
    [[nodiscard]] const char* what_is_open() noexcept;

private:
    /// Towards others. One line per state: who moves it on.
    enum class access : std::uint8_t {
        none,       ///< -> fence, start, lock, lock_all.
        fence,      ///< Between two fences -> fence; while unused also what none permits.
        used_fence, ///< The same, and operations were posted -> fence.
        start,      ///< -> complete.
        lock,       ///< Of the ranks in locked_ -> unlock of the last one.
        lock_all,   ///< -> unlock_all.
    };

    [[nodiscard]] bool is_free() const noexcept { return now_ == access::none || now_ == access::fence; }
    [[nodiscard]] bool is_locked(int rank) const noexcept;
    [[nodiscard]] const char* trouble_with(const commtask_op& op) const noexcept;
    [[nodiscard]] bool move(const commtask_op& op) noexcept;

    std::mutex mutex_; ///< Guards the rest.
    access now_ = access::none;
    bool is_posted_ = false; ///< Exposed by win_post.
    std::vector<int> locked_;
};

} // namespace commtask::detail
