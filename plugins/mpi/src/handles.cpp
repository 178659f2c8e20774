// SPDX-License-Identifier: Apache-2.0
//
// Free slots: each thread keeps a few, the rest are in one list. A thread that waits for what others posted would pile
// them up, so what it has too many of goes back.
#include "handles.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>

#include <sys/mman.h>

namespace commtask::interposer::handles {
namespace {

constexpr std::size_t piece = std::size_t{1} << 13U; // opened at once
static_assert(piece * sizeof(slot) % (std::size_t{64} << 10U) == 0, "whole pages, of whatever size");

std::mutex mutex;             // guards the next two
std::uint32_t first_free = 0; // 0: none
std::size_t n_used = 1;       // slots that were ever given out; the first stands for no handle

/// Lets slots be touched as far as the next one to be given out, with the mutex held. @return false without memory
bool open_next() noexcept {
    const std::size_t n_now = n_open.load(std::memory_order_relaxed);
    if (n_used < n_now) return true;
    if (n_used >= capacity) return false;
    if (mprotect(first + n_now, piece * sizeof(slot), PROT_READ | PROT_WRITE) != 0) return false;
    n_open.store(n_now + piece, std::memory_order_relaxed);
    return true;
}

/// What a thread keeps. It has no destructor of its own, so that it can be used as long as the thread runs code.
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

    /// Gives everything back; from here on nothing is kept.
    void end() noexcept {
        give_back(0);
        is_over_ = true;
    }

private:
    /// Whether the thread's end will end it too: not while that has come already, and a destructor still uses it.
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
    constexpr std::size_t where_space_is_short = std::size_t{1} << 20U; // the program needs the rest
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
