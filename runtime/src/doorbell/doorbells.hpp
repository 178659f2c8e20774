// SPDX-License-Identifier: Apache-2.0
//
// Doorbells of the ranks of a node: for the worker of each lane of each rank, a word in shared
// memory with the worker's state (wakeup.hpp). A worker that is about to wait arms its doorbell,
// polls once more, and waits. A rank that starts or completes an operation with a peer whose
// doorbell is armed rings it. The doorbell does not name an operation: a needless ring costs one
// poll. A lost ring costs a wait, never a message, since each wait with something in flight is
// limited (docs/node.md).
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
    static constexpr std::size_t page_bytes = 4096; ///< The size of each rank's part of the memory.
    static constexpr std::size_t nobody = SIZE_MAX;

    /// @param pages  one page for each rank, initially zero; outlives this object
    /// @param world_ranks  the ranks of the node's processes in MPI_COMM_WORLD, ascending
    /// @param me  the index of this process in `world_ranks`
    /// @param leader  the index of the rank that receives announcements from other nodes; `nobody`:
    /// none
    doorbells(void* pages, std::vector<int> world_ranks, std::size_t me, std::size_t n_lanes,
              std::size_t leader = nobody)
        : pages_(static_cast<std::byte*>(pages)), world_ranks_(std::move(world_ranks)), me_(me), n_lanes_(n_lanes),
          leader_(leader) {}

    [[nodiscard]] const std::vector<int>& world_ranks() const noexcept { return world_ranks_; }
    [[nodiscard]] bool has_leader() const noexcept { return leader_ != nobody; }
    [[nodiscard]] bool am_leader() const noexcept { return leader_ == me_; }
    [[nodiscard]] std::atomic<std::uint32_t>& my_word(std::size_t lane) const noexcept { return word(me_, lane); }

    /// Any thread, after the operation was started or completed: rings the armed doorbells of a
    /// rank.
    /// @return how many workers the call has woken
    unsigned ring(std::size_t node_rank) const noexcept { // NOLINT(modernize-use-nodiscard)
        return ring_all(node_rank, [](worker_state state) { return state == worker_state::armed; });
    }
    /// As ring(), but also wakes a worker in a short wait.
    unsigned ring_any(std::size_t node_rank) const noexcept { // NOLINT(modernize-use-nodiscard)
        return ring_all(node_rank, [](worker_state state) { return state >= worker_state::waiting; });
    }
    /// Called by a worker that has armed its doorbell: wakes the worker of the leader's first lane
    /// if it is blocked.
    /// @return how many workers the call has woken
    unsigned ring_leader() const noexcept { // NOLINT(modernize-use-nodiscard)
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return ring_one(word(leader_, 0), [](worker_state state) { return state == worker_state::blocked; }) ? 1 : 0;
    }

    /// For the leader's first lane: whether another worker of the node waits for announcements.
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
        // Partner of the fence in wakeup::wait(). Either this rank sees that the worker waits, or
        // the worker sees the message.
        std::atomic_thread_fence(std::memory_order_seq_cst);
        unsigned n_woken = 0;
        // All lanes, since the communicator may be on another lane there.
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
