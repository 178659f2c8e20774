// SPDX-License-Identifier: Apache-2.0
//
// Start and end of the runtime. In libcommtask, commtask_init and commtask_finalize are these
// functions (entry.cpp). The interposer starts the runtime itself, and has its own functions
// (sharing.cpp).
#pragma once

#include <commtask/commtask.h>

int commtask_runtime_init(const commtask_config* given) noexcept;
int commtask_runtime_finalize() noexcept;
