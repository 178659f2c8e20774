// SPDX-License-Identifier: Apache-2.0
//
// What one run of a plain MPI program found out, for benchmarks whose sides are whole runs: the program must run unchanged
// natively, under commtask-run and with progress threads. Python alternates the runs and sums up.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace commtask::bench {

/// For each name the samples, in their unit.
class answers {
public:
    void add(const std::string& name, const std::string& unit, const std::vector<double>& samples) {
        document_.push_back({{"name", name}, {"unit", unit}, {"samples", samples}});
    }
    [[nodiscard]] const nlohmann::ordered_json& document() const { return document_; }

private:
    nlohmann::ordered_json document_ = nlohmann::ordered_json::array();
};

} // namespace commtask::bench
