// SPDX-License-Identifier: Apache-2.0
//
// bench_lanes --simulate: bursts of three networks in virtual time, for saturation curves and for the policy against the best
// choice on each. The curves have some numbers of lanes, the comparison has every one. bench/lanes.py sums up and judges.
#include "lanes/questions.h"

#include "harness/report.h"
#include "lanes/network.h"

#include <array>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace commtask::bench {
namespace {

using json = nlohmann::ordered_json;

constexpr std::array curve_lanes{1U, 2U, 4U, 8U, 16U, 24U};
constexpr std::size_t long_burst = 1024;

[[nodiscard]] json long_bursts(const network& over) {
    json all = json::array();
    for (std::size_t size = 8; size <= 65536; size *= 2) {
        for (const unsigned n_lanes : curve_lanes) {
            const double took_ns = burst_ns(over, {size, long_burst}, {n_lanes, n_lanes == 1 ? 1U : 4U});
            all.push_back({{"size_bytes", size}, {"n_lanes", n_lanes}, {"messages", long_burst}, {"ns", took_ns}});
        }
    }
    return all;
}

/// Size, burst and limit of each case, and what one lane, the best choice and the policy's take.
[[nodiscard]] json cases(const network& over) {
    const detail::saturation_table table = calibrated(over, most_simulated_lanes);
    json all = json::array();
    for (const std::size_t size : simulated_sizes()) {
        for (const std::size_t burst : simulated_bursts()) {
            unsigned limit = 0;
            for (const comparison& found : compare(over, table, {size, burst}, most_simulated_lanes)) {
                all.push_back({size, burst, ++limit, found.one_lane_ns, found.best_ns, found.policy_ns});
            }
        }
    }
    return all;
}

} // namespace

void simulate(const options& given) {
    json networks = json::array();
    for (const network& over : three_networks()) {
        networks.push_back({{"name", over.name}, {"long_bursts", long_bursts(over)}, {"cases", cases(over)}});
    }
    const json document{{"benchmark", "lanes"}, {"setting", "simulated"}, {"networks", std::move(networks)}};
    if (given.json_file.empty()) {
        std::puts(document.dump().c_str());
    } else if (const std::string why = write_document(document, given.json_file); !why.empty()) {
        throw std::runtime_error("cannot write " + given.json_file + ": " + why);
    }
}

} // namespace commtask::bench
