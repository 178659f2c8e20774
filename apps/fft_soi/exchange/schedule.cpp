// SPDX-License-Identifier: Apache-2.0
// The table of schedules, and the messages alone. A new schedule is a file schedule_x.cpp, a line here and a line in
// schedule.hpp; nothing of the transforms changes.
#include "exchange/schedule.hpp"

#include "exchange/fork_join.hpp"
#include "exchange/recorder.hpp"

#include <stdexcept>

namespace tiled {

phase_times& phase_times::operator+=(const phase_times& other) {
    produce += other.produce;
    consume += other.consume;
    post += other.post;
    wait += other.wait;
    total += other.total;
    sent += other.sent;
    return *this;
}

const std::vector<mode_description>& modes() {
    static const std::vector<mode_description> table{
        {mode::serial, "serial", MPI_THREAD_FUNNELED, false,
         "one thread, block by block; what others are compared with"},
        {mode::baseline, "baseline", MPI_THREAD_FUNNELED, false, "one blocking all-to-all between the halves"},
        {mode::seg, "seg", MPI_THREAD_FUNNELED, false, "the published pipeline: a nonblocking all-to-all per segment"},
        {mode::p2p, "p2p", MPI_THREAD_FUNNELED, false, "messages per chunk and segment, by the master"},
        {mode::persistent, "persistent", MPI_THREAD_FUNNELED, false, "p2p's messages, set up once"},
#if MPI_VERSION >= 4
        {mode::partitioned, "partitioned", MPI_THREAD_FUNNELED, false, "a message per segment, filled chunk by chunk"},
#endif
        {mode::iprobe, "iprobe", MPI_THREAD_FUNNELED, false, "p2p, and the master probes between pieces"},
        {mode::commself, "commself", MPI_THREAD_MULTIPLE, false, "p2p, and a thread blocked in MPI makes progress"},
        {mode::offload, "offload", MPI_THREAD_SERIALIZED, true, "p2p's messages by the communication worker"},
        {mode::omp, "omp", MPI_THREAD_SERIALIZED, true, "OpenMP tasks, messages are tasks too, no barrier"},
#if TILED_HAS_TBB
        {mode::tbb, "tbb", MPI_THREAD_SERIALIZED, true, "omp's pieces and messages as a oneTBB flow graph"},
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

int compute_threads_of(mode which, int n_cores) {
    switch (which) {
    case mode::serial: return 1;
    case mode::commself:
    case mode::offload:
    case mode::omp:
    case mode::tbb: return std::max(1, n_cores - 1);
    case mode::baseline:
    case mode::seg:
    case mode::p2p:
    case mode::persistent:
    case mode::partitioned:
    case mode::iprobe: break;
    }
    return n_cores;
}

std::unique_ptr<schedule> make_schedule(mode which, const schedule_options& options) {
    if (options.comm == MPI_COMM_NULL) throw std::invalid_argument("the communicator of a schedule must not be null");
    switch (which) {
    case mode::serial: return make_serial_schedule(options);
    case mode::baseline: return make_baseline_schedule(options);
    case mode::seg: return make_seg_schedule(options);
    case mode::p2p: return make_p2p_schedule(options);
    case mode::persistent: return make_persistent_schedule(options);
    case mode::partitioned:
#if MPI_VERSION >= 4
        return make_partitioned_schedule(options);
#else
        break;
#endif
    case mode::iprobe: return make_iprobe_schedule(options);
    case mode::commself: return make_commself_schedule(options);
    case mode::offload: return make_offload_schedule(options);
    case mode::omp: return make_omp_schedule(options);
    case mode::tbb:
#if TILED_HAS_TBB
        return make_tbb_schedule(options);
#else
        break;
#endif
    }
    throw std::logic_error("unknown mode");
}

double measure_messages(work& of, MPI_Comm comm) {
    if (of.sizes().n_ranks == 1) return 0;
    constexpr int rounds = 5;
    message_transport by(comm);
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
