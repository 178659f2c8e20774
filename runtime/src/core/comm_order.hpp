// SPDX-License-Identifier: Apache-2.0
//
// Program order within one communicator. Whoever creates an ordered task takes the next ticket; the worker issues ordered
// tasks by ticket, so it does not matter when each becomes ready. Messages and collectives have an order each, since MPI
// matches them separately and a late collective should not hold messages up. Tasks without a ticket pass by.
#pragma once

#include "base/assert.hpp"
#include "core/task_list.hpp"
#include "core/ticket_book.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace commtask::detail {

class comm_order {
public:
    /// Any thread. For a task that is posted at once. Tickets are 1, 2, 3, ...
    [[nodiscard]] std::uint64_t take_ticket() noexcept { return take_tickets(1); }
    /// @return the first of so many in a row
    [[nodiscard]] std::uint64_t take_tickets(std::uint64_t count) noexcept {
        return next_ticket_.fetch_add(count, std::memory_order_relaxed);
    }

    /// Any thread. For a task that is posted later, with use_kept(). @return 0 without memory
    [[nodiscard]] std::uint64_t take_to_keep() noexcept { return kept_.take(next_ticket_); }

    /// Any thread. See ticket_book::try_use().
    template <typename Use>
    [[nodiscard]] ticket_use use_kept(std::uint64_t ticket, Use&& use) noexcept {
        return kept_.try_use(ticket, use);
    }

    /// The worker only. The task with this ticket is ready.
    void arrive(std::uint64_t ticket, task& ready) noexcept {
        if (place* const mine = place_of(ticket)) {
            *mine = {&ready, true};
        } else {
            unplaced_.push(ready);
        }
    }

    /// The worker only. The task with this ticket needs no turn.
    /// @return false without memory to remember that: the task comes with its turn after all
    [[nodiscard]] bool give_up(std::uint64_t ticket, task& unneeding) noexcept {
        if (place* const mine = place_of(ticket)) {
            *mine = {nullptr, true};
            return true;
        }
        unplaced_.push(unneeding);
        return false;
    }

    /// The worker only. Calls `issue(task&)` for every task whose turn has come, in order.
    template <typename Issue>
    void issue_in_order(Issue&& issue) noexcept {
        for (;;) {
            task* next = nullptr;
            if (!places_.empty() && places_[first_].has_arrived) {
                next = places_[first_].ready;
                places_[first_] = {};
            } else if (!unplaced_.is_empty()) {
                next = unplaced_.take_first([&](const task& each) { return each.extras.ticket == expected_; });
                if (next == nullptr) return;
            } else {
                return;
            }
            if (!places_.empty()) first_ = (first_ + 1) % places_.size();
            ++expected_;
            // One that was given up where nothing could remember that is still in the list: its slot stays its own.
            if (next != nullptr && next->run.now == phase::held) issue(*next);
        }
    }

    /// The worker only. A task that waits for its turn gives its place up, to nobody.
    /// @return false if it cannot: its turn has come, it has given its place up before, or nothing could remember that
    [[nodiscard]] bool leave(std::uint64_t ticket, const task& waiting) noexcept {
        if (ticket < expected_) return false;
        place* const mine = place_of(ticket);
        if (mine == nullptr) return false;
        const bool is_mine = mine->ready == &waiting ||
                             unplaced_.take_first([&](const task& each) { return &each == &waiting; }) != nullptr;
        if (is_mine) *mine = {nullptr, true};
        return is_mine;
    }

    /// The worker only. The ticket whose turn it is.
    [[nodiscard]] std::uint64_t expected() const noexcept { return expected_; }

    /// The worker only. Whether every ticket that was taken has had its turn.
    [[nodiscard]] bool is_idle() const noexcept { return next_ticket_.load(std::memory_order_relaxed) == expected_; }

private:
    struct place {
        task* ready = nullptr; ///< Null: nobody will come.
        bool has_arrived = false;
    };

    /// @return null without memory
    [[nodiscard]] place* place_of(std::uint64_t ticket) noexcept {
        COMMTASK_ASSERT(ticket >= expected_);
        const std::size_t ahead = static_cast<std::size_t>(ticket - expected_);
        if (ahead >= places_.size() && !grow(ahead + 1)) return nullptr;
        return &places_[(first_ + ahead) % places_.size()];
    }

    [[nodiscard]] bool grow(std::size_t needed) noexcept {
        try {
            std::vector<place> larger(std::max<std::size_t>({needed, 2 * places_.size(), 16}));
            for (std::size_t i = 0; i < places_.size(); ++i) larger[i] = places_[(first_ + i) % places_.size()];
            places_.swap(larger);
        } catch (const std::bad_alloc&) {
            return false;
        }
        first_ = 0;
        return true;
    }

    alignas(cache_line_bytes) std::atomic<std::uint64_t> next_ticket_{1};
    ticket_book kept_;
    alignas(cache_line_bytes) std::uint64_t expected_ = 1;
    std::size_t first_ = 0; ///< Where the place of `expected_` lies in the ring.
    std::vector<place> places_;
    task_list unplaced_; ///< Arrived, but the ring could not grow: searched at every turn, while there are any.
};

} // namespace commtask::detail
