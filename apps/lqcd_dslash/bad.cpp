// SPDX-License-Identifier: Apache-2.0
// The mistake that is made outside of the exchange: too few cores. What a launcher does from
// outside is done here by the process to itself, so that a run needs no particular launcher.
#include "bad.hpp"

#include <sched.h>

#include <stdexcept>
#include <vector>

namespace dslash {

void bind_too_tightly(int n_compute, int rank) {
    cpu_set_t given;
    if (::sched_getaffinity(0, sizeof given, &given) != 0) throw std::runtime_error("sched_getaffinity failed");
    std::vector<int> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &given)) cpus.push_back(cpu);
    }
    const auto n_cpus = static_cast<int>(cpus.size());
    cpu_set_t left;
    CPU_ZERO(&left);
    for (int k = 0; k < n_compute; ++k) CPU_SET(cpus[static_cast<std::size_t>((rank * n_compute + k) % n_cpus)], &left);
    if (::sched_setaffinity(0, sizeof left, &left) != 0) throw std::runtime_error("sched_setaffinity failed");
}

} // namespace dslash
