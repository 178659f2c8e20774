// SPDX-License-Identifier: Apache-2.0
//
// Tasks that another thread made ready for a lane: an unbounded stack of links inside the tasks. It never refuses and
// never waits, which the bounded inbox cannot promise, and two lanes that release each other's tasks must not wait for
// each other. Taken all at once, so no pop can meet a reused head.
#pragma once

#include <atomic>

namespace commtask::detail {

/// Many givers, one taker. `Next` is the member of an item that is in use while the item is in here.
template <typename Item, Item* Item::* Next>
class handoff {
public:
    /// Any thread.
    void give(Item* item) noexcept {
        Item* top = top_.load(std::memory_order_relaxed);
        do {
            item->*Next = top;
            // seq_cst: also partner of the sleeping worker's look before it sleeps (see bell).
        } while (!top_.compare_exchange_weak(top, item, std::memory_order_seq_cst, std::memory_order_relaxed));
    }

    /// The taker only. @return all that was given, the first given first.
    [[nodiscard]] Item* take_all() noexcept {
        if (top_.load(std::memory_order_relaxed) == nullptr) return nullptr;
        Item* item = top_.exchange(nullptr, std::memory_order_acquire);
        Item* first = nullptr;
        while (item != nullptr) {
            Item* const below = item->*Next;
            item->*Next = first;
            first = item;
            item = below;
        }
        return first;
    }

    [[nodiscard]] bool is_empty() const noexcept { return top_.load(std::memory_order_seq_cst) == nullptr; }

private:
    std::atomic<Item*> top_{nullptr};
};

} // namespace commtask::detail
