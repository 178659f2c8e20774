// SPDX-License-Identifier: Apache-2.0
// The one clock of the miniapps. Not MPI_Wtime: in some modes only the communication worker may call MPI.
// Monotonic, in seconds, so differences are safe where the system time is set.
#pragma once

#include <chrono>

namespace miniapp {

inline double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds that the call takes.
template <class Call>
double seconds_of(Call&& call) {
    const double begin = seconds();
    call();
    return seconds() - begin;
}

} // namespace miniapp
