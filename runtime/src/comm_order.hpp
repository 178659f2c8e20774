// SPDX-License-Identifier: Apache-2.0
//
// Program order within one communicator. Whoever creates an ordered task takes the next ticket; the worker issues ordered
// tasks by ticket, so it does not matter when each becomes ready. Messages and collectives have an order each, since MPI
// matches them separately and a late collective should not hold messages up. Tasks without a ticket pass by.
#pragma once

#include "assert.hpp"
#include "task.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace commtask::detail {

class comm_order {
public:
    /// Any thread. Tickets are 1, 2, 3, ...
    [[nodiscard]] std::uint64_t take_ticket() noexcept { return next_ticket_.fetch_add(1, std::memory_order_relaxed); }

    /// The worker only. Notes that the task with this ticket is ready (or, null, will never come).
    void arrive(std::uint64_t ticket, task* ready) {
        COMMTASK_ASSERT(ticket >= expected_);
        const std::size_t ahead = static_cast<std::size_t>(ticket - expected_);
        if (ahead >= places_.size()) grow(ahead + 1);
        place& mine = places_[(first_ + ahead) % places_.size()];
        mine = {ready, true};
        if (ahead > 0) ++n_held_;
    }

    /// The worker only. Calls `issue(task&)` for every task whose turn has come, in order.
    template <typename Issue>
    void issue_in_order(Issue&& issue) {
        while (!places_.empty() && places_[first_].has_arrived) {
            task* const ready = places_[first_].ready;
            places_[first_] = {};
            first_ = (first_ + 1) % places_.size();
            ++expected_;
            if (n_held_ > 0 && places_[first_].has_arrived) --n_held_;
            if (ready != nullptr) issue(*ready);
        }
    }

    /// The worker only. A task that waits for its turn gives its place up, to nobody.
    /// @return false if it does not wait: its turn has come, or it has given its place up before.
    [[nodiscard]] bool leave(std::uint64_t ticket, const task& waiting) noexcept {
        if (ticket < expected_ || places_.empty()) return false;
        place& mine = places_[(first_ + static_cast<std::size_t>(ticket - expected_)) % places_.size()];
        if (mine.ready != &waiting) return false;
        mine.ready = nullptr;
        return true;
    }

    /// The worker only. The ticket whose turn it is.
    [[nodiscard]] std::uint64_t expected() const noexcept { return expected_; }

    /// The worker only. Whether every ticket that was taken has had its turn.
    [[nodiscard]] bool is_idle() const noexcept { return next_ticket_.load(std::memory_order_relaxed) == expected_; }

    /// The worker only. How many tasks are ready but held by an earlier ticket.
    [[nodiscard]] std::size_t held() const noexcept { return n_held_; }

private:
    struct place {
        task* ready = nullptr;
        bool has_arrived = false;
    };

    void grow(std::size_t needed) {
        std::vector<place> larger(std::max<std::size_t>({needed, 2 * places_.size(), 16}));
        for (std::size_t i = 0; i < places_.size(); ++i) larger[i] = places_[(first_ + i) % places_.size()];
        places_.swap(larger);
        first_ = 0;
    }

    alignas(cache_line_bytes) std::atomic<std::uint64_t> next_ticket_{1};
    alignas(cache_line_bytes) std::uint64_t expected_ = 1;
    std::size_t first_ = 0; ///< Where the place of `expected_` lies in the ring.
    std::size_t n_held_ = 0;
    std::vector<place> places_;
};

} // namespace commtask::detail
