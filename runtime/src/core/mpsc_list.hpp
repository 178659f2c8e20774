// SPDX-License-Identifier: Apache-2.0
//
// Tasks that another thread has marked for a lane: an unbounded stack that links the tasks through
// themselves. Giving never fails and never waits. The bounded ring (mpsc_ring.hpp) cannot promise that,
// and two lanes that release each other's tasks must not wait for each other. The taker takes all
// items at once, so no pop can meet a reused head (no ABA problem).
#pragma once

#include <atomic>

namespace commtask::detail {

/// Many threads give, one thread takes. `Next` is the member of an item that links it while it is
/// in here.
template <typename Item, Item* Item::* Next>
class mpsc_list {
public:
    /// Any thread.
    void push(Item* item) noexcept {
        Item* top = top_.load(std::memory_order_relaxed);
        do {
            item->*Next = top;
            // seq_cst: partner also of the check that a worker makes before it waits (wakeup.hpp).
        } while (!top_.compare_exchange_weak(top, item, std::memory_order_seq_cst, std::memory_order_relaxed));
    }

    /// The taker only.
    /// @return all items that were given, in the order in which they were given
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
