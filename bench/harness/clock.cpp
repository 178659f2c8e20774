// SPDX-License-Identifier: Apache-2.0
//
// Calibration of the clock. The counter is trusted only if /proc/cpuinfo calls it constant and nonstop: a benchmark
// on a machine where it is not stops with a sentence rather than print figures in a unit that changes.
#include "harness/clock.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>

namespace commtask::bench {
namespace {

double raw_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (static_cast<double>(now.tv_sec) * 1e9) + static_cast<double>(now.tv_nsec);
}

#if defined(__x86_64__)
bool counter_is_steady() {
    std::ifstream cpuinfo("/proc/cpuinfo");
    for (std::string line; std::getline(cpuinfo, line);) {
        if (line.starts_with("flags")) {
            return line.find("constant_tsc") != std::string::npos && line.find("nonstop_tsc") != std::string::npos;
        }
    }
    return false;
}
#endif

double calibrate() {
#if defined(__x86_64__)
    if (!counter_is_steady()) {
        throw std::runtime_error("the time stamp counter of this processor is not constant and nonstop");
    }
    constexpr double span_ns = 50e6;
    const double start_ns = raw_ns();
    const std::uint64_t start = ticks();
    double end_ns = start_ns;
    while (end_ns - start_ns < span_ns) {
        end_ns = raw_ns();
    }
    return (end_ns - start_ns) / static_cast<double>(ticks() - start);
#else
    return 1.0;
#endif
}

} // namespace

double ns_per_tick() {
    static const double value = calibrate();
    return value;
}

double clock_cost_ns() {
    double least = std::numeric_limits<double>::max();
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t before = ticks();
        least = std::min(least, ns_between(before, ticks()));
    }
    return least;
}

} // namespace commtask::bench
