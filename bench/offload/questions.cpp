// SPDX-License-Identifier: Apache-2.0
//
// What the questions of bench_offload share: the list of answers and the series of sizes. Samples are reduced by
// bench/offload.py, which sees those of all runs; here they only get their names.
#include "offload/questions.h"

#include <algorithm>
#include <utility>

namespace commtask::bench::offload {

void answers::add(const std::string& name, const std::string& unit, std::vector<double> samples) {
    document_.push_back({{"name", name}, {"unit", unit}, {"samples", std::move(samples)}});
}

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
