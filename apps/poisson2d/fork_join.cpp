// SPDX-License-Identifier: Apache-2.0
// The modes with a barrier after each step, and the table of all modes. Bands are handed out by counters, so a master that comes
// late, because it posts first, simply computes fewer. Mode thread is the shape of Intel's talks on multiple endpoints and
// one-sided halos: a thread does nothing but communicate, and the team nested beside it computes; FUNNELED is enough for it.
#include "schedule.hpp"

#include <atomic>
#include <omp.h>

namespace poisson {

namespace {

phase_times run_fork_join(const chain& of, int n_threads) {
    // One counter per step, so that none is ever reset while a thread may look.
    std::vector<std::atomic<int>> drawn(static_cast<std::size_t>(of.n_steps));
    miniapp::work_times bands(n_threads);
    phase_times times;
    const double begin = miniapp::seconds();
#pragma omp parallel num_threads(n_threads)
    for (int step = 0; step < of.n_steps; ++step) {
        const int thread = omp_get_thread_num();
        if (thread == 0) times.post += miniapp::seconds_of([&] { of.by.start(step); });
        bands.add(thread, [&] {
            // relaxed: the counter only shares out; the barrier orders the data.
            while (true) {
                const int band = drawn[step].fetch_add(1, std::memory_order_relaxed);
                if (band >= of.on.n_bands()) break;
                of.on.compute_band(step, band);
            }
        });
        if (thread == 0) {
            times.wait += miniapp::seconds_of([&] { of.by.wait(step); });
            do_ring(of, step);
        }
#pragma omp barrier
    }
    times.total = miniapp::seconds() - begin;
    times.internal = bands.sum() / n_threads;
    return times;
}

} // namespace

phase_times run_baseline(const chain& of) { return run_fork_join(of, of.n_cores); }

phase_times run_offload(const chain& of) { return run_fork_join(of, of.compute_threads()); }

phase_times run_thread(const chain& of) {
    const int n_threads = of.compute_threads();
    miniapp::work_times bands(n_threads);
    phase_times times;
    omp_set_max_active_levels(2);
    const double begin = miniapp::seconds();
#pragma omp parallel num_threads(2)
    for (int step = 0; step < of.n_steps; ++step) {
        if (omp_get_thread_num() == 0) {
            of.by.start(step);
            of.by.wait(step);
            do_ring(of, step);
        }
        // A team of one, where threads are limited, does both.
        if (omp_get_thread_num() == 1 || omp_get_num_threads() == 1) {
#pragma omp parallel for schedule(dynamic) num_threads(n_threads)
            for (int band = 0; band < of.on.n_bands(); ++band) {
                bands.add(omp_get_thread_num(), [&] { of.on.compute_band(step, band); });
            }
        }
#pragma omp barrier
    }
    times.total = miniapp::seconds() - begin;
    return with_work(times, bands, 0, n_threads);
}

std::span<const mode> modes() {
    static constexpr std::array table{
        mode{"baseline", MPI_THREAD_FUNNELED, false, run_baseline},
        mode{"thread", MPI_THREAD_FUNNELED, false, run_thread},
        mode{"offload", MPI_THREAD_SERIALIZED, true, run_offload},
        mode{"omp", MPI_THREAD_SERIALIZED, true, run_omp},
#if POISSON_HAS_TBB
        mode{"tbb", MPI_THREAD_SERIALIZED, true, run_tbb},
#endif
    };
    return table;
}

} // namespace poisson
