// SPDX-License-Identifier: Apache-2.0
//
// malloc and its family, counting. Each forwards to the C library's own entry point of that name with __libc_ in front,
// which exists for this purpose in glibc; looking the next one up at run time would itself allocate.
#include "harness/allocation_count.h"

#include <cerrno>
#include <cstddef>

namespace {

/// Initial-exec, since the default model may allocate on a thread's first access, and that from inside malloc.
__attribute__((tls_model("initial-exec"))) thread_local std::uint64_t n_calls = 0;

} // namespace

#define COMMTASK_BENCH_EXPORT __attribute__((visibility("default")))

// The names of the C library, which no style of ours applies to.
extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);

COMMTASK_BENCH_EXPORT void* malloc(std::size_t size) {
    ++n_calls;
    return __libc_malloc(size);
}

COMMTASK_BENCH_EXPORT void* calloc(std::size_t count, std::size_t size) {
    ++n_calls;
    return __libc_calloc(count, size);
}

COMMTASK_BENCH_EXPORT void* realloc(void* old, std::size_t size) {
    ++n_calls;
    return __libc_realloc(old, size);
}

COMMTASK_BENCH_EXPORT void* memalign(std::size_t alignment, std::size_t size) {
    ++n_calls;
    return __libc_memalign(alignment, size);
}

COMMTASK_BENCH_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t size) {
    ++n_calls;
    return __libc_memalign(alignment, size);
}

COMMTASK_BENCH_EXPORT int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
    ++n_calls;
    void* const memory = __libc_memalign(alignment, size);
    if (memory == nullptr) {
        return ENOMEM;
    }
    *out = memory;
    return 0;
}

COMMTASK_BENCH_EXPORT void free(void* memory) {
    n_calls += memory != nullptr ? 1 : 0;
    __libc_free(memory);
}
}

namespace commtask::bench {

std::uint64_t allocation_calls_of_this_thread() noexcept { return n_calls; }

} // namespace commtask::bench
