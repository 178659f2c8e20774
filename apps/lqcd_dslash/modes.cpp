// SPDX-License-Identifier: Apache-2.0
// The table of modes: the one place that knows them all.
// A new mode is one line here and one exchange file; nothing else asks for a mode by name.
#include "exchange.hpp"

#include <algorithm>
#include <stdexcept>

namespace dslash {

const std::vector<mode_description>& modes() {
    static const std::vector<mode_description> table{
        {{"plain", MPI_THREAD_FUNNELED, false}, mode::plain, make_plain_exchange},
        {{"baseline", MPI_THREAD_FUNNELED, false}, mode::baseline, make_baseline_exchange},
        {{"iprobe", MPI_THREAD_FUNNELED, false}, mode::iprobe, make_iprobe_exchange},
        {{"commself", MPI_THREAD_MULTIPLE, false}, mode::commself, make_commself_exchange},
        {{"offload", MPI_THREAD_SERIALIZED, true}, mode::offload, make_offload_exchange},
        {{"omp", MPI_THREAD_SERIALIZED, true}, mode::omp, make_omp_exchange},
#if DSLASH_HAS_TBB
        {{"tbb", MPI_THREAD_SERIALIZED, true}, mode::tbb, make_tbb_exchange},
#endif
    };
    return table;
}

std::unique_ptr<exchange> make_exchange(mode which, stencil& on, const exchange_options& options) {
    const auto found = std::ranges::find(modes(), which, &mode_description::which);
    if (found == modes().end()) throw std::logic_error("this build does not have that mode");
    return found->make(on, options);
}

} // namespace dslash
