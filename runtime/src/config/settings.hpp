// SPDX-License-Identifier: Apache-2.0
//
// The settings of one commtask_init: the program's struct, then the environment, through the one parser that there is. Apart
// from the start itself, since the interposer checks the settings of a program whose runtime it has started before.
#pragma once

#include "config/config.hpp"

#include <commtask/types.h>

namespace commtask::detail {

/// @param given  may be null
/// @param warns  of unknown names in the environment, on stderr, if the settings let it
/// @return COMMTASK_OK, or COMMTASK_ERR_CONFIG with a sentence
/// @throws std::bad_alloc
[[nodiscard]] int collect_settings(config& settings, const commtask_config* given, bool warns);

} // namespace commtask::detail
