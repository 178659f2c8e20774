// SPDX-License-Identifier: Apache-2.0
// What every miniapp's report has: verdicts, and who the MPI is. A run whose check fails says so and exits non-zero.
// The JSON side is in report_json.hpp, so that kernels and tests need not compile that library.
#pragma once

#include "common/phases.hpp"

#include <cstdint>
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
check time_passed(std::span<const timing> runs, double speed);

/// One line per check and one for all, to standard output.
void print_checks(const std::vector<check>& checks);

/// Collective.
double largest_of(double mine, MPI_Comm comm);
std::uint64_t sum_of(std::uint64_t mine, MPI_Comm comm);

/// What a value at its place in the whole adds to a fingerprint. A sum does not depend on how the whole is cut.
std::uint64_t print_of(double value, std::uint64_t place);
/// 16 hexadecimal digits.
std::string fingerprint_text(std::uint64_t value);

/// First line of what the MPI says of itself.
std::string mpi_library();

} // namespace miniapp
