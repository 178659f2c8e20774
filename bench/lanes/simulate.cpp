// SPDX-License-Identifier: Apache-2.0
//
// bench lanes --simulate: saturation curves of three networks, and the policy against the best choice on each of them. The curves
// have some numbers of lanes, the comparison has every one.
#include "lanes/questions.h"

#include "harness/report.h"
#include "lanes/network.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>

namespace commtask::bench {
namespace {

using json = nlohmann::ordered_json;

constexpr std::array curve_lanes{1U, 2U, 4U, 8U, 16U, 24U};
constexpr std::size_t long_burst = 1024;

/// Millions of messages a second in a long burst.
[[nodiscard]] double rate(const network& over, std::size_t size_bytes, unsigned n_lanes) {
    return static_cast<double>(long_burst) * 1e3 /
           burst_ns(over, {size_bytes, long_burst}, {n_lanes, n_lanes == 1 ? 1U : 4U});
}

[[nodiscard]] json curves(const network& over) {
    json all = json::array();
    std::printf("\n%s: millions of messages a second, bursts of %zu\n%10s", over.name.c_str(), long_burst, "bytes");
    for (const unsigned n_lanes : curve_lanes) std::printf("%9u", n_lanes);
    std::printf("  lanes\n");
    for (std::size_t size = 8; size <= 65536; size *= 2) {
        std::printf("%10zu", size);
        for (const unsigned n_lanes : curve_lanes) {
            const double found = rate(over, size, n_lanes);
            std::printf("%9.3f", found);
            all.push_back({{"size_bytes", size}, {"n_lanes", n_lanes}, {"rate_m_per_s", found}});
        }
        std::printf("\n");
    }
    return all;
}

/// How the policy does over all sizes, bursts and limits of one network.
struct verdict {
    double worst_over_best = 1;
    double worst_over_one_lane = 0;
    double mean_over_best = 0;
    double mean_over_one_lane = 0;
    std::size_t n_cases = 0;

    [[nodiscard]] bool is_met() const { return worst_over_best <= 1.1 && worst_over_one_lane <= 1; }
};

[[nodiscard]] verdict judge(const network& over) {
    const detail::saturation_table table = calibrated(over, most_simulated_lanes);
    verdict all;
    for (const std::size_t size : simulated_sizes()) {
        for (const std::size_t burst : simulated_bursts()) {
            for (const comparison& found : compare(over, table, {size, burst}, most_simulated_lanes)) {
                const double over_best = found.policy_ns / found.best_ns;
                const double over_one = found.policy_ns / found.one_lane_ns;
                all.worst_over_best = std::max(all.worst_over_best, over_best);
                all.worst_over_one_lane = std::max(all.worst_over_one_lane, over_one);
                all.mean_over_best += over_best;
                all.mean_over_one_lane += over_one;
                ++all.n_cases;
            }
        }
    }
    all.mean_over_best /= static_cast<double>(all.n_cases);
    all.mean_over_one_lane /= static_cast<double>(all.n_cases);
    return all;
}

} // namespace

bool simulate(const options& given) {
    json networks = json::array();
    bool are_met = true;
    for (const network& over : three_networks()) {
        json found{{"name", over.name}, {"saturation", curves(over)}};
        const verdict policy = judge(over);
        are_met = are_met && policy.is_met();
        std::printf("the policy: %.3f of the best time at worst (goal 1.1), %.3f on average; %.3f of one lane's at "
                    "worst (goal 1), "
                    "%.3f on average; %zu cases: %s\n",
                    policy.worst_over_best, policy.mean_over_best, policy.worst_over_one_lane,
                    policy.mean_over_one_lane, policy.n_cases, policy.is_met() ? "met" : "NOT MET");
        found["policy"] = {{"worst_over_best", policy.worst_over_best},
                           {"mean_over_best", policy.mean_over_best},
                           {"worst_over_one_lane", policy.worst_over_one_lane},
                           {"mean_over_one_lane", policy.mean_over_one_lane},
                           {"cases", policy.n_cases},
                           {"met", policy.is_met()}};
        networks.push_back(std::move(found));
    }
    if (given.json_file.empty()) return are_met;
    const json document{{"benchmark", "lanes"}, {"setting", "simulated"}, {"networks", std::move(networks)}};
    if (const std::string why = write_document(document, given.json_file); !why.empty()) throw std::runtime_error(why);
    return are_met;
}

} // namespace commtask::bench
