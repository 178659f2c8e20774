// SPDX-License-Identifier: Apache-2.0
//
// Tests whether all needs can be met at once, each by an item of its own (bipartite matching).
// Placement uses this test before it assigns a core, so that a rank's choice never leaves a later
// rank without one. Augmenting paths are exact, and fast enough for a few hundred cores and ranks.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace commtask::detail {

/// For each need, the items that can meet it.
using needs_list = std::vector<std::vector<std::size_t>>;

class matching {
public:
    matching(const needs_list& needs, std::size_t n_items) : needs_(needs), holder_(n_items) {}

    /// Whether all needs can be met at once.
    [[nodiscard]] bool meets_all() {
        for (std::size_t need = 0; need < needs_.size(); ++need) {
            std::vector<char> is_seen(holder_.size(), 0);
            if (!meets(need, is_seen)) return false;
        }
        return true;
    }

private:
    bool meets(std::size_t need, std::vector<char>& is_seen) {
        for (const std::size_t item : needs_[need]) {
            if (holder_[item]) continue;
            holder_[item] = need;
            return true;
        }
        for (const std::size_t item : needs_[need]) {
            if (std::exchange(is_seen[item], 1) != 0) continue;
            if (!meets(*holder_[item], is_seen)) continue;
            holder_[item] = need;
            return true;
        }
        return false;
    }

    const needs_list& needs_;
    std::vector<std::optional<std::size_t>> holder_;
};

} // namespace commtask::detail
