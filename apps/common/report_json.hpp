// SPDX-License-Identifier: Apache-2.0
// The JSON document of a miniapp's run: its own fields, and the checks in the form that all miniapps share.
// Programs that read it (scripts/demo, bench) find verdicts and timings under the same names everywhere.
#pragma once

#include "common/phases.hpp"
#include "common/report.hpp"

#include <nlohmann/json.hpp>

#include <functional>

namespace miniapp {

/// What a miniapp tells of each run beside its times, such as a speed; numbers.
using told_of_run = std::function<nlohmann::ordered_json(const timing&)>;

/// Prints what is told so far, a line each, and the table of the median of `runs`, the fastest first; adds `mpi_library`, `mode`
/// and, all of them, `repeats`. No overlap is printed where `message_seconds` is 0.
void tell_times(nlohmann::ordered_json& told, const char* mode, std::span<const timing> runs, double message_seconds,
                const phase_names& names, const told_of_run& also = {});

/// Adds `checks` and `passed` to `all` and writes it to `file`; why it could not be written, empty when it was.
std::string write_report(nlohmann::ordered_json all, const std::vector<check>& checks, const std::string& file);

} // namespace miniapp
