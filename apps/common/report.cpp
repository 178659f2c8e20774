// SPDX-License-Identifier: Apache-2.0
// Verdicts in words and as JSON, from the same list.
// The words are what scripts and tests look for; change them in one place only, which is here.
#include "common/report_json.hpp"

#include "common/whole_file.hpp"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace miniapp {

bool all_passed(const std::vector<check>& checks) {
    return std::ranges::all_of(checks, [](const check& c) { return c.passed(); });
}

check time_passed(std::span<const double> run_seconds, double speed) {
    const auto is_good = [](double value) { return value > 0 && std::isfinite(value); };
    const bool passed = !run_seconds.empty() && std::ranges::all_of(run_seconds, is_good) && is_good(speed);
    return {"timing: every run took time", passed ? 0.0 : 1.0, 0};
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

std::string write_report(nlohmann::json all, const std::vector<check>& checks, const std::string& file) {
    for (const check& c : checks) {
        all["checks"].push_back(
            {{"name", c.name}, {"error", c.error}, {"tolerance", c.tolerance}, {"passed", c.passed()}});
    }
    all["passed"] = all_passed(checks);
    return write_whole(file, all.dump(2) + "\n");
}

} // namespace miniapp
