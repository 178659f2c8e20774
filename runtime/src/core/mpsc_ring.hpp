// SPDX-License-Identifier: Apache-2.0
//
// The bounded ring through which any thread submits tasks to a lane. Only submitters write its
// cells, so a submitter never loads a line that the worker wrote. One word of a cell holds the
// task's address and the parity of the lap. Submitters learn that cells were taken only through a
// limit, which they read about once per lap. A cell fills a cache line. With eight
// cells in a line, a post took 0.28 of a cache line ping-pong instead of 0.10 in bursts of eight:
// the submitter's next locked instruction waited for the line that the worker polled.
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

/// Many threads submit, one thread takes. `Item` is aligned to at least two bytes.
template <typename Item>
class mpsc_ring {
public:
    /// @param capacity  a power of two
    /// @param has_heavy_barrier  the result of register_heavy_barrier(). If it is true, the first
    /// thread that posts uses no locked instruction, until another thread posts too.
    explicit mpsc_ring(std::size_t capacity, bool has_heavy_barrier = false)
        : mask_(capacity - 1), cells_(std::make_unique<cell[]>(capacity)),
          bias_owner_(has_heavy_barrier ? nobody_yet : nobody), limit_(capacity),
          given_back_every_(capacity / parts_given_back) {
        COMMTASK_ASSERT(capacity >= parts_given_back && (capacity & mask_) == 0);
    }

    /// Any thread. Waits while the ring is full. Items of threads in a happens-before relation keep
    /// their order.
    /// @param while_full  bool(), called repeatedly while the thread waits for room. It returns
    /// false if no thread takes items any more: then the item stays outside.
    template <typename WhileFull>
    void put(Item* item, WhileFull&& while_full) noexcept {
        const std::uint64_t position = take_position();
        // Once per lap the limit is merely old. The ring is not full then, and the thread must
        // neither pause nor yield.
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

    /// Any thread. Calls `on_position()` between taking a place and filling it: only from then on is
    /// the item sure to go in.
    /// @return false if the ring is full; then nothing was done, and `on_position()` was not called
    template <typename OnPosition>
    [[nodiscard]] bool try_put(Item* item, OnPosition&& on_position) noexcept {
        // The owner thread could not check the limit and take the place in one step.
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

    /// Any thread: put() for a thread that must not wait. If there is no room, the item gets its
    /// place all the same: the item reaches the taker by another way, and the taker calls
    /// skip_position().
    /// @return whether the item is in the ring; otherwise `place` is the place where it belongs
    [[nodiscard]] bool put_or_reserve(Item* item, std::uint64_t& position) noexcept {
        position = take_position();
        // acquire: partner of the release in raise_limit().
        if (position >= limit_.load(std::memory_order_acquire)) raise_limit();
        if (position >= limit_.load(std::memory_order_acquire)) return false;
        publish(position, item);
        return true;
    }

    /// The taker only, when take() found nothing.
    /// @return whether this place is next; then the place is used up
    [[nodiscard]] bool skip_position(std::uint64_t position) noexcept {
        const std::uint64_t head = head_.load(std::memory_order_relaxed);
        if (head != position) return false;
        // The next lap must not take the old word of this cell. No submitter writes the cell before
        // it is given back.
        cells_[head & mask_].word.store(0, std::memory_order_relaxed);
        advance(head);
        return true;
    }

    /// The taker only.
    /// @return null if nothing has arrived
    [[nodiscard]] Item* take() noexcept {
        // acquire: partner of the release in publish().
        const std::uint64_t head = head_.load(std::memory_order_relaxed);
        const std::uintptr_t word = cells_[head & mask_].word.load(std::memory_order_acquire);
        if (word == 0 || (word & 1U) != lap_parity(head)) return nullptr;
        advance(head);
        return reinterpret_cast<Item*>(word & ~std::uintptr_t{1});
    }

    /// Any thread. Whether take() would find something. Reads only the cell, and so does not
    /// disturb submitters.
    [[nodiscard]] bool can_take() const noexcept {
        const std::uint64_t head = head_.load(std::memory_order_relaxed);
        const std::uintptr_t word = cells_[head & mask_].word.load(std::memory_order_relaxed);
        return word != 0 && (word & 1U) == lap_parity(head);
    }

    /// Any thread. Whether a submitter has taken a place that the taker has not taken out,
    /// published or not.
    [[nodiscard]] bool has_more() const noexcept {
        return tail_.load(std::memory_order_relaxed) != head_.load(std::memory_order_relaxed);
    }

    /// The taker only. Lets submitters into every free cell now. Called before the worker waits,
    /// and when a submitter might wait for room.
    void give_back_all() noexcept { taken_.store(head_.load(std::memory_order_relaxed), std::memory_order_release); }

private:
    /// The taker gives cells back whenever this part of the ring is free. A submitter that need not
    /// wait for room reads the taker's line up to so many times per lap.
    static constexpr std::size_t parts_given_back = 4;

    void advance(std::uint64_t head) noexcept {
        head_.store(head + 1, std::memory_order_relaxed);
        // release: partner of the acquire in raise_limit(); submitters may reuse the cells before
        // this one.
        if (((head + 1) & (given_back_every_ - 1)) == 0) taken_.store(head + 1, std::memory_order_release);
    }

    struct alignas(cache_line_bytes) cell {
        std::atomic<std::uintptr_t> word{0};
    };

    /// The thread that may take places without a locked instruction: the address of a variable of
    /// that thread, or one of three values. nobody_yet: the first submitter becomes the owner
    /// thread.
    static constexpr std::uintptr_t nobody_yet = 0;
    static constexpr std::uintptr_t nobody = 1; ///< No thread any more: the counter is shared.
    /// A thread waits until the owner thread is out of take_position().
    static constexpr std::uintptr_t is_revoking = 2;

    [[nodiscard]] static std::uintptr_t me() noexcept {
        alignas(8) thread_local char mine;
        return reinterpret_cast<std::uintptr_t>(&mine);
    }

    /// A locked instruction waits until all earlier stores of the thread have reached their lines,
    /// which the worker has just read. That wait was the larger part of a post. So one thread is
    /// owner: it announces itself with plain stores.
    [[nodiscard]] std::uint64_t take_position() noexcept {
        const std::uintptr_t owner = bias_owner_.load(std::memory_order_relaxed);
        if (owner == me() || (owner == nobody_yet && claim_bias())) {
            is_taking_.store(true, std::memory_order_relaxed);
            // Partner of the heavy barrier in revoke_bias(): either this thread sees the end of its
            // favour, or the ending thread sees is_taking_.
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
        // relaxed: this takes only the place; the cell publishes the item.
        return tail_.fetch_add(1, std::memory_order_relaxed);
    }

    [[nodiscard]] bool claim_bias() noexcept {
        std::uintptr_t expected = nobody_yet;
        return bias_owner_.compare_exchange_strong(expected, me(), std::memory_order_relaxed);
    }

    /// Ends the favour for good: from here on the counter is shared. If the favour could come back,
    /// threads that post in turn would pay for each change.
    void revoke_bias() noexcept {
        // acquire: partner of the release below; the owner thread's last place is visible.
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
        // acquire: partner of the release above, by the thread that ends the favour.
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

    /// The limit only grows. Two submitters may store it in either order: the smaller value is
    /// merely cautious.
    void raise_limit() noexcept {
        // release: partner of the acquires in put() and try_put(), which advance the worker's reads on
        // to the next submitter.
        limit_.store(taken_.load(std::memory_order_acquire) + mask_ + 1, std::memory_order_release);
    }

    void wait_for_room() noexcept {
        raise_limit();
        pause_briefly();
        if (++waits_ % tuning::steps_in_a_row == 0) sched_yield();
    }

    const std::size_t mask_;
    const std::unique_ptr<cell[]> cells_;
    // The submitters' line: the number of places given out, and the cached limit. The worker never
    // writes it.
    alignas(cache_line_bytes) std::atomic<std::uint64_t> tail_{0};
    std::atomic<std::uintptr_t> bias_owner_;
    std::atomic<bool> is_taking_{false};
    alignas(cache_line_bytes) std::atomic<std::uint64_t> limit_;
    std::atomic<std::uint64_t> waits_{0};
    // The worker's lines.
    alignas(cache_line_bytes) std::atomic<std::uint64_t> taken_{0};
    alignas(cache_line_bytes) std::atomic<std::uint64_t> head_{0};
    const std::size_t given_back_every_;
};

} // namespace commtask::detail
