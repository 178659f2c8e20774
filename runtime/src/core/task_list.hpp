// SPDX-License-Identifier: Apache-2.0
//
// A list of tasks that links them through themselves, first in, first out: a driver can always put a task away, also when
// the system gives no memory. A task is in one list at a time, since there is one link; whoever drives the lane uses it.
#pragma once

#include "core/task.hpp"

#include <utility>

namespace commtask::detail {

class task_list {
public:
    [[nodiscard]] bool is_empty() const noexcept { return first_ == nullptr; }

    /// The first one; `next_in_list` leads on to the others.
    [[nodiscard]] task* first() const noexcept { return first_; }

    void push(task& last) noexcept {
        last.next_in_list = nullptr;
        (first_ == nullptr ? first_ : last_->next_in_list) = &last;
        last_ = &last;
    }

    /// @return null if there is none.
    [[nodiscard]] task* pop() noexcept {
        task* const popped = first_;
        if (popped != nullptr) first_ = popped->next_in_list;
        return popped;
    }

    [[nodiscard]] task_list take_all() noexcept { return std::exchange(*this, {}); }

    /// The first one for which `is_it(const task&)`, taken out; null if there is none. Looks at all before it.
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
    task* last_ = nullptr; ///< Only while there is a first one.
};

} // namespace commtask::detail
