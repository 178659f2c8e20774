// SPDX-License-Identifier: Apache-2.0
//
// A buffer that is filled part by part and leaves in messages of a size, as what commtask_op_psend sends does: into how many messages
// should it be cut? tuning.hpp has the size.
#pragma once

#include "harness/alternate.h"
#include "harness/report.h"
#include "patterns/exchange.h"

#include <cstddef>

namespace commtask::bench {

/// Adds a row for each size of messages, and one for a psend, beside the buffer as one.
void ask_parts(report& out, place here, int whole_bytes, std::size_t n_rounds);

[[nodiscard]] std::string bytes_text(int bytes);

} // namespace commtask::bench
