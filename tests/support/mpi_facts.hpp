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

} // namespace commtask::test
