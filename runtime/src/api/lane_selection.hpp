// SPDX-License-Identifier: Apache-2.0
//
// The inputs of commtask_lanes_choose: the tables in force, and the limits on which all ranks
// agreed. They are fixed when the runtime starts, since both ends of a message must choose the same
// lane.
#pragma once

#include "core/lane_policy.hpp"

namespace commtask::detail {

struct lane_selection {
    /// Empty until the settings are read; then of default_table(), or the program's.
    lane_tables tables;
    bool is_measured = false;     ///< The tables are the user's, measured with the user's MPI.
    bool are_independent = false; ///< True on every rank; false also if not known.
    /// The minimum over all ranks; also 1 if no worker has a core.
    unsigned n_lanes_with_cores = 1;
};

} // namespace commtask::detail
