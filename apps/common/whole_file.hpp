// SPDX-License-Identifier: Apache-2.0
// Files that are there as a whole or not at all: written under another name in the same folder and then renamed, so that a
// run which ends early leaves the old file, or none. Devices and pipes, which cannot be renamed over, are written as they are.
#pragma once

#include <string>
#include <string_view>

namespace miniapp {

/// Why `file` cannot be written, in words; empty when it can. Changes nothing, so it can be asked hours before.
std::string why_not_writable(const std::string& file);

/// Why `text` could not be written, in words; empty when it is there. On failure the old file stays.
std::string write_whole(const std::string& file, std::string_view text);

} // namespace miniapp
