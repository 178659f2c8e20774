// SPDX-License-Identifier: Apache-2.0
// Where the time of a run went, in the terms of the papers' table: computing what needs no messages, posting, waiting, the rest.
// Per step, as the mean over the ranks; the slowest rank's total is what counts.
#pragma once

#include "common/clock.hpp"

#include <mpi.h>

#include <algorithm>
#include <span>
#include <vector>

namespace miniapp {

/// Seconds of a run, as the compute threads of a rank spent them on average.
struct phase_times {
    double internal = 0; ///< Computing what needs no messages.
    double external = 0; ///< Computing what does, where a miniapp tells it from the rest.
    double post = 0;     ///< Handing messages over.
    double wait = 0;     ///< For messages, or for tasks that wait for them.
    double total = 0;
    [[nodiscard]] double misc() const { return total - internal - external - post - wait; }
    phase_times& operator+=(const phase_times& other);
};

/// Seconds that each thread works; a line of memory for each. An arena of one thread may have two.
class work_times {
public:
    explicit work_times(int n_threads) : each_(static_cast<std::size_t>(std::max(2, n_threads))) {}
    template <class Work>
    void add(int thread, Work&& work) {
        each_[static_cast<std::size_t>(thread)].seconds += seconds_of(work);
    }
    [[nodiscard]] double sum() const {
        double all = 0;
        for (const own& one : each_) all += one.seconds;
        return all;
    }

private:
    struct alignas(64) own {
        double seconds = 0;
    };
    std::vector<own> each_;
};

/// One run, per step.
struct timing {
    phase_times mean; ///< Of the ranks.
    double slowest_total = 0;
    /// The share of `message_seconds`, what the messages take alone, that nobody waited for.
    [[nodiscard]] double overlap(double message_seconds) const {
        return message_seconds > 0 ? std::clamp(1 - (mean.post + mean.wait) / message_seconds, 0.0, 1.0) : 0;
    }
};

/// Collective: runs of `n_steps` steps, the fastest first.
std::vector<timing> per_step(std::span<const phase_times> mine, int n_steps, MPI_Comm comm);

/// How a miniapp calls its steps and what is computed in them.
struct phase_names {
    const char* step = "step";
    const char* internal = "internal";
    const char* external = nullptr; ///< Null: no column.
    double unit = 1e-6;             ///< Or 1e-3.
};

} // namespace miniapp
