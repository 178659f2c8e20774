// SPDX-License-Identifier: Apache-2.0
//
// The page of settings, which the program writes from its tables, so that nothing is stated twice.
// Separate from the reader of settings, since the page also needs the columns of the reports.
#pragma once

#include <string>

namespace commtask::detail {

/// The text of docs/configuration.md.
[[nodiscard]] std::string config_markdown();

} // namespace commtask::detail
