// SPDX-License-Identifier: Apache-2.0
// The one clock of the miniapps. Not MPI_Wtime: in some modes only the communication worker may call MPI.
// Monotonic, in seconds, so differences are safe where the system time is set.
#pragma once

#include <chrono>

namespace miniapp {

inline double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace miniapp
