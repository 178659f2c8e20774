// SPDX-License-Identifier: Apache-2.0
//
// The start and the end of the runtime. libcommtask has commtask_init and commtask_finalize for them (entry.cpp); the interposer, which
// starts the runtime itself, has its own (sharing.cpp).
#pragma once

#include <commtask/commtask.h>

int commtask_runtime_init(const commtask_config* given) noexcept;
int commtask_runtime_finalize() noexcept;
