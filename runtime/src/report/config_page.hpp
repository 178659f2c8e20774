// SPDX-License-Identifier: Apache-2.0
//
// The page of settings, which the documentation has from the program: what the tables say is said once.
// Apart from the reader of settings, since it needs what the reports know.
#pragma once

#include <string>

namespace commtask::detail {

/// The text of docs/configuration.md.
[[nodiscard]] std::string config_markdown();

} // namespace commtask::detail
