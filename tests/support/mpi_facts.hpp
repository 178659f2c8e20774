// SPDX-License-Identifier: Apache-2.0
//
// What an MPI does not do although the standard says so, for tests that must not ask for it. The answer is about the
// MPI that the tests are compiled for, not asked at run time: to ask would do the damage.
#pragma once

#include <mpi.h>

namespace commtask::test {

/// Whether a message to oneself that is too long is reported. Open MPI 4.1 does not look: a short one is cut without a
/// word, a long one runs over the buffer.
[[nodiscard]] inline bool sees_truncation([[maybe_unused]] int n_ranks) {
#ifdef OPEN_MPI
    return n_ranks > 1;
#else
    return true;
#endif
}

/// Whether a call of the program returns its code after a handler that is a function. MPICH from 4.3 on returns success.
[[nodiscard]] inline bool returns_codes_after_functions() {
#if defined(MPICH_NUMVERSION) && !defined(I_MPI_VERSION)
    return MPICH_NUMVERSION < 40300000;
#else
    return true;
#endif
}

/// Whether a nonblocking read of a file that ends before it completes. In Open MPI 4.1 MPI_Test never finds it complete.
[[nodiscard]] inline bool completes_short_reads() {
#ifdef OPEN_MPI
    return false;
#else
    return true;
#endif
}

/// Whether sends to the rank itself take the same memory every time, however fast they are received.
[[nodiscard]] inline bool keeps_own_sends_apart() {
#ifdef I_MPI_VERSION
    return false;
#else
    return true;
#endif
}

} // namespace commtask::test
