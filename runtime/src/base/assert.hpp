// SPDX-License-Identifier: Apache-2.0
//
// Assertions state invariants that no caller can break; errors of callers are returned as codes.
// Assertions are compiled in where COMMTASK_ASSERTIONS is set (dev and sanitizer presets), and cost
// nothing elsewhere.
#pragma once

// Included in every build, so that a missing include in another file shows in all presets.
#include "base/log.hpp"

#include <cstdlib>

#if defined(COMMTASK_ASSERTIONS) && COMMTASK_ASSERTIONS
#define COMMTASK_ASSERT(condition)                                                                                     \
    ((condition)                                                                                                       \
         ? static_cast<void>(0)                                                                                        \
         : (::commtask::detail::say("broken invariant: %s (%s:%d)", #condition, __FILE__, __LINE__), std::abort()))
#else
#define COMMTASK_ASSERT(condition) static_cast<void>(sizeof(!(condition)))
#endif
