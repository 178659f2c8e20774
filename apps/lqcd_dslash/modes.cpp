// SPDX-License-Identifier: Apache-2.0
// The table of modes: the one place that knows them all.
// A new mode is one line here and one exchange file; nothing else asks for a mode by name.
#include "exchange.hpp"
#include "runtime_session.hpp"

#include <commtask/commtask.h>

#include <stdexcept>

namespace dslash {

const std::vector<mode_description>& modes() {
    static const std::vector<mode_description> table{
        {mode::plain, "plain", MPI_THREAD_FUNNELED, "one thread, nothing overlapped; what the others are checked by"},
        {mode::baseline, "baseline", MPI_THREAD_FUNNELED, "master posts and waits, all cores compute"},
        {mode::iprobe, "iprobe", MPI_THREAD_FUNNELED, "baseline, and the master probes between tiles"},
        {mode::commself, "commself", MPI_THREAD_MULTIPLE, "a thread blocked in MPI makes progress"},
        {mode::offload, "offload", MPI_THREAD_SERIALIZED, "baseline's shape, MPI calls by the communication worker"},
        {mode::omp, "omp", MPI_THREAD_SERIALIZED, "OpenMP tasks, messages are tasks too, no barrier between hops"},
#if DSLASH_HAS_TBB
        {mode::tbb, "tbb", MPI_THREAD_SERIALIZED, "omp's tiles and messages as a oneTBB flow graph"},
#endif
    };
    return table;
}

std::unique_ptr<exchange> make_exchange(mode which, stencil& on, const exchange_options& options) {
    switch (which) {
    case mode::plain: return make_plain_exchange(on, options);
    case mode::baseline: return make_baseline_exchange(on, options);
    case mode::iprobe: return make_iprobe_exchange(on, options);
    case mode::commself: return make_commself_exchange(on, options);
    case mode::offload: return make_offload_exchange(on, options);
    case mode::omp: return make_omp_exchange(on, options);
    case mode::tbb:
#if DSLASH_HAS_TBB
        return make_tbb_exchange(on, options);
#else
        break;
#endif
    }
    throw std::logic_error("unknown mode");
}

void worker_barrier(MPI_Comm comm) {
    commtask_t task = COMMTASK_NULL;
    require(commtask_submit(commtask_op_barrier(comm), nullptr, &task), "commtask_post");
    require(commtask_wait(&task, nullptr), "commtask_wait");
}

} // namespace dslash
