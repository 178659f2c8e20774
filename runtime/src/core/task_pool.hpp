// SPDX-License-Identifier: Apache-2.0
//
// Slots for tasks. Each thread keeps a short queue of free slots and exchanges batches with the
// common store. Once the queue is warm, a post takes no lock and allocates nothing. The queue is
// first in, first out: the next slot is the one that has been free for the longest, with which the
// progress engine is done. The slots after it are known, so their lines are fetched ahead. The
// store lives as long as the process and never gives memory back. Like an allocator, it is not part
// of a context, and handles of an earlier context stay readable.
#pragma once

#include "core/task.hpp"

#include <array>
#include <cstddef>

namespace commtask::detail::task_pool {

/// Slots that were made together.
struct slab {
    std::array<commtask_task, 128> slots;
    slab* older;
};

/// Any thread. The slot is not initialised: the caller initialises it.
/// @return null if the system has no memory
[[nodiscard]] task* acquire() noexcept;

/// Any thread. No thread may use the slot any more.
void release(task* slot) noexcept;

/// Drops references; the last one releases the slot.
void drop(task* slot, std::uint32_t n_references = 1) noexcept;

/// Any thread. The newest slab, which leads to every slot, free or not; null before the first.
/// Slabs are never freed, so the walk needs neither a lock nor memory.
[[nodiscard]] slab* newest_slab() noexcept;

/// Any thread. Calls `visit(slot)` for each slot. Slots that are made meanwhile are left out.
template <typename Visit>
void for_each_slot(Visit&& visit) {
    for (slab* each = newest_slab(); each != nullptr; each = each->older) {
        for (task& slot : each->slots) visit(slot);
    }
}

/// Any thread. The number of slots made so far.
[[nodiscard]] std::size_t slot_count() noexcept;

} // namespace commtask::detail::task_pool
