// SPDX-License-Identifier: Apache-2.0
// The table and its JSON from the same numbers; what the table rounds, the JSON keeps.
// Names of the JSON's fields are those that bench and the report tools read.
#include "common/report_json.hpp"

#include <array>
#include <cstdio>

namespace miniapp {

std::vector<timing> per_step(std::span<const phase_times> mine, int n_steps, MPI_Comm comm) {
    int n_ranks = 1;
    MPI_Comm_size(comm, &n_ranks);
    const double share = 1.0 / n_steps / n_ranks;
    std::vector<timing> all;
    for (const phase_times& run : mine) {
        std::array sums{run.internal * share, run.post * share, run.wait * share, run.total * share};
        double slowest = run.total / n_steps;
        MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, comm);
        MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm);
        all.push_back({{sums[0], sums[1], sums[2], sums[3]}, slowest});
    }
    std::ranges::sort(all, {}, &timing::slowest_total);
    return all;
}

void print_phases(const char* mode, const timing& of, double message_seconds) {
    const phase_times& mean = of.mean;
    std::printf("per step [us]  internal      post      wait      misc     total   overlap\n%-13s", mode);
    for (const double seconds : {mean.internal, mean.post, mean.wait, mean.misc(), mean.total}) {
        std::printf("%10.2f", seconds * 1e6);
    }
    std::printf("%9.0f%%\n\n", of.overlap(message_seconds) * 100);
}

nlohmann::json to_json(const timing& of, double message_seconds) {
    return {{"internal_us", of.mean.internal * 1e6}, {"post_us", of.mean.post * 1e6},
            {"wait_us", of.mean.wait * 1e6},         {"misc_us", of.mean.misc() * 1e6},
            {"total_us", of.mean.total * 1e6},       {"slowest_total_us", of.slowest_total * 1e6},
            {"overlap", of.overlap(message_seconds)}};
}

} // namespace miniapp
