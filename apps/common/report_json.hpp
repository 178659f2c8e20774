// SPDX-License-Identifier: Apache-2.0
// The JSON document of a miniapp's run: its own fields, and the checks in the form that all miniapps share.
// Programs that read it (scripts/demo, bench) find verdicts and timings under the same names everywhere.
#pragma once

#include "common/phases.hpp"
#include "common/report.hpp"

#include <nlohmann/json.hpp>

namespace miniapp {

/// The times of one run under the names that all miniapps share.
nlohmann::json to_json(const timing& of, double message_seconds);

/// Adds `checks` and `passed` to `all` and writes it to `file`; why it could not be written, empty when it was.
std::string write_report(nlohmann::json all, const std::vector<check>& checks, const std::string& file);

} // namespace miniapp
