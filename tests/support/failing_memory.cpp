// SPDX-License-Identifier: Apache-2.0
//
// The two forms of operator new that the others call, and the deletes that belong to them. On the C library's allocator, so
// that the sanitizers still see every byte.
#include "failing_memory.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace commtask::test {
namespace {

constexpr std::int64_t enough = INT64_MAX / 2;
std::atomic<std::int64_t> n_left{enough}; ///< Allocations before there is no memory.
std::atomic<std::int64_t> n_live{0};

[[nodiscard]] void* allocate(std::size_t size, std::size_t alignment) {
    const bool is_out = n_left.fetch_sub(1) <= 0;
    void* const memory =
        is_out ? nullptr : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory == nullptr) throw std::bad_alloc{};
    n_live.fetch_add(1);
    return memory;
}

void deallocate(void* memory) noexcept {
    if (memory != nullptr) n_live.fetch_sub(1);
    std::free(memory);
}

} // namespace

no_memory::no_memory(int n_before) noexcept { n_left.store(n_before); }
no_memory::~no_memory() { n_left.store(enough); }

std::int64_t live_allocations() noexcept { return n_live.load(); }

} // namespace commtask::test

void* operator new(std::size_t size) {
    return commtask::test::allocate(size == 0 ? 1 : size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return commtask::test::allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { commtask::test::deallocate(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { commtask::test::deallocate(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { commtask::test::deallocate(memory); }
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
    commtask::test::deallocate(memory);
}
