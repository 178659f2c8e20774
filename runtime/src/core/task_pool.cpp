// SPDX-License-Identifier: Apache-2.0
//
// Threads exchange slots with the store in batches of 32, so they rarely take its lock. A thread
// that ends returns its slots. Destructors of thread-local objects may run later than that, and
// take and return slots one by one. A slot's constructor runs once, when its slab is allocated; the
// submitter initializes all fields that a task needs.
#include "core/task_pool.hpp"

#include "base/tuning.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <span>
#include <vector>

namespace commtask::detail::task_pool {
namespace {

class store {
public:
    /// Fills `into` with slots.
    /// @return false without memory
    [[nodiscard]] bool take(std::span<task*> into) noexcept {
        const std::lock_guard guard{mutex_};
        if (free_.size() < into.size() && !grow()) return false;
        for (task*& slot : into) {
            slot = free_.back();
            free_.pop_back();
        }
        return true;
    }

    /// Never allocates: grow() has reserved capacity for every slot.
    void give(std::span<task* const> slots) noexcept {
        const std::lock_guard guard{mutex_};
        free_.insert(free_.end(), slots.begin(), slots.end());
    }

    /// acquire: partner of the release in grow(); the slab is constructed.
    [[nodiscard]] slab* newest_slab() const noexcept { return newest_.load(std::memory_order_acquire); }

    [[nodiscard]] std::size_t slot_count() const noexcept {
        // relaxed: used for statistics only.
        return n_slots_.load(std::memory_order_relaxed);
    }

private:
    [[nodiscard]] bool grow() noexcept {
        const std::size_t n_slots = slot_count() + std::tuple_size_v<decltype(slab::slots)>;
        try {
            free_.reserve(n_slots);
        } catch (const std::bad_alloc&) {
            return false;
        }
        auto* const made = new (std::nothrow) slab{};
        if (made == nullptr) return false;
        made->older = newest_slab();
        // release: partner of the acquire in newest_slab().
        newest_.store(made, std::memory_order_release);
        n_slots_.store(n_slots, std::memory_order_relaxed);
        for (std::size_t i = made->slots.size(); i > 0; --i) free_.push_back(&made->slots[i - 1]);
        return true;
    }

    std::mutex mutex_;
    std::atomic<slab*> newest_{nullptr};
    std::atomic<std::size_t> n_slots_{0};
    std::vector<task*> free_;
};

/// Never destroyed, since threads may return slots after main() has returned. In static memory,
/// since the heap may have no memory at the first post.
store& the_store() noexcept {
    alignas(store) static std::array<std::byte, sizeof(store)> memory;
    static auto* const instance = ::new (static_cast<void*>(memory.data())) store;
    return *instance;
}

/// A thread's queue of free slots. Has no destructor, so it can be used until the thread's last
/// destructor has run.
class cache {
public:
    [[nodiscard]] task* acquire() noexcept {
        if (size_ == 0 && !fetch()) return nullptr;
        if (size_ > tuning::slots_fetched_ahead)
            slots_[(first_ + tuning::slots_fetched_ahead) % slots_.size()]->prefetch_for_post();
        return pop();
    }

    void release(task* slot) noexcept {
        if (stage_ != stage::in_use && !come_into_use()) return the_store().give({&slot, 1});
        if (size_ == slots_.size()) {
            std::array<task*, tuning::slots_at_once> batch;
            for (task*& given : batch) given = pop();
            the_store().give(batch);
        }
        push(slot);
    }

    /// Returns all slots. Afterwards the cache keeps none.
    void end() noexcept {
        while (size_ > 0) the_store().give(std::array{pop()});
        stage_ = stage::over;
    }

private:
    enum class stage : std::uint8_t {
        /// The destructor for the thread's end is not registered -> the first use (in_use).
        unused,
        in_use, ///< The destructor is registered -> the thread's end (over).
        over,   ///< Final. Later destructors may still use the cache.
    };

    [[nodiscard]] bool come_into_use() noexcept;

    [[nodiscard]] bool fetch() noexcept {
        std::array<task*, tuning::slots_at_once> batch;
        const bool keeps = stage_ == stage::in_use || come_into_use();
        const std::span wanted{batch.data(), keeps ? batch.size() : 1};
        if (!the_store().take(wanted)) return false;
        for (task* const slot : wanted) push(slot);
        return true;
    }

    void push(task* slot) noexcept { slots_[(first_ + size_++) % slots_.size()] = slot; }
    [[nodiscard]] task* pop() noexcept {
        task* const slot = slots_[first_];
        first_ = (first_ + 1) % slots_.size();
        --size_;
        return slot;
    }

    std::array<task*, 4 * tuning::slots_at_once> slots_{};
    std::size_t first_ = 0;
    std::size_t size_ = 0;
    stage stage_ = stage::unused;
};

thread_local constinit cache my_cache;

bool cache::come_into_use() noexcept {
    struct end_of_thread {
        ~end_of_thread() { my_cache.end(); }
    };
    if (stage_ == stage::over) return false;
    thread_local const end_of_thread notice;
    stage_ = stage::in_use;
    return true;
}

} // namespace

task* acquire() noexcept { return my_cache.acquire(); }

void release(task* slot) noexcept { my_cache.release(slot); }

void drop(task* slot, std::uint32_t n_references) noexcept {
    if (slot->life.drop_references(n_references)) release(slot);
}

slab* newest_slab() noexcept { return the_store().newest_slab(); }

std::size_t slot_count() noexcept { return the_store().slot_count(); }

} // namespace commtask::detail::task_pool
