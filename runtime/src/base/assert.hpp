// SPDX-License-Identifier: Apache-2.0
//
// What cannot happen. An assertion states an invariant that no caller can break; callers' mistakes are codes. It is
// compiled in where COMMTASK_ASSERTIONS is set (dev and sanitizer presets) and costs nothing elsewhere.
#pragma once

// In every build, so that a file which leans on one of them by mistake compiles in all presets or in none.
#include "base/speech.hpp"

#include <cstdlib>

#if defined(COMMTASK_ASSERTIONS) && COMMTASK_ASSERTIONS
#define COMMTASK_ASSERT(condition)                                                                                     \
    ((condition)                                                                                                       \
         ? static_cast<void>(0)                                                                                        \
         : (::commtask::detail::say("broken invariant: %s (%s:%d)", #condition, __FILE__, __LINE__), std::abort()))
#else
#define COMMTASK_ASSERT(condition) static_cast<void>(sizeof(!(condition)))
#endif
