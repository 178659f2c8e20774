// SPDX-License-Identifier: Apache-2.0
//
// Gives one clear error if the compiler is not set to C++20, instead of hundreds of errors. The
// headers of the C++ interface include this file first; commtask.hpp and tbb.hpp then leave out
// everything else.
#pragma once

#if __cplusplus < 202002L
#error "commtask's C++ headers need C++20: compile with -std=c++20 (the C headers take any standard)"
#endif
