// SPDX-License-Identifier: Apache-2.0
// The modes: those of all miniapps, and two that are this one's own, which suit steps of messages, a core and an edge. Mode
// thread is the shape of Intel's talks on multiple endpoints and one-sided halos: a thread does nothing but communicate, and the
// team nested beside it computes; FUNNELED is enough for it. In mode tbb a step is a group of oneTBB tasks. The one that does
// the ring waits for the halos with commtask::tbb::wait_all: it is suspended, its thread computes bands, and some thread goes on
// with it when they have come. The price is a wait for the whole group at the end of each step; mode omp shows the graph without.
#include "halo.hpp"

#if MINIAPP_HAS_TBB
#include <commtask/tbb.hpp>

#include <oneapi/tbb/parallel_for_each.h>
#include <oneapi/tbb/task_group.h>
#endif

#include <array>
#include <omp.h>
#include <stdexcept>

namespace poisson {

namespace {

using miniapp::item;
using miniapp::item_list;
using miniapp::part;

class thread_runner final : public miniapp::runner {
public:
    thread_runner(const item_list& on, int compute_threads) : runner(on, compute_threads, true) {
        omp_set_max_active_levels(2);
    }

private:
    void communicate(int stage) {
        for (const part when : {part::receive, part::send}) messages_.start(list().of(stage, when));
        messages_.wait();
        for (const item& each : list().of(stage, part::edge)) each.work(0);
    }

    void compute(int stage) {
        const item_list::group bands = list().of(stage, part::core);
#pragma omp parallel for schedule(dynamic) num_threads(compute_threads())
        for (const item& each : bands) work(each, omp_get_thread_num());
    }

    void carry_out(int n_stages, miniapp::phase_times& /*times*/) override {
#pragma omp parallel num_threads(2)
        for (int stage = 0; stage < n_stages; ++stage) {
            if (omp_get_thread_num() == 0) communicate(stage);
            if (omp_get_thread_num() == 1 || omp_get_num_threads() == 1) compute(stage);
#pragma omp barrier
        }
    }

    miniapp::mpi_messages messages_;
};

#if MINIAPP_HAS_TBB
class suspended_runner final : public miniapp::runner {
public:
    suspended_runner(const item_list& on, int compute_threads)
        : runner(on, compute_threads, true), arena_(compute_threads) {}

private:
    void on_this_thread(const item& each) { work(each, ::tbb::this_task_arena::current_thread_index()); }

    void wait_and_do_ring(int stage, std::span<const commtask_t> halos) {
        std::vector<commtask::task> all;
        for (const commtask_t each : halos) all.push_back(commtask::task::adopt(each));
        if (commtask::tbb::wait_all(all) != commtask::ending::completed) throw std::runtime_error("a halo failed");
        for (const item& each : list().of(stage, part::edge)) on_this_thread(each);
    }

    void carry_out(int n_stages, miniapp::phase_times& times) override {
        arena_.execute([&] {
            ::tbb::task_group ring;
            for (int stage = 0; stage < n_stages; ++stage) {
                std::vector<commtask_t> halos;
                times.post += miniapp::seconds_of([&] {
                    for (const part when : {part::receive, part::send}) miniapp::post(list().of(stage, when), halos);
                });
                ring.run([&, stage] { wait_and_do_ring(stage, halos); });
                ::tbb::parallel_for_each(list().of(stage, part::core),
                                         [this](const item& each) { on_this_thread(each); });
                ring.wait();
            }
        });
    }

    commtask::tbb::arena arena_;
};
#endif

template <class Runner>
std::unique_ptr<miniapp::runner> make(const item_list& on, int n_cores) {
    return std::make_unique<Runner>(on, miniapp::beside_one(n_cores));
}

} // namespace

std::span<const miniapp::mode> modes() {
    static constexpr std::array table{
        miniapp::mode{{"baseline", MPI_THREAD_FUNNELED, false}, miniapp::make_baseline},
        miniapp::mode{{"thread", MPI_THREAD_FUNNELED, false}, make<thread_runner>},
        miniapp::mode{{"offload", MPI_THREAD_SERIALIZED, true}, miniapp::make_offload},
        miniapp::mode{{"omp", MPI_THREAD_SERIALIZED, true}, miniapp::make_omp},
#if MINIAPP_HAS_TBB
        miniapp::mode{{"tbb", MPI_THREAD_SERIALIZED, true}, make<suspended_runner>},
#endif
    };
    return table;
}

} // namespace poisson
