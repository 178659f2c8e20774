// SPDX-License-Identifier: Apache-2.0
//
// A value type for hwloc's bitmaps. The only other logic is the parser of CPU lists.
// hwloc_bitmap_list_sscanf is not strict enough: it reads "3-" as "3 and all above", and ignores
// text that it cannot read.
#include "base/cpu_set.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <new>
#include <utility>

namespace commtask::detail {

cpu_set::cpu_set() : bits_(hwloc_bitmap_alloc()) {
    if (!bits_) throw std::bad_alloc{};
}

cpu_set::cpu_set(hwloc_const_bitmap_t bits) : bits_(hwloc_bitmap_dup(bits)) {
    if (!bits_) throw std::bad_alloc{};
}

cpu_set::cpu_set(std::initializer_list<int> cpus) : cpu_set() {
    for (const int cpu : cpus) insert(cpu);
}

cpu_set::cpu_set(const cpu_set& other) : cpu_set(other.native()) {}

cpu_set& cpu_set::operator=(const cpu_set& other) {
    cpu_set copy{other};
    std::swap(bits_, copy.bits_);
    return *this;
}

cpu_set cpu_set::range(int first, int last) {
    cpu_set result;
    for (int cpu = first; cpu <= last; ++cpu) result.insert(cpu);
    return result;
}

std::optional<cpu_set> cpu_set::from_text(std::string_view text) {
    cpu_set result;
    if (text.empty()) return result;
    const auto cpus = parse_cpu_list(text);
    if (!cpus) return std::nullopt;
    for (const int cpu : *cpus) result.insert(cpu);
    return result;
}

void cpu_set::insert(int cpu) {
    if (hwloc_bitmap_set(bits_.get(), static_cast<unsigned>(cpu)) != 0) throw std::bad_alloc{};
}

void cpu_set::erase(int cpu) {
    if (hwloc_bitmap_clr(bits_.get(), static_cast<unsigned>(cpu)) != 0) throw std::bad_alloc{};
}

bool cpu_set::contains(int cpu) const {
    return cpu >= 0 && hwloc_bitmap_isset(bits_.get(), static_cast<unsigned>(cpu)) != 0;
}

bool cpu_set::is_empty() const { return hwloc_bitmap_iszero(bits_.get()) != 0; }

int cpu_set::size() const { return hwloc_bitmap_weight(bits_.get()); }

int cpu_set::first() const { return hwloc_bitmap_first(bits_.get()); }

bool cpu_set::intersects(const cpu_set& other) const { return hwloc_bitmap_intersects(native(), other.native()) != 0; }

bool cpu_set::includes(const cpu_set& other) const { return hwloc_bitmap_isincluded(other.native(), native()) != 0; }

std::vector<int> cpu_set::members() const {
    std::vector<int> result;
    for (int cpu = hwloc_bitmap_first(native()); cpu >= 0; cpu = hwloc_bitmap_next(native(), cpu))
        result.push_back(cpu);
    return result;
}

std::string cpu_set::text() const {
    std::string result;
    const auto cpus = members();
    for (std::size_t i = 0; i < cpus.size();) {
        std::size_t end = i;
        while (end + 1 < cpus.size() && cpus[end + 1] == cpus[end] + 1) ++end;
        if (!result.empty()) result += ',';
        result += std::to_string(cpus[i]);
        if (end > i) result += '-' + std::to_string(cpus[end]);
        i = end + 1;
    }
    return result;
}

cpu_set& cpu_set::operator|=(const cpu_set& other) {
    if (hwloc_bitmap_or(native(), native(), other.native()) != 0) throw std::bad_alloc{};
    return *this;
}

cpu_set& cpu_set::operator&=(const cpu_set& other) {
    if (hwloc_bitmap_and(native(), native(), other.native()) != 0) throw std::bad_alloc{};
    return *this;
}

cpu_set& cpu_set::operator-=(const cpu_set& other) {
    if (hwloc_bitmap_andnot(native(), native(), other.native()) != 0) throw std::bad_alloc{};
    return *this;
}

bool operator==(const cpu_set& a, const cpu_set& b) { return hwloc_bitmap_isequal(a.native(), b.native()) != 0; }

cpu_set operator|(cpu_set a, const cpu_set& b) {
    a |= b;
    return a;
}

cpu_set operator&(cpu_set a, const cpu_set& b) {
    a &= b;
    return a;
}

cpu_set operator-(cpu_set a, const cpu_set& b) {
    a -= b;
    return a;
}

namespace {

std::optional<int> parse_cpu(std::string_view text) {
    int cpu = -1;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), cpu);
    if (failure != std::errc{} || end != text.data() + text.size() || cpu < 0 || cpu > highest_cpu) return std::nullopt;
    return cpu;
}

} // namespace

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
    std::vector<int> cpus;
    std::array<bool, highest_cpu + 1> is_named{};
    while (true) {
        const std::size_t comma = text.find(',');
        const std::string_view item = text.substr(0, comma);
        const std::size_t dash = item.find('-');
        const auto first = parse_cpu(item.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : parse_cpu(item.substr(dash + 1));
        if (!first || !last || *last < *first) return std::nullopt;
        for (int cpu = *first; cpu <= *last; ++cpu) {
            if (std::exchange(is_named[static_cast<std::size_t>(cpu)], true)) return std::nullopt;
            cpus.push_back(cpu);
        }
        if (comma == std::string_view::npos) return cpus;
        text.remove_prefix(comma + 1);
    }
}

} // namespace commtask::detail
