// SPDX-License-Identifier: Apache-2.0
//
// Finds the valid word nearest to a mistyped one, for "Did you mean …". Two swapped neighboring
// letters count as one mistake, and case does not count, since these are the most common mistakes
// in names of variables.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace commtask::detail {

/// The number of insertions, deletions, replacements and swaps of neighboring letters that turn one
/// word into the other.
[[nodiscard]] inline std::size_t edit_distance(std::string_view a, std::string_view b) {
    const auto same = [](char x, char y) {
        return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
    };
    // Three rows of the usual table: the current one, the one before, and for swaps the one before
    // that.
    std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), current(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        current[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
            current[j] = std::min({replaced, last[j] + 1, current[j - 1] + 1});
            const bool is_swap = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
            if (is_swap) current[j] = std::min(current[j], before_last[j - 2] + 1);
        }
        std::swap(before_last, last);
        std::swap(last, current);
    }
    return last[b.size()];
}

/// The candidate with the smallest distance; among equals the first. `candidates` is not empty.
[[nodiscard]] inline std::string_view nearest_word(std::string_view word,
                                                   std::span<const std::string_view> candidates) {
    return *std::ranges::min_element(candidates, {},
                                     [word](std::string_view candidate) { return edit_distance(word, candidate); });
}

} // namespace commtask::detail
