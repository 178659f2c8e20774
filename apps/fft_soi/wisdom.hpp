// SPDX-License-Identifier: Apache-2.0
// What planning found out, kept from run to run: FFTW's wisdom, one file for each precision, FILE and FILE.single. The name
// comes from a user, who may mistype: only a regular file that is wisdom, or none yet, is ever read or replaced.
#pragma once

#include <string>

namespace soi {

/// Why these files cannot be kept, in a sentence; empty when they can, or when `file` is. For one rank.
std::string refuse_wisdom(const std::string& file);

/// Takes what is there; false when that is nothing which this FFTW can use.
bool load_wisdom(const std::string& file);

/// Why it could not be saved, in words; empty when it is.
std::string save_wisdom(const std::string& file);

} // namespace soi
