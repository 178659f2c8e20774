// SPDX-License-Identifier: Apache-2.0
// One run from fields to verdict and report. The order matters: everything that uses MPI directly happens before the mode starts
// or after it has ended, so that a mode may own MPI while it lives.
#pragma once

#include "common/program.hpp"
#include "options.hpp"

namespace dslash {

/// Collective over `comm`; rank 0 prints.
miniapp::outcome run(const options& settings, MPI_Comm comm);

} // namespace dslash
