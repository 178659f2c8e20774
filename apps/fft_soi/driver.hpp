// SPDX-License-Identifier: Apache-2.0
// One run from input to verdict and report. The order matters: everything that uses MPI directly happens before the schedule
// starts or after it has ended, so that a schedule may own MPI while it lives.
#pragma once

#include "common/program.hpp"
#include "options.hpp"

namespace soi {

/// Collective over `comm`; rank 0 prints, and writes the timeline and FFTW's plans where they were asked for.
miniapp::outcome run(const options& settings, MPI_Comm comm);

} // namespace soi
