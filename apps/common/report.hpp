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

/// Fingerprints of the timed runs, of their results or of their messages. A run writes over the result of the one before, so each is taken when its run has
/// ended and before the next begins, while no timer runs.
class run_prints {
public:
    /// This rank's part; MPI is left to the mode.
    void add(std::uint64_t mine) { mine_.push_back(mine); }
    /// Collective: the sums over the ranks, which the parts are from here on.
    void sum(MPI_Comm comm);
    /// After sum(): of the last run.
    [[nodiscard]] std::uint64_t last() const { return mine_.back(); }
    /// After sum(): that each run has the bits of `expected`, which is the result of `what`. The sentence names the runs that have others.
    [[nodiscard]] check compare(std::uint64_t expected, const std::string& what) const;
    /// After sum(): the same with the first run's, where nothing else is to be had.
    [[nodiscard]] check compare() const { return compare(mine_.front(), "the first"); }
    /// After sum() of what each run's message_sums came to: that no bit of a message was changed on its way.
    [[nodiscard]] check nothing_changed() const;

private:
    [[nodiscard]] check compare(const char* subject, std::uint64_t expected, const std::string& what) const;
    std::vector<std::uint64_t> mine_;
};

/// The bits of a channel's messages, added up where they are packed and taken off where they are unpacked: over all ranks nothing is left of
/// a run. For results that do not have every bit of every message, since a later step heals what was wrong, or reads half of a halo. It
/// costs an addition for each number that is copied anyway. Packing and unpacking may be at once, each by one thread.
struct message_sums {
    std::uint64_t packed = 0;
    std::uint64_t unpacked = 0;
    [[nodiscard]] std::uint64_t left() const { return packed - unpacked; }
};

/// One line per check and one for all, to standard output.
void print_checks(const std::vector<check>& checks);

/// Collective.
double largest_of(double mine, MPI_Comm comm);
std::uint64_t sum_of(std::uint64_t mine, MPI_Comm comm);

/// A number that depends on `n` alone, as good as random.
std::uint64_t splitmix64(std::uint64_t n);
/// What a value at its place in the whole adds to a fingerprint. A sum does not depend on how the whole is cut.
std::uint64_t print_of(double value, std::uint64_t place);
/// 16 hexadecimal digits.
std::string fingerprint_text(std::uint64_t value);

/// First line of what the MPI says of itself.
std::string mpi_library();

} // namespace miniapp
