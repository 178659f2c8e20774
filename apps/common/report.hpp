// SPDX-License-Identifier: Apache-2.0
// What every miniapp's report has: verdicts, and who the MPI is. A run whose check fails says so and exits non-zero.
// The JSON side is in report_json.hpp, so that kernels and tests need not compile that library.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace miniapp {

/// One verdict: error <= tolerance. A NaN does not pass.
struct check {
    std::string name;
    double error;
    double tolerance;
    bool passed() const { return error <= tolerance; }
};

bool all_passed(const std::vector<check>& checks);

/// That the runs took time: a run that computed nothing passes every other check. Not so when a time or the `speed` of
/// the runs is zero, negative or no number.
check time_passed(std::span<const double> run_seconds, double speed);

/// One line per check and one for all, to standard output.
void print_checks(const std::vector<check>& checks);

/// First line of what the MPI says of itself.
std::string mpi_library();

} // namespace miniapp
