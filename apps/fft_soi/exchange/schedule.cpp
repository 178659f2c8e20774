// SPDX-License-Identifier: Apache-2.0
// The table of schedules, and the messages alone. A new schedule is a transport or a file, a line here and a line in schedule.hpp; nothing
// of the transforms changes.
#include "exchange/schedule.hpp"

#include "exchange/fork_join.hpp"
#include "exchange/recorder.hpp"

#include <stdexcept>

namespace tiled {

const std::vector<mode_description>& modes() {
    static const std::vector<mode_description> table{
        {{"serial", MPI_THREAD_FUNNELED, false}, mode::serial, make_serial_schedule},
        {{"baseline", MPI_THREAD_FUNNELED, false}, mode::baseline, make_baseline_schedule},
        {{"seg", MPI_THREAD_FUNNELED, false}, mode::seg, make_seg_schedule},
        {{"p2p", MPI_THREAD_FUNNELED, false}, mode::p2p, make_p2p_schedule},
        {{"persistent", MPI_THREAD_FUNNELED, false}, mode::persistent, make_persistent_schedule},
#if MPI_VERSION >= 4
        {{"partitioned", MPI_THREAD_FUNNELED, false}, mode::partitioned, make_partitioned_schedule},
#endif
        {{"iprobe", MPI_THREAD_FUNNELED, false}, mode::iprobe, make_iprobe_schedule},
        {{"commself", MPI_THREAD_MULTIPLE, false}, mode::commself, make_commself_schedule},
        {{"offload", MPI_THREAD_SERIALIZED, true}, mode::offload, make_offload_schedule},
        {{"omp", MPI_THREAD_SERIALIZED, true}, mode::omp, make_omp_schedule},
#if MINIAPP_HAS_TBB
        {{"tbb", MPI_THREAD_SERIALIZED, true}, mode::tbb, make_tbb_schedule},
#endif
    };
    return table;
}

const mode_description& describe(mode which) {
    for (const mode_description& m : modes()) {
        if (m.which == which) return m;
    }
    throw std::logic_error("this build does not have that mode");
}

namespace {

/// Beside the compute threads.
bool has_thread(mode which) { return which == mode::commself || describe(which).has_worker; }

} // namespace

int compute_threads_of(mode which, int n_cores) {
    if (which == mode::serial) return 1;
    return has_thread(which) ? std::max(1, n_cores - 1) : n_cores;
}

int cores_of(mode which, int n_cores) { return has_thread(which) ? std::max(2, n_cores) : n_cores; }

std::unique_ptr<schedule> make_schedule(mode which, const schedule_options& options) {
    if (options.comm == MPI_COMM_NULL) throw std::invalid_argument("the communicator of a schedule must not be null");
    return describe(which).make(options);
}

double measure_messages(work& of, MPI_Comm comm) {
    if (of.sizes().n_ranks == 1) return 0;
    constexpr int rounds = 5;
    message_transport by({.comm = comm});
    double best = 0;
    for (int k = 0; k < rounds; ++k) {
        by.barrier();
        const double start = miniapp::seconds();
        by.begin(of);
        by.wait_halo();
        for (int chunk = 0; chunk < of.sizes().n_chunks(); ++chunk) by.send_chunk(chunk);
        for (int segment = 0; segment < of.sizes().n_segments; ++segment) by.wait_segment(segment);
        by.finish();
        const double took = miniapp::seconds() - start;
        if (k == 0 || took < best) best = took;
    }
    MPI_Allreduce(MPI_IN_PLACE, &best, 1, MPI_DOUBLE, MPI_MAX, comm);
    return best;
}

} // namespace tiled
