// SPDX-License-Identifier: Apache-2.0
// Mode omp: all steps as one graph of OpenMP tasks, in which the halos are tasks too, whatever they travel by: a notification
// that is awaited, or a get of what a neighbour has announced, releases the ring as a message does. Tokens stand for what a
// step reads and writes, two of each kind, taken in turns. No barrier; bands run while halos are on their way.
#include "common/runtime_session.hpp"
#include "schedule.hpp"

#include <commtask/omp.h>

#include <stdexcept>
#include <string>

namespace poisson {

namespace {

/// How many steps may be created before the oldest of them has its halos.
constexpr int steps_ahead = 8;
enum : int { band_priority = 0, ring_priority = 2, halo_priority = 3 };

class task_graph {
public:
    explicit task_graph(const chain& of) : of_(of), bands_(of.compute_threads()) {
        for (auto& one : band_) one.resize(static_cast<std::size_t>(std::max(1, of.on.n_bands())));
    }

    void create_halos(int step) {
        for (const halo_task& each : of_.by.tasks(step)) {
            const std::vector<const void*> in = tokens(leaves_[step & 1], each.reads);
            const std::vector<const void*> out = tokens(comes_[step & 1], each.writes);
            commtask_omp_options options = COMMTASK_OMP_OPTIONS_INIT;
            options.priority = halo_priority;
            // What COMM_TASK(operation(...), in(...), out(...)) calls; a refusal is counted among the errors.
            static_cast<void>(commtask_omp_spawn(&each.operation, &options, in.size(), in.data(), out.size(),
                                                 out.data(), 0, nullptr));
        }
    }

    void create_ring(int step) {
        const int now = step & 1;
        const char* const comes = comes_[now].data();
        const char* const leaves = leaves_[1 - now].data();
        const char* const bands = band_[now].data();
        const auto n_bands = static_cast<int>(band_[now].size());
        const char* const before = &ring_[now];
        const char* const after = &ring_[1 - now];
#pragma omp task firstprivate(step) priority(ring_priority) depend(iterator(i = 0 : n_sides), in : *(comes + i))       \
    depend(iterator(i = 0 : n_bands), in : *(bands + i)) depend(in : *before)                                          \
    depend(iterator(i = 0 : n_sides), out : *(leaves + i)) depend(out : *after)
        {
            ring_seconds_ += miniapp::seconds_of([&] { do_ring(of_, step); });
            commtask_omp_progress();
        }
    }

    void create_bands(int step) {
        const int now = step & 1;
        const char* const ring = &ring_[now];
        for (int band = 0; band < of_.on.n_bands(); ++band) {
            const char* const above = &band_[now][std::max(0, band - 1)];
            const char* const same = &band_[now][band];
            const char* const below = &band_[now][std::min(of_.on.n_bands() - 1, band + 1)];
            const char* const after = &band_[1 - now][band];
#pragma omp task firstprivate(step, band) priority(band_priority) depend(in : *above, *same, *below, *ring)            \
    depend(out : *after)
            {
                bands_.add(omp_get_thread_num(), [&] { of_.on.compute_band(step, band); });
                // On a core that the worker shares: halos move, and the ring that they release comes before more bands.
                commtask_omp_progress();
            }
        }
    }

    [[nodiscard]] phase_times times(phase_times of_creator) const {
        return with_work(of_creator, bands_, ring_seconds_, of_.compute_threads());
    }

private:
    using sides = std::array<char, n_sides>;

    static std::vector<const void*> tokens(const sides& all, unsigned which) {
        std::vector<const void*> addresses;
        for (int side = 0; side < n_sides; ++side) {
            if ((which >> side & 1U) != 0) addresses.push_back(&all[side]);
        }
        return addresses;
    }

    const chain& of_;
    miniapp::work_times bands_;
    double ring_seconds_ = 0; ///< Rings come one after the other.
    std::array<std::vector<char>, 2> band_;
    std::array<char, 2> ring_{};
    std::array<sides, 2> leaves_{};
    std::array<sides, 2> comes_{};
};

} // namespace

phase_times run_omp(const chain& of) {
    miniapp::require(commtask_omp_check(), "commtask_omp_check");
    task_graph graph(of);
    phase_times times;
    int waited = COMMTASK_OK;
    const double begin = miniapp::seconds();
#pragma omp parallel num_threads(of.compute_threads())
#pragma omp single
#pragma omp taskgroup
    {
        for (int step = 0; step < of.n_steps && waited == COMMTASK_OK; ++step) {
            // libomp runs what a task releases at once in a team of one, the last created first: halos, which the neighbours wait
            // for, must not come after all bands that are ready.
            if (of.compute_threads() == 1) graph.create_bands(step);
            times.post += miniapp::seconds_of([&] { graph.create_halos(step); });
            graph.create_ring(step);
            if (of.compute_threads() != 1) graph.create_bands(step);
            waited = commtask_omp_wait_some(steps_ahead * of.by.tasks(step).size());
            // Without halos that says nothing: a rank alone must not have the tasks of all steps in memory.
            if (of.by.tasks(step).empty() && step % steps_ahead == 0) {
#pragma omp taskwait
            }
        }
        if (waited == COMMTASK_OK) waited = commtask_omp_wait_all();
    }
    times.total = miniapp::seconds() - begin;
    times.post /= of.compute_threads();
    miniapp::require(waited, "commtask_omp_wait_some or _all");
    if (commtask_omp_error_count() != 0) {
        char text[512];
        commtask_omp_first_error(text, sizeof text);
        throw std::runtime_error(std::string("a halo failed: ") + text);
    }
    return graph.times(times);
}

} // namespace poisson
