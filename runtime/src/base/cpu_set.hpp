// SPDX-License-Identifier: Apache-2.0
//
// A set of CPUs with value semantics. CPUs have the numbers of the kernel, taskset and lscpu
// (hwloc's physical PU numbers). A raw hwloc_bitmap_t must be freed by hand, and a cpu_set_t ends
// at 1024 CPUs.
#pragma once

#include <hwloc.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace commtask::detail {

class cpu_set {
public:
    cpu_set();
    explicit cpu_set(hwloc_const_bitmap_t bits);
    cpu_set(std::initializer_list<int> cpus);
    cpu_set(const cpu_set& other);
    cpu_set& operator=(const cpu_set& other);
    cpu_set(cpu_set&&) noexcept = default;
    cpu_set& operator=(cpu_set&&) noexcept = default;
    ~cpu_set() = default;

    /// The set {first, ..., last}.
    [[nodiscard]] static cpu_set range(int first, int last);
    /// Parses a list such as "0-3,8". The empty text is the empty set.
    /// @return nothing if the text is invalid
    [[nodiscard]] static std::optional<cpu_set> from_text(std::string_view text);

    void insert(int cpu);
    void erase(int cpu);
    [[nodiscard]] bool contains(int cpu) const;
    [[nodiscard]] bool is_empty() const;
    [[nodiscard]] int size() const;
    [[nodiscard]] int first() const; ///< -1 when empty.
    [[nodiscard]] bool intersects(const cpu_set& other) const;
    [[nodiscard]] bool includes(const cpu_set& other) const;
    [[nodiscard]] std::vector<int> members() const; ///< Ascending.
    [[nodiscard]] std::string text() const;         ///< For example "0-3,8"; the empty set is "".
    [[nodiscard]] hwloc_const_bitmap_t native() const { return bits_.get(); }
    [[nodiscard]] hwloc_bitmap_t native() { return bits_.get(); }

    cpu_set& operator|=(const cpu_set& other);
    cpu_set& operator&=(const cpu_set& other);
    cpu_set& operator-=(const cpu_set& other);
    friend bool operator==(const cpu_set& a, const cpu_set& b);

private:
    struct release {
        void operator()(hwloc_bitmap_s* bits) const { hwloc_bitmap_free(bits); }
    };
    std::unique_ptr<hwloc_bitmap_s, release> bits_;
};

[[nodiscard]] cpu_set operator|(cpu_set a, const cpu_set& b);
[[nodiscard]] cpu_set operator&(cpu_set a, const cpu_set& b);
[[nodiscard]] cpu_set operator-(cpu_set a, const cpu_set& b);

/// Parses a list such as "3,7-9". Keeps the order, since lane 0 gets the first CPU, lane 1 the
/// second, and so on.
/// @return nothing if the text is invalid, or names a CPU twice or above `highest_cpu`
[[nodiscard]] std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

/// The limit of CPU numbers, above those of all Linux kernels.
inline constexpr int highest_cpu = 8191;

} // namespace commtask::detail
