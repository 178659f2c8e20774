// SPDX-License-Identifier: Apache-2.0
//
// Uses instructions instead of <fenv.h>: a fenv_t has 32 bytes, where a task has room for four, and
// takes a hundred cycles to load. x86-64: the modes are MXCSR without its flags, and the control
// word of the x87 unit (long double). Flags of both units are stored in MXCSR, since fetestexcept()
// reads both. AArch64: the modes are FPCR, the flags are FPSR. On other processors, modes and flags
// are ignored.
#include "base/float_modes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>
#include <span>

namespace commtask::detail {
namespace {

#if defined(__x86_64__)

constexpr std::uint32_t flag_bits = 0x3f;

[[nodiscard]] std::uint32_t load_mxcsr() noexcept {
    std::uint32_t word = 0;
    asm volatile("stmxcsr %0" : "=m"(word));
    return word;
}
void store_mxcsr(std::uint32_t word) noexcept { asm volatile("ldmxcsr %0" : : "m"(word)); }

[[nodiscard]] std::uint16_t load_x87_control() noexcept {
    std::uint16_t word = 0;
    asm volatile("fnstcw %0" : "=m"(word));
    return word;
}

/// Moves the flags out of the x87 unit: they would trap at once if the new control word enabled
/// their traps.
void empty_x87(std::uint32_t& flags) noexcept {
    std::uint16_t status = 0;
    asm volatile("fnstsw %0" : "=a"(status));
    if ((status & flag_bits) == 0) return;
    flags |= status & flag_bits;
    asm volatile("fnclex");
}

[[nodiscard]] std::uint32_t load_flags() noexcept {
    std::uint16_t status = 0;
    asm volatile("fnstsw %0" : "=a"(status));
    return (load_mxcsr() | status) & flag_bits;
}

[[nodiscard]] float_modes load_modes() noexcept {
    return (load_mxcsr() & ~flag_bits & 0xffffU) | std::uint32_t{load_x87_control()} << 16U;
}

/// @return the flags that were raised before
float_flags store_modes(float_modes modes, std::uint32_t flags) noexcept {
    std::uint32_t raised = load_mxcsr() & flag_bits;
    empty_x87(raised);
    store_mxcsr((modes & 0xffffU & ~flag_bits) | (flags & flag_bits));
    const auto control = static_cast<std::uint16_t>(modes >> 16U);
    if (control != load_x87_control()) asm volatile("fldcw %0" : : "m"(control));
    return static_cast<float_flags>(raised);
}

#elif defined(__aarch64__)

constexpr std::uint32_t flag_bits = 0x9f;
// Not a bit of FPCR; makes the default modes, 0, a nonzero value.
constexpr float_modes is_known = 1U << 31U;

[[nodiscard]] std::uint32_t load_flags() noexcept {
    std::uint64_t word = 0;
    asm volatile("mrs %0, fpsr" : "=r"(word));
    return static_cast<std::uint32_t>(word) & flag_bits;
}

[[nodiscard]] float_modes load_modes() noexcept {
    std::uint64_t word = 0;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return static_cast<std::uint32_t>(word) | is_known;
}

float_flags store_modes(float_modes modes, std::uint32_t flags) noexcept {
    const std::uint32_t raised = load_flags();
    const std::uint64_t status = flags & flag_bits;
    const std::uint64_t control = modes & ~is_known;
    asm volatile("msr fpsr, %0" : : "r"(status));
    asm volatile("msr fpcr, %0" : : "r"(control));
    return static_cast<float_flags>(raised);
}

#else

[[nodiscard]] std::uint32_t load_flags() noexcept { return 0; }
[[nodiscard]] float_modes load_modes() noexcept { return 0; }
float_flags store_modes(float_modes, std::uint32_t) noexcept { return 0; }

#endif

/// The modes of the reductions in flight; the last entry is for the newest reduction. Programs use
/// one or two modes. Reductions that do not fit into the table are ignored.
struct modes_in_use {
    float_modes modes;
    std::uint32_t n_reductions;
};
std::mutex guards_table;
std::array<modes_in_use, 8> table;
std::size_t n_in_use = 0;

/// The number of nested scopes of the calling thread.
constinit thread_local int depth = 0;

[[nodiscard]] modes_in_use* find(float_modes modes) noexcept {
    const std::span used{table.data(), n_in_use};
    const auto found = std::ranges::find(used, modes, &modes_in_use::modes);
    return found == used.end() ? nullptr : &*found;
}

} // namespace

float_modes modes_of_this_thread() noexcept { return load_modes(); }

void raise_flags(float_flags flags) noexcept {
    if (flags == 0) return;
    const float_modes mine = load_modes();
    const float_flags before = store_modes(mine, 0);
    store_modes(mine, static_cast<std::uint32_t>(before | flags));
}

void reductions_in_flight::begin(float_modes modes) noexcept {
    if (modes == 0) return;
    const std::lock_guard guard{guards_table};
    // The threads that wait for earlier reductions have read their flags.
    if (n_in_use == 0) raised_.store(0, std::memory_order_relaxed);
    modes_in_use* const found = find(modes);
    if (found != nullptr) {
        ++found->n_reductions;
        std::rotate(found, found + 1, table.data() + n_in_use);
    } else if (n_in_use < table.size()) {
        table[n_in_use++] = {modes, 1};
    }
    wanted_.store(modes, std::memory_order_relaxed);
}

float_flags reductions_in_flight::end(float_modes modes) noexcept {
    if (modes == 0) return 0;
    const std::lock_guard guard{guards_table};
    modes_in_use* const found = find(modes);
    if (found != nullptr && --found->n_reductions == 0) {
        std::rotate(found, found + 1, table.data() + n_in_use);
        --n_in_use;
    }
    wanted_.store(n_in_use == 0 ? 0 : table[n_in_use - 1].modes, std::memory_order_relaxed);
    // A reduction may end inside a call of the library, before the scope of that call adds its
    // flags to raised_.
    const std::uint32_t here = depth > 0 ? load_flags() : 0;
    return static_cast<float_flags>(raised_.load(std::memory_order_relaxed) | here);
}

void float_scope::begin(float_modes wanted) noexcept {
    modes_before_ = load_modes();
    const bool is_counted = reductions_in_flight::wanted_.load(std::memory_order_relaxed) != 0;
    // A thread of the library that has the wanted modes already.
    if (!is_counted && wanted == modes_before_) return;
    flags_before_ = store_modes(wanted, 0);
    is_active_ = true;
    ++depth;
}

void float_scope::end() noexcept {
    const float_flags raised = store_modes(modes_before_, 0);
    std::atomic<float_flags>& all = reductions_in_flight::raised_;
    // Does not write the line if it has all the bits.
    if ((all.load(std::memory_order_relaxed) & raised) != raised) all.fetch_or(raised, std::memory_order_relaxed);
    // Threads of the library need no flags. In other threads the flags stay, as after a call of MPI
    // without the library.
    --depth;
    const bool is_dropped = library_thread::am_i() && depth == 0;
    if (!is_dropped && (flags_before_ | raised) != 0)
        store_modes(modes_before_, static_cast<std::uint32_t>(flags_before_ | raised));
}

} // namespace commtask::detail
