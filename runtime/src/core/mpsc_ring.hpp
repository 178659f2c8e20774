// SPDX-License-Identifier: Apache-2.0
//
// The bounded ring through which threads submit tasks to a lane: many producers, one consumer. Only
// submitters write its cells, so a submitter never loads a line that the worker wrote. A cell's
// word has the task's address and the parity of the lap. Submitters learn which cells are free from
// a limit, which they read about once per lap. Each cell fills a cache line: with eight cells per
// line, a post took up to three times as long.
#pragma once

#include "base/assert.hpp"
#include "base/system.hpp"
#include "base/tuning.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sched.h>

namespace commtask::detail {

/// `Item` is aligned to at least two bytes.
template <typename Item>
class mpsc_ring {
public:
    /// @param capacity  a power of two
    /// @param has_heavy_barrier  the result of register_heavy_barrier(). If true, the first thread
    /// that posts uses no locked instruction until another thread posts.
    explicit mpsc_ring(std::size_t capacity, bool has_heavy_barrier = false)
        : mask_(capacity - 1), cells_(std::make_unique<cell[]>(capacity)),
          bias_owner_(has_heavy_barrier ? nobody_yet : nobody), limit_(capacity),
          published_every_(capacity / parts_published) {
        COMMTASK_ASSERT(capacity >= parts_published && (capacity & mask_) == 0);
    }

    /// Any thread. Waits while the ring is full. Items of threads in a happens-before relation keep
    /// their order.
    template <typename WhileFull>
    void put(Item* item, WhileFull&& while_full) noexcept {
        const std::uint64_t position = take_position();
        // Once per lap the cached limit is out of date, although the ring is not full.
        if (position >= limit_.load(std::memory_order_acquire)) raise_limit();
        while (position >= limit_.load(std::memory_order_acquire)) {
            if (!while_full()) return;
            wait_for_room();
        }
        publish(position, item);
    }
    void put(Item* item) noexcept {
        put(item, [] { return true; });
    }

    /// Any thread. Calls `on_position()` after a position is reserved and before the item is
    /// visible.
    /// @return false if the ring is full; then `on_position()` was not called
    template <typename OnPosition>
    [[nodiscard]] bool try_put(Item* item, OnPosition&& on_position) noexcept {
        // The bias owner cannot check the limit and reserve the position in one step.
        revoke_bias();
        std::uint64_t position = tail_.load(std::memory_order_relaxed);
        do {
            // acquire: partner of the release in raise_limit().
            if (position >= limit_.load(std::memory_order_acquire)) {
                raise_limit();
                if (position >= limit_.load(std::memory_order_acquire)) return false;
            }
        } while (!tail_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed));
        on_position();
        publish(position, item);
        return true;
    }
    [[nodiscard]] bool try_put(Item* item) noexcept {
        return try_put(item, [] {});
    }

    /// Any thread. put() for a thread that must not wait. If the ring is full, the position is
    /// reserved, and the caller passes the item to the consumer by another way. The consumer then
    /// calls skip_position().
    /// @return whether the item is in the ring; otherwise `position` is its reserved position
    [[nodiscard]] bool put_or_reserve(Item* item, std::uint64_t& position) noexcept {
        position = take_position();
        // acquire: partner of the release in raise_limit().
        if (position >= limit_.load(std::memory_order_acquire)) raise_limit();
        if (position >= limit_.load(std::memory_order_acquire)) return false;
        publish(position, item);
        return true;
    }

    /// The consumer only, after take() has returned null.
    /// @return whether this position is next; then it is consumed
    [[nodiscard]] bool skip_position(std::uint64_t position) noexcept {
        const std::uint64_t head = head_.load(std::memory_order_relaxed);
        if (head != position) return false;
        // Clears the word of the lap before. No submitter writes the cell before it is free again.
        cells_[head & mask_].word.store(0, std::memory_order_relaxed);
        advance(head);
        return true;
    }

    /// The consumer only.
    /// @return null if nothing has arrived
    [[nodiscard]] Item* take() noexcept {
        // acquire: partner of the release in publish().
        const std::uint64_t head = head_.load(std::memory_order_relaxed);
        const std::uintptr_t word = cells_[head & mask_].word.load(std::memory_order_acquire);
        if (word == 0 || (word & 1U) != lap_parity(head)) return nullptr;
        advance(head);
        return reinterpret_cast<Item*>(word & ~std::uintptr_t{1});
    }

    /// Any thread. Whether take() would return an item. Reads only the cell, so it does not disturb
    /// submitters.
    [[nodiscard]] bool can_take() const noexcept {
        const std::uint64_t head = head_.load(std::memory_order_relaxed);
        const std::uintptr_t word = cells_[head & mask_].word.load(std::memory_order_relaxed);
        return word != 0 && (word & 1U) == lap_parity(head);
    }

    /// Any thread. Whether a position was reserved and not consumed; its item may not be visible
    /// yet.
    [[nodiscard]] bool has_more() const noexcept {
        return tail_.load(std::memory_order_relaxed) != head_.load(std::memory_order_relaxed);
    }

    /// The consumer only. Makes all free cells available to submitters. Called before the worker
    /// waits, and when a submitter may be waiting.
    void publish_free_cells() noexcept {
        taken_.store(head_.load(std::memory_order_relaxed), std::memory_order_release);
    }

private:
    /// The consumer publishes free cells after each quarter of the ring, so a submitter reads the
    /// consumer's line at most this often per lap.
    static constexpr std::size_t parts_published = 4;

    void advance(std::uint64_t head) noexcept {
        head_.store(head + 1, std::memory_order_relaxed);
        // release: partner of the acquire in raise_limit(); submitters may reuse the cells up to
        // this one.
        if (((head + 1) & (published_every_ - 1)) == 0) taken_.store(head + 1, std::memory_order_release);
    }

    struct alignas(cache_line_bytes) cell {
        std::atomic<std::uintptr_t> word{0};
    };

    /// The bias owner: the thread that may reserve positions without a locked instruction. Either
    /// the address of a variable of that thread, or one of three values. nobody_yet: the first
    /// submitter becomes the owner.
    static constexpr std::uintptr_t nobody_yet = 0;
    /// The bias was revoked; all threads use the shared counter.
    static constexpr std::uintptr_t nobody = 1;
    /// A thread revokes the bias, and waits until the owner has left take_position().
    static constexpr std::uintptr_t is_revoking = 2;

    [[nodiscard]] static std::uintptr_t me() noexcept {
        alignas(8) thread_local char mine;
        return reinterpret_cast<std::uintptr_t>(&mine);
    }

    /// A locked instruction waits until all earlier stores of the thread are complete, and the
    /// worker has just read their lines. The wait was the larger part of a post. So the ring is
    /// biased towards one thread, which uses plain stores.
    [[nodiscard]] std::uint64_t take_position() noexcept {
        const std::uintptr_t owner = bias_owner_.load(std::memory_order_relaxed);
        if (owner == me() || (owner == nobody_yet && claim_bias())) {
            is_taking_.store(true, std::memory_order_relaxed);
            // Partner of the heavy barrier in revoke_bias(): either this thread sees that the bias
            // is revoked, or the revoking thread sees is_taking_.
            light_barrier(true);
            if (bias_owner_.load(std::memory_order_relaxed) == me()) {
                const std::uint64_t position = tail_.load(std::memory_order_relaxed);
                tail_.store(position + 1, std::memory_order_relaxed);
                // release: partner of the acquire in revoke_bias().
                is_taking_.store(false, std::memory_order_release);
                return position;
            }
            is_taking_.store(false, std::memory_order_release);
        }
        revoke_bias();
        // relaxed: only reserves the position; the cell publishes the item.
        return tail_.fetch_add(1, std::memory_order_relaxed);
    }

    [[nodiscard]] bool claim_bias() noexcept {
        std::uintptr_t expected = nobody_yet;
        return bias_owner_.compare_exchange_strong(expected, me(), std::memory_order_relaxed);
    }

    /// Revokes the bias permanently. If it could return, threads that post in turn would pay for
    /// each revocation.
    void revoke_bias() noexcept {
        // acquire: partner of the release below; the owner's last position is visible.
        std::uintptr_t owner = bias_owner_.load(std::memory_order_acquire);
        if (owner == nobody) return;
        if (owner != is_revoking &&
            bias_owner_.compare_exchange_strong(owner, is_revoking, std::memory_order_relaxed)) {
            heavy_barrier();
            // acquire: partner of the release in take_position().
            while (is_taking_.load(std::memory_order_acquire)) sched_yield();
            bias_owner_.store(nobody, std::memory_order_release);
            return;
        }
        // acquire: partner of the release above, by the revoking thread.
        while (bias_owner_.load(std::memory_order_acquire) != nobody) sched_yield();
    }

    [[nodiscard]] std::uint64_t lap_parity(std::uint64_t position) const noexcept {
        return (position / (mask_ + 1)) & 1U;
    }

    void publish(std::uint64_t position, Item* item) noexcept {
        prefetch_for_write(&cells_[(position + tuning::cells_fetched_ahead) & mask_]);
        // release: partner of the acquire in take(), which makes the item's fields visible.
        cells_[position & mask_].word.store(reinterpret_cast<std::uintptr_t>(item) | lap_parity(position),
                                            std::memory_order_release);
    }

    /// The limit only grows. Two submitters may store it in either order: a smaller value is safe.
    void raise_limit() noexcept {
        // release: partner of the acquires in put() and try_put(); the next submitter also sees
        // what this acquire made visible.
        limit_.store(taken_.load(std::memory_order_acquire) + mask_ + 1, std::memory_order_release);
    }

    void wait_for_room() noexcept {
        raise_limit();
        pause_briefly();
        if (++waits_ % tuning::steps_in_a_row == 0) sched_yield();
    }

    const std::size_t mask_;
    const std::unique_ptr<cell[]> cells_;
    // The submitters' line: the number of positions reserved, and the cached limit. The worker
    // never writes it.
    alignas(cache_line_bytes) std::atomic<std::uint64_t> tail_{0};
    std::atomic<std::uintptr_t> bias_owner_;
    std::atomic<bool> is_taking_{false};
    alignas(cache_line_bytes) std::atomic<std::uint64_t> limit_;
    std::atomic<std::uint64_t> waits_{0};
    // The worker's lines.
    alignas(cache_line_bytes) std::atomic<std::uint64_t> taken_{0};
    alignas(cache_line_bytes) std::atomic<std::uint64_t> head_{0};
    const std::size_t published_every_;
};

} // namespace commtask::detail
