// SPDX-License-Identifier: Apache-2.0
//
// Generates the page of settings from the program's tables. Separate from the parser of settings,
// since the page also needs the columns of the reports.
#pragma once

#include <string>

namespace commtask::detail {

/// The text of docs/configuration.md.
[[nodiscard]] std::string config_markdown();

} // namespace commtask::detail
