// SPDX-License-Identifier: Apache-2.0
//
// Shared parts of the C++ interface: an array of C handles that allocates only if it is long, and
// durations in the units of the C interface. Internal.
#pragma once

#include <commtask/error.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

/// @cond
namespace commtask::frontend {

/// An array of handles. Up to `Inline` of them lie in the object itself.
template <typename Handle, std::size_t Inline>
class handle_list {
public:
    void add(Handle handle) {
        if (size_ < Inline) {
            few_[size_] = handle;
        } else {
            if (many_.empty()) many_.assign(few_.begin(), few_.end());
            many_.push_back(handle);
        }
        ++size_;
    }
    [[nodiscard]] Handle* data() noexcept { return size_ <= Inline ? few_.data() : many_.data(); }
    [[nodiscard]] const Handle* data() const noexcept { return size_ <= Inline ? few_.data() : many_.data(); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    std::array<Handle, Inline> few_{};
    std::vector<Handle> many_;
    std::size_t size_ = 0;
};

/// Converts a duration to nanoseconds, rounded up so that no wait is too short, and limited to the
/// largest number (292 years).
template <typename Rep, typename Period>
[[nodiscard]] std::int64_t timeout_ns(std::chrono::duration<Rep, Period> timeout) {
    using wide_ns = std::chrono::duration<long double, std::nano>;
    const long double wanted = std::chrono::duration_cast<wide_ns>(timeout).count();
    if (wanted <= 0) return 0;
    constexpr auto longest = std::numeric_limits<std::int64_t>::max();
    if (wanted >= static_cast<long double>(longest)) return longest;
    const auto whole = static_cast<std::int64_t>(wanted);
    return static_cast<long double>(whole) < wanted ? whole + 1 : whole;
}

/// Throws if a wait returned an error. The code of a task is no error here, since the outcome has
/// it.
inline void check_waited(int code) {
    if (code != COMMTASK_OK && code != COMMTASK_FAILED && code != COMMTASK_CANCELED) refuse(code);
}

} // namespace commtask::frontend
/// @endcond
