// SPDX-License-Identifier: Apache-2.0
//
// The pool of slots for tasks. Each thread has a short queue of free slots and exchanges batches
// with a common store. So a post usually takes no lock and allocates nothing. The queue is first
// in, first out: the next slot is the one that was freed first, which no progress engine still
// accesses. The pool prefetches the slots after it. The store exists until the process ends and
// never frees memory, so handles of an earlier context stay readable.
#pragma once

#include "core/task.hpp"

#include <array>
#include <cstddef>

namespace commtask::detail::task_pool {

/// A block of slots that is allocated at once.
struct slab {
    std::array<commtask_task, 128> slots;
    slab* older;
};

/// Any thread. The caller must initialize the slot.
/// @return null if the system has no memory
[[nodiscard]] task* acquire() noexcept;

/// Any thread. The caller has the last reference to the slot.
void release(task* slot) noexcept;

/// Drops references, and releases the slot with the last one.
void drop(task* slot, std::uint32_t n_references = 1) noexcept;

/// Any thread. The newest slab, the head of the list of all slabs; null before the first. Slabs are
/// never freed, so a walk of the list needs no lock.
[[nodiscard]] slab* newest_slab() noexcept;

/// Any thread. Calls `visit(slot)` for each slot, free or not. Slots that are allocated during the
/// call may be missing.
template <typename Visit>
void for_each_slot(Visit&& visit) {
    for (slab* each = newest_slab(); each != nullptr; each = each->older) {
        for (task& slot : each->slots) visit(slot);
    }
}

/// Any thread. The number of slots allocated so far.
[[nodiscard]] std::size_t slot_count() noexcept;

} // namespace commtask::detail::task_pool
