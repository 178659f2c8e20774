// SPDX-License-Identifier: Apache-2.0
//
// Divides the iterations of a taskloop into tasks, where the library does that instead of libomp.
// The sizes are libomp's: they differ by at most one, the larger ones first, unless the clause is
// strict.
#pragma once

#include <algorithm>
#include <cstdint>

namespace commtask::omp {

/// The clauses of a taskloop that determine its tasks.
struct loop_cut {
    enum kind : int { is_free = 0, by_grain = 1, by_count = 2 };

    int by;             ///< A kind.
    std::uint64_t size; ///< Iterations per task, or number of tasks; at least 1 if there is a clause.
    bool is_strict;     ///< All tasks but the last have the same size.
};

/// Calls create(first, length, is_last) for each task of a loop with n iterations.
template <typename Create>
void cut_loop(std::uint64_t n, const loop_cut& cut, std::uint64_t n_threads, const Create& create) {
    if (n == 0) {
        return;
    }
    std::uint64_t n_chunks = 10 * n_threads; // libomp's choice without a clause
    if (cut.by == loop_cut::by_grain) {
        n_chunks = cut.is_strict ? (n - 1) / cut.size + 1 : std::max<std::uint64_t>(n / cut.size, 1);
    } else if (cut.by == loop_cut::by_count) {
        n_chunks = cut.size;
    }
    n_chunks = std::min(n_chunks, n);
    std::uint64_t chunk = n / n_chunks;
    std::uint64_t n_larger = n % n_chunks;
    if (cut.is_strict && cut.by != loop_cut::is_free) {
        chunk = cut.by == loop_cut::by_grain ? cut.size : (n - 1) / n_chunks + 1;
        n_larger = 0;
    }
    for (std::uint64_t first = 0; first < n;) {
        const std::uint64_t length = std::min(n - first, chunk + (n_larger > 0 ? 1 : 0));
        n_larger -= n_larger > 0 ? 1 : 0;
        create(first, length, first + length == n);
        first += length;
    }
}

} // namespace commtask::omp
