// SPDX-License-Identifier: Apache-2.0
#include "api/entry.hpp"

int commtask_init(const commtask_config* given) noexcept { return commtask_runtime_init(given); }
int commtask_finalize(void) noexcept { return commtask_runtime_finalize(); }
