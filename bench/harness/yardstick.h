// SPDX-License-Identifier: Apache-2.0
//
// The physical yardstick: how long one cache line takes from one core to the other and back. Two pinned threads write
// the same line in turn; each spins on it without a pause. No hand-over of work between two cores can be answered
// faster, and the time changes with where a virtual machine runs (120 to 480 ns were seen), so it is sampled in
// every round beside what is measured. The partner sleeps between batches: it may share its core with a worker.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace commtask::bench {

/// Owns the partner thread. All members are called by one thread, which is pinned to another core than `partner_core`.
class yardstick {
public:
    explicit yardstick(int partner_core);
    ~yardstick();
    yardstick(const yardstick&) = delete;
    yardstick& operator=(const yardstick&) = delete;

    /// Appends `n_samples` times in ns of one round trip, each the mean of 16 in a row: the clock costs less than 1 ns
    /// of it. The first 64 round trips of a batch are not counted. Blocks while it measures.
    void sample(std::size_t n_samples, std::vector<double>& out);

private:
    struct shared;
    std::unique_ptr<shared> shared_;
};

} // namespace commtask::bench
