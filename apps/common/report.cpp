// SPDX-License-Identifier: Apache-2.0
// Verdicts in words and as JSON, from the same list.
// The words are what scripts and tests look for; change them in one place only, which is here.
#include "common/report_json.hpp"

#include "common/whole_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstdio>

namespace miniapp {

bool all_passed(const std::vector<check>& checks) {
    return std::ranges::all_of(checks, [](const check& c) { return c.passed(); });
}

check time_passed(std::span<const timing> runs, double speed) {
    const auto is_good = [](double value) { return value > 0 && std::isfinite(value); };
    const bool passed = !runs.empty() && std::ranges::all_of(runs, is_good, &timing::slowest_total) && is_good(speed);
    return {"timing: every run took time", passed ? 0.0 : 1.0, 0};
}

void run_prints::sum(MPI_Comm comm) {
    MPI_Allreduce(MPI_IN_PLACE, mine_.data(), static_cast<int>(mine_.size()), MPI_UINT64_T, MPI_SUM, comm);
}

check run_prints::compare(const char* subject, std::uint64_t expected, const std::string& what) const {
    std::string others;
    double n_others = 0;
    for (std::size_t k = 0; k < mine_.size(); ++k) {
        if (mine_[k] == expected) continue;
        others += (others.empty() ? " " : ", ") + std::to_string(k + 1);
        ++n_others;
    }
    const std::string rest = " of " + std::to_string(mine_.size()) + (others.empty() ? " as " : " not as ") + what;
    return {std::string{subject} + (others.empty() ? ": every timed run" : ": timed run" + others) + rest, n_others, 0};
}

check run_prints::compare(std::uint64_t expected, const std::string& what) const {
    return compare("bits", expected, what);
}

check run_prints::nothing_changed() const { return compare("messages", 0, "they were sent"); }

double largest_of(double mine, MPI_Comm comm) {
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, comm);
    return mine;
}

std::uint64_t sum_of(std::uint64_t mine, MPI_Comm comm) {
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_UINT64_T, MPI_SUM, comm);
    return mine;
}

std::uint64_t splitmix64(std::uint64_t n) {
    std::uint64_t z = n + 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

std::uint64_t print_of(double value, std::uint64_t place) {
    return splitmix64(std::bit_cast<std::uint64_t>(value) + place * 0x9e3779b97f4a7c15U);
}

std::string fingerprint_text(std::uint64_t value) {
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%016" PRIx64, value);
    return digits.data();
}

void print_checks(const std::vector<check>& checks) {
    for (const check& c : checks) {
        std::printf("check %-48s %s  (%.1e, allowed %.0e)\n", c.name.c_str(), c.passed() ? "ok" : "FAILED", c.error,
                    c.tolerance);
    }
    std::printf("%s\n", all_passed(checks) ? "all checks passed" : "CHECK FAILED");
}

std::string mpi_library() {
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(library, &length);
    std::string text(library, static_cast<std::size_t>(length));
    text.resize(std::min(text.size(), text.find('\n')));
    return text;
}

std::string write_report(nlohmann::ordered_json all, const std::vector<check>& checks, const std::string& file) {
    for (const check& c : checks) {
        all["checks"].push_back(
            {{"name", c.name}, {"error", c.error}, {"tolerance", c.tolerance}, {"passed", c.passed()}});
    }
    all["passed"] = all_passed(checks);
    return write_whole(file, all.dump(2) + "\n");
}

} // namespace miniapp
