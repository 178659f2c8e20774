// SPDX-License-Identifier: Apache-2.0
//
// The settings of one commtask_init: the program's struct, then the environment, through one
// parser. Separate from the start of the runtime: under commtask-run the runtime has started before
// commtask_init, and the interposer checks the program's settings then.
#pragma once

#include "config/config.hpp"

#include <commtask/types.h>

namespace commtask::detail {

/// @param given  may be null
/// @param warns  print warnings about unknown names in the environment, if the settings allow it
/// @return COMMTASK_OK, or COMMTASK_ERR_CONFIG with a message
/// @throws std::bad_alloc
[[nodiscard]] int collect_settings(config& settings, const commtask_config* given, bool warns);

} // namespace commtask::detail
