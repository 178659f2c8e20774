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

std::mutex mutex;             // guards the next two
std::uint32_t first_free = 0; // 0: none
std::size_t n_used = 1;       // slots that were ever given out; the first stands for no handle

/// What a thread keeps.
class pocket {
public:
    pocket() = default;
    pocket(const pocket&) = delete;
    pocket& operator=(const pocket&) = delete;
    ~pocket() {
        give_back(0);
        is_over_ = true;
    }

    [[nodiscard]] slot* take() noexcept {
        if (n_ == 0 && !fetch()) return nullptr;
        return kept_[--n_];
    }

    void put(slot* unused) noexcept {
        if (n_ == kept_.size()) give_back(kept_.size() / 2);
        kept_[n_++] = unused;
        if (is_over_) give_back(0); // a destructor of the thread that runs after ours
    }

private:
    bool fetch() noexcept {
        const std::lock_guard guard{mutex};
        while (n_ < kept_.size() / 2) {
            if (first_free != 0) {
                kept_[n_++] = first + first_free;
                first_free = first[first_free].next;
            } else if (n_used < capacity) {
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

thread_local pocket my_pocket;

} // namespace

bool reserve() noexcept {
    if (first != nullptr) return true;
    constexpr std::size_t least = std::size_t{1} << 12U;
    constexpr std::size_t where_space_is_short = std::size_t{1} << 20U; // the program needs the rest
    for (; capacity >= least; capacity = std::min(capacity / 2, where_space_is_short)) {
        void* const range = mmap(nullptr, capacity * sizeof(slot), PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (range == MAP_FAILED) continue;
        first = static_cast<slot*>(range);
        return true;
    }
    return false;
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
