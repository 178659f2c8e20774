// SPDX-License-Identifier: Apache-2.0
// Mode tbb: a step is a group of oneTBB tasks. The one that does the ring waits for the halos with commtask::tbb::wait_all: it is
// suspended, its thread computes bands, and some thread goes on with it when they have come. The price is a wait for the
// whole group at the end of each step; mode omp shows the graph without.
#include "schedule.hpp"

#include <commtask/tbb.hpp>

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_group.h>

namespace poisson {

namespace {

void wait_suspended(halo& by) {
    std::vector<commtask::task> halos;
    for (const commtask_t each : by.under_way()) halos.push_back(commtask::task::adopt(each));
    by.under_way().clear();
    if (commtask::tbb::wait_all(halos) != commtask::ending::completed) throw std::runtime_error("a halo failed");
}

} // namespace

phase_times run_tbb(const chain& of) {
    commtask::tbb::arena arena{of.compute_threads()};
    miniapp::work_times bands(of.compute_threads());
    phase_times times;
    double ring_seconds = 0;
    const double begin = miniapp::seconds();
    arena.execute([&] {
        ::tbb::task_group ring;
        for (int step = 0; step < of.n_steps; ++step) {
            times.post += miniapp::seconds_of([&] { of.by.start(step); });
            ring.run([&, step] {
                wait_suspended(of.by);
                ring_seconds += miniapp::seconds_of([&] { do_ring(of, step); });
            });
            ::tbb::parallel_for(0, of.on.n_bands(), [&](int band) {
                bands.add(::tbb::this_task_arena::current_thread_index(), [&] { of.on.compute_band(step, band); });
            });
            ring.wait();
        }
    });
    times.total = miniapp::seconds() - begin;
    times.post /= of.compute_threads();
    return with_work(times, bands, ring_seconds, of.compute_threads());
}

} // namespace poisson
