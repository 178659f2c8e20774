// SPDX-License-Identifier: Apache-2.0
//
// The rare paths. A task without a cell is sorted by its place, since threads may hand such tasks
// over in another order than the order of their places.
#include "core/submission_queue.hpp"

#include <utility>

namespace commtask::detail {

/// The task without a cell whose place is next; null if there is none.
task* submission_queue::take_late() noexcept {
    for (task* late = late_.take_all(); late != nullptr;) {
        task* const next = late->next_in_list;
        task** at = &next_late_;
        while (*at != nullptr && (*at)->late_place < late->late_place) at = &(*at)->next_in_list;
        late->next_in_list = *at;
        *at = late;
        late = next;
    }
    if (next_late_ == nullptr || !ring_.take_place_without_item(next_late_->late_place)) return nullptr;
    return std::exchange(next_late_, next_late_->next_in_list);
}

void submission_queue::make_room() noexcept {
    if (task* const earlier = take_place()) early_.push(*earlier);
    give_back_all();
}

} // namespace commtask::detail
