// SPDX-License-Identifier: Apache-2.0
//
// Doorbells of the ranks of a node: one word in shared memory for the worker of each lane of each
// rank, which says whether the worker waits (wakeup.hpp). A worker that is about to wait arms its
// doorbell, polls once more, and waits. A rank that starts or completes an operation towards a rank
// whose doorbell is armed rings it. The doorbell does not say for which operation the worker waits:
// a needless ring costs one poll. A lost ring costs a wait, never a message, since each wait with
// something in flight has a limit (docs/node.md).
#pragma once

#include "core/wakeup.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace commtask::detail {

class doorbells {
public:
    static constexpr std::size_t page_bytes = 4096; ///< The size of each rank's page.
    static constexpr std::size_t nobody = SIZE_MAX;

    /// @param pages  one page for each rank, zero at the beginning; the pages outlast this object
    /// @param world_ranks  the ranks of the node's processes in MPI_COMM_WORLD, ascending
    /// @param me  this process's place among them
    /// @param leader  the place of the rank that receives announcements of messages from other
    /// nodes; `nobody`: no rank does
    doorbells(void* pages, std::vector<int> world_ranks, std::size_t me, std::size_t n_lanes,
              std::size_t leader = nobody)
        : pages_(static_cast<std::byte*>(pages)), world_ranks_(std::move(world_ranks)), me_(me), n_lanes_(n_lanes),
          leader_(leader) {}

    [[nodiscard]] const std::vector<int>& world_ranks() const noexcept { return world_ranks_; }
    [[nodiscard]] bool has_leader() const noexcept { return leader_ != nobody; }
    [[nodiscard]] bool am_leader() const noexcept { return leader_ == me_; }
    [[nodiscard]] std::atomic<std::uint32_t>& my_word(std::size_t lane) const noexcept { return word(me_, lane); }

    /// Any thread, after MPI has the operation that the other rank will find: rings the armed
    /// doorbells of a rank.
    /// @return how many workers the call has woken
    unsigned ring(std::size_t node_rank) const noexcept { // NOLINT(modernize-use-nodiscard)
        return ring_all(node_rank, [](worker_state state) { return state == worker_state::armed; });
    }
    /// As ring(), but also wakes a worker in a short wait, which would end by itself, but later.
    unsigned ring_any(std::size_t node_rank) const noexcept { // NOLINT(modernize-use-nodiscard)
        return ring_all(node_rank, [](worker_state state) { return state >= worker_state::waiting; });
    }
    /// A worker whose doorbell is armed wakes the leader's first lane if that lane's worker is
    /// blocked.
    /// @return how many workers the call has woken
    unsigned ring_leader() const noexcept { // NOLINT(modernize-use-nodiscard)
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return ring_one(word(leader_, 0), [](worker_state state) { return state == worker_state::blocked; }) ? 1 : 0;
    }

    /// The leader's first lane: whether another worker of the node waits for announcements.
    [[nodiscard]] bool is_any_armed() const noexcept {
        for (std::size_t node_rank = 0; node_rank < world_ranks_.size(); ++node_rank) {
            for (std::size_t lane = node_rank == me_ ? 1 : 0; lane < n_lanes_; ++lane) {
                if (state(word(node_rank, lane)) == worker_state::armed) return true;
            }
        }
        return false;
    }

private:
    [[nodiscard]] std::atomic<std::uint32_t>& word(std::size_t node_rank, std::size_t lane) const noexcept {
        return *reinterpret_cast<std::atomic<std::uint32_t>*>(pages_ + node_rank * page_bytes +
                                                              lane * cache_line_bytes);
    }
    [[nodiscard]] static worker_state state(const std::atomic<std::uint32_t>& of) noexcept {
        return static_cast<worker_state>(of.load(std::memory_order_seq_cst));
    }

    template <typename MustWake>
    unsigned ring_all(std::size_t node_rank, MustWake&& must_wake) const noexcept {
        // Partner of the fence in wakeup::wait(): this rank sees that the worker waits, or the
        // worker sees the message.
        std::atomic_thread_fence(std::memory_order_seq_cst);
        unsigned n_woken = 0;
        // On the other rank, the communicator may be on another lane.
        for (std::size_t lane = 0; lane < n_lanes_; ++lane)
            n_woken += ring_one(word(node_rank, lane), must_wake) ? 1 : 0;
        return n_woken;
    }
    template <typename MustWake>
    [[nodiscard]] static bool ring_one(std::atomic<std::uint32_t>& its, MustWake&& must_wake) noexcept {
        std::uint32_t before = its.load(std::memory_order_seq_cst);
        if (!must_wake(static_cast<worker_state>(before))) return false;
        if (!its.compare_exchange_strong(before, wakeup::of(worker_state::rung), std::memory_order_seq_cst))
            return false;
        wake_sleepers_shared(its);
        return true;
    }

    std::byte* pages_;
    std::vector<int> world_ranks_;
    std::size_t me_;
    std::size_t n_lanes_;
    std::size_t leader_;
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(std::atomic<std::uint32_t>) == 4);

} // namespace commtask::detail
