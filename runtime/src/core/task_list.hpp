// SPDX-License-Identifier: Apache-2.0
//
// An intrusive first-in, first-out list of tasks: the progress thread can always add a task, even
// if the system has no memory. A task has one link, so it is in one list at a time. Used only by
// the lane's progress thread.
#pragma once

#include "core/task.hpp"

#include <utility>

namespace commtask::detail {

class task_list {
public:
    [[nodiscard]] bool is_empty() const noexcept { return first_ == nullptr; }

    /// The first task; `next_in_list` links the following tasks.
    [[nodiscard]] task* first() const noexcept { return first_; }

    void push(task& last) noexcept {
        last.next_in_list = nullptr;
        (first_ == nullptr ? first_ : last_->next_in_list) = &last;
        last_ = &last;
    }

    /// @return null if the list is empty
    [[nodiscard]] task* pop() noexcept {
        task* const popped = first_;
        if (popped != nullptr) first_ = popped->next_in_list;
        return popped;
    }

    [[nodiscard]] task_list take_all() noexcept { return std::exchange(*this, {}); }

    /// Removes and returns the first task for which `is_it(const task&)` is true; null if there is
    /// none. Calls `is_it` for all tasks before it.
    template <typename IsIt>
    [[nodiscard]] task* take_first(IsIt&& is_it) noexcept {
        task* before = nullptr;
        for (task* each = first_; each != nullptr; before = each, each = each->next_in_list) {
            if (!is_it(std::as_const(*each))) continue;
            (before == nullptr ? first_ : before->next_in_list) = each->next_in_list;
            if (last_ == each) last_ = before;
            return each;
        }
        return nullptr;
    }

    [[nodiscard]] bool has(const task& wanted) const noexcept {
        const task* each = first_;
        while (each != nullptr && each != &wanted) each = each->next_in_list;
        return each != nullptr;
    }

private:
    task* first_ = nullptr;
    task* last_ = nullptr; ///< Valid only while the list is not empty.
};

} // namespace commtask::detail
