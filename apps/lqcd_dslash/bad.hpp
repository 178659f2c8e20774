// SPDX-License-Identifier: Apache-2.0
// Mistakes that programs make, on purpose: runs with a known fault, to try on them whether a trace shows it and whether
// commtask-report names it. The results stay right, and the checks must pass; only the time is lost.
#pragma once

#include <string>
#include <vector>

namespace dslash {

enum class bad_habit {
    none,
    late_pack,                ///< The interior is computed before the faces are packed and sent.
    late_receive,             ///< Receives are posted when the interior is done.
    worker_on_computing_core, ///< The rank gets as many cores as it has compute threads.
};

inline const std::vector<std::string> bad_names{"none", "late-pack", "late-receive", "worker-on-computing-core"};

/// Leaves this process `n_compute` of its CPUs, others for other ranks, as a launcher does that binds too tightly. To be
/// called before the runtime looks for a core.
void bind_too_tightly(int n_compute, int rank);

} // namespace dslash
