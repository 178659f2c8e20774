// SPDX-License-Identifier: Apache-2.0
//
// The rare paths. Tasks in the overflow list are sorted by their positions in the ring, since
// threads may add them in another order.
#include "core/submission_queue.hpp"

#include <utility>

namespace commtask::detail {

/// The task of the overflow list whose position is next; null if there is none.
task* submission_queue::take_overflow() noexcept {
    for (task* late = overflow_.take_all(); late != nullptr;) {
        task* const next = late->next_in_list;
        task** at = &next_overflow_;
        while (*at != nullptr && (*at)->ring_position < late->ring_position) at = &(*at)->next_in_list;
        late->next_in_list = *at;
        *at = late;
        late = next;
    }
    if (next_overflow_ == nullptr || !ring_.skip_position(next_overflow_->ring_position)) return nullptr;
    return std::exchange(next_overflow_, next_overflow_->next_in_list);
}

void submission_queue::make_room() noexcept {
    if (task* const earlier = take_next()) early_.push(*earlier);
    publish_free_cells();
}

} // namespace commtask::detail
