// SPDX-License-Identifier: Apache-2.0
//
// What the questions of bench_offload share: the series of sizes, and how often each is sampled. Large messages get fewer samples,
// or a run would take minutes.
#include "offload/questions.h"

#include <algorithm>

namespace commtask::bench::offload {

std::vector<int> sizes_in_bytes(int first, int last, int factor) {
    std::vector<int> sizes;
    for (int size = first; size < last; size *= factor) {
        sizes.push_back(size);
    }
    sizes.push_back(last);
    return sizes;
}

int n_samples_of(int size_bytes, int most) {
    constexpr int large_bytes = 1 << 16;
    return size_bytes < large_bytes ? most : std::max(5, most / (1 + size_bytes / large_bytes));
}

} // namespace commtask::bench::offload
