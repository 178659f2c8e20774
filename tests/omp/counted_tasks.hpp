// SPDX-License-Identifier: Apache-2.0
//
// How many tasks libomp was asked for, by the program or by a library: what a communication task costs, whatever else the machine
// does meanwhile.
#pragma once

#include <cstddef>

namespace omp_test {

/// By the calling thread.
std::size_t tasks_made_here();

} // namespace omp_test
