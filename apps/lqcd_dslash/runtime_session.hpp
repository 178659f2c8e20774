// SPDX-License-Identifier: Apache-2.0
// Which modes need the communication runtime; the session itself is the miniapps' common one.
// Without it the worker's core would be taken from modes that have no use for it.
#pragma once

#include "common/runtime_session.hpp"
#include "exchange.hpp"

namespace dslash {

using miniapp::require;

class runtime_session : public miniapp::runtime_session {
public:
    explicit runtime_session(mode which)
        : miniapp::runtime_session(which == mode::offload || which == mode::omp || which == mode::tbb) {}
};

/// A barrier of all ranks, by the worker.
void worker_barrier(MPI_Comm comm);

} // namespace dslash
