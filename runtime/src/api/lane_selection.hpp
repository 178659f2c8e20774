// SPDX-License-Identifier: Apache-2.0
//
// What commtask_lanes_choose goes by: the table in force, and what all ranks together allow. Fixed when the runtime
// starts, since both ends of a message ask for themselves and must get one answer.
#pragma once

#include "core/lane_policy.hpp"

namespace commtask::detail {

struct lane_selection {
    lane_tables tables;           ///< Empty until the settings are known: of default_table(), or the program's.
    bool is_measured = false;     ///< The tables are the user's, who has measured what its MPI makes of several lanes.
    bool are_independent = false; ///< On every rank; or nobody knows.
    unsigned n_lanes_with_cores = 1; ///< On every rank; 1 too if no worker has one.
};

} // namespace commtask::detail
