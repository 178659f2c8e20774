// SPDX-License-Identifier: Apache-2.0
//
// The parts of the transform on one core, each against what the core can do at best: the convolution against
// multiply-adds, everything before the exchange against its two kernels, the demodulation against a copy of its memory
// traffic, and the time that the tables take.
#pragma once

#include "harness/report.h"

namespace commtask::bench {

/// Adds one row or more; an MPI of one rank is up.
void measure_kernel(const char* preset, int n_segments, report& out);
void measure_production(int n_segments, report& out);
void measure_demodulation(report& out);
void measure_planning(report& out);

} // namespace commtask::bench
