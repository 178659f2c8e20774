// SPDX-License-Identifier: Apache-2.0
//
// The store hands out slots in batches under a lock, one lock per 32 tasks on each side. A thread that ends gives its
// slots back. A slot's constructor runs once, when its slab is made; what must be fresh per task the poster writes.
#include "task_pool.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>

namespace commtask::detail::task_pool {
namespace {

constexpr std::size_t batch_size = 32;
constexpr std::size_t slab_size = 128;

class store {
public:
    /// Fills `into` with batch_size slots. @return false without memory.
    [[nodiscard]] bool take_batch(std::array<task*, batch_size>& into) noexcept {
        const std::lock_guard guard{mutex_};
        if (free_.size() < batch_size && !grow()) return false;
        for (task*& slot : into) {
            slot = free_.back();
            free_.pop_back();
        }
        return true;
    }

    /// There is room: grow() reserved it for every slot made.
    void give(task* slot) noexcept {
        const std::lock_guard guard{mutex_};
        free_.push_back(slot);
    }

    void give_batch(const std::array<task*, batch_size>& slots) noexcept {
        const std::lock_guard guard{mutex_};
        free_.insert(free_.end(), slots.begin(), slots.end());
    }

    [[nodiscard]] std::vector<task*> all_slots() {
        const std::lock_guard guard{mutex_};
        std::vector<task*> slots;
        slots.reserve(slabs_.size() * slab_size);
        for (const auto& slab : slabs_) {
            for (std::size_t i = 0; i < slab_size; ++i) slots.push_back(&slab[i]);
        }
        return slots;
    }

    [[nodiscard]] std::size_t slot_count() const noexcept {
        return n_slabs_.load(std::memory_order_relaxed) * slab_size; // a number to show: it orders nothing
    }

private:
    [[nodiscard]] bool grow() noexcept {
        try {
            slabs_.push_back(std::make_unique<commtask_task[]>(slab_size));
            free_.reserve(slabs_.size() * slab_size);
        } catch (const std::bad_alloc&) {
            return false;
        }
        n_slabs_.store(slabs_.size(), std::memory_order_relaxed);
        for (std::size_t i = slab_size; i > 0; --i) free_.push_back(&slabs_.back()[i - 1]);
        return true;
    }

    std::mutex mutex_;
    std::vector<std::unique_ptr<commtask_task[]>> slabs_;
    std::atomic<std::size_t> n_slabs_{0};
    std::vector<task*> free_;
};

/// Never destroyed: threads may give slots back after main has returned.
store& the_store() {
    static store* const instance = new store;
    return *instance;
}

/// A thread's queue of free slots.
class cache {
public:
    cache() = default;
    cache(const cache&) = delete;
    cache& operator=(const cache&) = delete;
    ~cache() {
        while (size_ > 0) the_store().give(pop());
        is_alive_ = false;
    }

    [[nodiscard]] task* acquire() noexcept {
        if (size_ == 0) {
            std::array<task*, batch_size> batch;
            if (!the_store().take_batch(batch)) return nullptr;
            for (task* slot : batch) push(slot);
        }
        if (size_ > prefetch_distance) {
            const task* const soon = slots_[(first_ + prefetch_distance) % slots_.size()];
            prefetch_for_write(&soon->op);
            prefetch_for_write(reinterpret_cast<const std::byte*>(&soon->op) + cache_line_bytes);
            prefetch_for_write(&soon->life);
        }
        return pop();
    }

    void release(task* slot) noexcept {
        if (!is_alive_) return the_store().give(slot);
        if (size_ == slots_.size()) {
            std::array<task*, batch_size> batch;
            for (task*& given : batch) given = pop();
            the_store().give_batch(batch);
        }
        push(slot);
    }

private:
    static constexpr std::size_t prefetch_distance = 8;

    void push(task* slot) noexcept { slots_[(first_ + size_++) % slots_.size()] = slot; }
    [[nodiscard]] task* pop() noexcept {
        task* const slot = slots_[first_];
        first_ = (first_ + 1) % slots_.size();
        --size_;
        return slot;
    }

    std::array<task*, 4 * batch_size> slots_;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
    bool is_alive_ = true;
};

cache& my_cache() {
    thread_local cache mine;
    return mine;
}

} // namespace

task* acquire() noexcept { return my_cache().acquire(); }

void release(task* slot) noexcept { my_cache().release(slot); }

void drop(task* slot, std::uint32_t n_references) noexcept {
    if (slot->life.drop_references(n_references)) release(slot);
}

std::vector<task*> all_slots() { return the_store().all_slots(); }

std::size_t slot_count() noexcept { return the_store().slot_count(); }

} // namespace commtask::detail::task_pool
