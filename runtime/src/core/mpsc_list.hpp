// SPDX-License-Identifier: Apache-2.0
//
// An unbounded intrusive list with many producers and one consumer. push() never fails and never
// waits, unlike a post to the bounded ring (mpsc_ring.hpp). Two lanes that release each other's
// tasks must not wait for each other. The consumer takes all items at once, so there is no ABA
// problem.
#pragma once

#include <atomic>

namespace commtask::detail {

/// `Next` is the member that links an item in this list.
template <typename Item, Item* Item::* Next>
class mpsc_list {
public:
    /// Any thread.
    void push(Item* item) noexcept {
        Item* top = top_.load(std::memory_order_relaxed);
        do {
            item->*Next = top;
            // seq_cst: also a partner of the check that a worker makes before it waits
            // (wakeup.hpp).
        } while (!top_.compare_exchange_weak(top, item, std::memory_order_seq_cst, std::memory_order_relaxed));
    }

    /// The consumer only.
    /// @return all items, in the order in which they were pushed
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
