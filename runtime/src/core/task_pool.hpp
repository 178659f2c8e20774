// SPDX-License-Identifier: Apache-2.0
//
// Slots for tasks. Each thread keeps a short queue of free ones and exchanges batches with the common store, so that a
// post takes no lock and allocates nothing once warm. The queue is first in, first out: the slot that has been free for the longest
// is next, which the driver is done with, and those that follow are known, so that their lines are fetched ahead. The store lives as
// long as the process and never gives memory back: like an allocator it is not part of a context, and handles of an earlier context
// stay readable.
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

/// Any thread. The slot has no meaning yet; the caller initialises it.
/// @return null if the system has no memory.
[[nodiscard]] task* acquire() noexcept;

/// Any thread. Nobody may use the slot any more.
void release(task* slot) noexcept;

/// Drops one reference; the last one releases the slot.
void drop(task* slot, std::uint32_t n_references = 1) noexcept;

/// The way to every slot there is, free or not; null before the first. Slabs stay, so it needs neither a lock nor memory.
/// Any thread.
[[nodiscard]] slab* newest_slab() noexcept;

/// Any thread. Slots that are made meanwhile are left out.
template <typename Visit>
void for_each_slot(Visit&& visit) {
    for (slab* each = newest_slab(); each != nullptr; each = each->older) {
        for (task& slot : each->slots) visit(slot);
    }
}

/// How many slots were made so far. Any thread.
[[nodiscard]] std::size_t slot_count() noexcept;

} // namespace commtask::detail::task_pool
