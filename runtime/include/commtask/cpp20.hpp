// SPDX-License-Identifier: Apache-2.0
//
// The one sentence for a compiler that was not asked for C++20, in place of hundreds about what it does not know. The
// headers below the C++ face include this one first; commtask.hpp and tbb.hpp then leave out everything else.
#pragma once

#if __cplusplus < 202002L
#error "commtask's C++ headers need C++20: compile with -std=c++20 (the C headers take any standard)"
#endif
