// SPDX-License-Identifier: Apache-2.0
// The modes: who computes the bands, who does the ring and the halos, and what waits for what. All of them do the same
// steps on the same domain: halos, ring and bands of a step need the ring and the bands of the step before, nothing else.
#pragma once

#include "common/phases.hpp"
#include "halo.hpp"

namespace poisson {

using miniapp::phase_times;

/// One run of a mode. The domain is reset and the first step's halos are packed.
struct chain {
    domain& on;
    halo& by;
    int n_steps;
    int n_cores; ///< Of the rank: in all modes but baseline one of them communicates.
    [[nodiscard]] int compute_threads() const { return std::max(1, n_cores - 1); }
};

/// What comes between a step's halos and the next one's.
inline void do_ring(const chain& of, int step) {
    of.by.unpack(of.on, step);
    of.on.compute_ring(step);
    of.by.pack(step + 1);
}

/// Adds what compute threads did; what is no work is waiting.
inline phase_times with_work(phase_times times, const miniapp::work_times& bands, double ring_seconds, int n_threads) {
    times.internal = bands.sum() / n_threads;
    times.wait = std::max(0.0, times.total - times.internal - times.post - ring_seconds / n_threads);
    return times;
}

phase_times run_baseline(const chain& of); ///< Every core computes, the master posts and waits.
phase_times run_thread(const chain& of);   ///< A thread communicates, a nested team computes.
phase_times run_offload(const chain& of);  ///< Baseline's shape on one core less; the worker communicates.
phase_times run_omp(const chain& of);      ///< OpenMP tasks without a barrier between steps.
phase_times run_tbb(const chain& of);      ///< oneTBB tasks; the one that waits for halos is suspended.

struct mode {
    const char* name;
    int thread_level;
    bool by_worker;
    phase_times (*run)(const chain&);
};
std::span<const mode> modes();

} // namespace poisson
