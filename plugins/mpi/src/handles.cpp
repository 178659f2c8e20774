// SPDX-License-Identifier: Apache-2.0
//
// Free slots. Each thread caches a few; the others are in one shared list. A thread that waits for
// operations of other threads would accumulate slots, so a full cache returns some to the list.
#include "handles.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>

#include <sys/mman.h>

namespace commtask::interposer::handles {
namespace {

// the number of slots that are made accessible at once
constexpr std::size_t piece = std::size_t{1} << 13U;
static_assert(piece * sizeof(slot) % (std::size_t{64} << 10U) == 0, "whole pages, of whatever size");

std::mutex mutex;             // guards first_free and n_used
std::uint32_t first_free = 0; // 0: none
std::size_t n_used = 1;       // slots that were ever in use; slot 0 is no handle

/// Makes slots accessible, up to the next unused one. The caller has locked the mutex.
/// @return false if memory is exhausted
bool open_next() noexcept {
    const std::size_t n_now = n_open.load(std::memory_order_relaxed);
    if (n_used < n_now) return true;
    if (n_used >= capacity) return false;
    if (mprotect(first + n_now, piece * sizeof(slot), PROT_READ | PROT_WRITE) != 0) return false;
    n_open.store(n_now + piece, std::memory_order_relaxed);
    return true;
}

/// The slots that a thread caches. The class has no destructor, so that it can be used as long as
/// the thread runs code.
class pocket {
public:
    [[nodiscard]] slot* take() noexcept {
        if (n_ == 0 && !fetch()) return nullptr;
        return kept_[--n_];
    }

    void put(slot* unused) noexcept {
        if (n_ == kept_.size()) give_back(kept_.size() / 2);
        kept_[n_++] = unused;
        if (!is_ended_by_thread()) give_back(0);
    }

    /// Returns all slots; from here on the cache keeps none.
    void end() noexcept {
        give_back(0);
        is_over_ = true;
    }

private:
    /// Whether the end of the thread will call end(): not if a destructor uses the cache after
    /// end().
    [[nodiscard]] bool is_ended_by_thread() noexcept;

    bool fetch() noexcept {
        const std::size_t n_wanted = is_ended_by_thread() ? kept_.size() / 2 : 1;
        const std::lock_guard guard{mutex};
        while (n_ < n_wanted) {
            if (first_free != 0) {
                kept_[n_++] = first + first_free;
                first_free = first[first_free].next;
            } else if (open_next()) {
                kept_[n_++] = first + n_used++;
            } else {
                break;
            }
        }
        return n_ > 0;
    }

    void give_back(std::size_t n_left) noexcept {
        const std::lock_guard guard{mutex};
        while (n_ > n_left) {
            slot* const unused = kept_[--n_];
            unused->next = first_free;
            first_free = static_cast<std::uint32_t>(unused - first);
        }
    }

    std::array<slot*, 64> kept_{};
    std::size_t n_ = 0;
    bool is_over_ = false;
};

thread_local constinit pocket my_pocket;

bool pocket::is_ended_by_thread() noexcept {
    struct end_of_thread {
        ~end_of_thread() { my_pocket.end(); }
    };
    if (is_over_) return false;
    thread_local const end_of_thread notice;
    return true;
}

} // namespace

void reserve() noexcept {
    if (first != nullptr) return;
    // The program needs the rest of the address space.
    constexpr std::size_t where_space_is_short = std::size_t{1} << 20U;
    for (; capacity >= piece; capacity = std::min(capacity / 2, where_space_is_short)) {
        void* const range =
            mmap(nullptr, capacity * sizeof(slot), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (range == MAP_FAILED) continue;
        first = static_cast<slot*>(range);
        return;
    }
    capacity = 0;
}

slot* acquire() noexcept { return my_pocket.take(); }

void release(slot* unused) noexcept {
    if (unused->arrays != nullptr) {
        std::free(unused->arrays);
        unused->arrays = nullptr;
    }
    my_pocket.put(unused);
}

} // namespace commtask::interposer::handles
