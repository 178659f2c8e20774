// SPDX-License-Identifier: Apache-2.0
//
// Slots for tasks. Each thread keeps a short queue of free ones and exchanges batches with the common store, so that a
// post takes no lock and allocates nothing once warm. The queue is first in, first out, so that the slots needed next are
// known and their lines fetched ahead. The store lives as long as the process and never gives memory back: like an
// allocator it is not part of a context, and handles of an earlier context stay readable.
#pragma once

#include "core/task.hpp"

#include <cstddef>
#include <vector>

namespace commtask::detail::task_pool {

/// Any thread. The slot has no meaning yet; the caller initialises it.
/// @return null if the system has no memory.
[[nodiscard]] task* acquire() noexcept;

/// Any thread. Nobody may use the slot any more.
void release(task* slot) noexcept;

/// Drops one reference; the last one releases the slot.
void drop(task* slot, std::uint32_t n_references = 1) noexcept;

/// Every slot there is, free or not; for the list of unfinished tasks. Any thread.
[[nodiscard]] std::vector<task*> all_slots();

/// How many slots were made so far. Any thread.
[[nodiscard]] std::size_t slot_count() noexcept;

} // namespace commtask::detail::task_pool
