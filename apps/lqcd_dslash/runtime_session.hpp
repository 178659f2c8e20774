// SPDX-License-Identifier: Apache-2.0
// Which modes need the communication runtime; the session itself is the miniapps' common one.
// Without it the worker's core would be taken from modes that have no use for it.
#pragma once

#include "common/runtime_session.hpp"
#include "exchange.hpp"

namespace dslash {

using miniapp::lane_comms;
using miniapp::require;

class runtime_session : public miniapp::runtime_session {
public:
    runtime_session(mode which, int n_lanes) : miniapp::runtime_session(has_worker(which), n_lanes) {}
};

/// A barrier of all ranks, by the worker.
void worker_barrier(MPI_Comm comm);

} // namespace dslash
