// SPDX-License-Identifier: Apache-2.0
//
// Waiting on a thread of a team, for those parts of this library that cannot leave it to libomp: libomp's own waiting spins,
// and does not know that the thread could drive MPI meanwhile.
#pragma once

#include "held_task.hpp"

namespace commtask::omp {

/// Until the operations of a task have ended whose end cannot be put off; the thread drives the lane, and runs tasks.
void wait_in_place(const held_task& held) noexcept;

} // namespace commtask::omp
