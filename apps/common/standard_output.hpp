// SPDX-License-Identifier: Apache-2.0
// A result that nobody could read is no result: a program whose standard output is full or closed says so by its exit
// status. A closed descriptor is dangerous beside: the next file opened gets its number, and what is printed.
#pragma once

#include <string>

namespace miniapp {

/// At the begin of main(): takes the numbers 0, 1 and 2 where they are closed, so that writing to them fails.
void hold_standard_descriptors();

/// After the last output: why some of it was lost, in words; empty when all of it was taken.
std::string why_output_was_lost();

} // namespace miniapp
