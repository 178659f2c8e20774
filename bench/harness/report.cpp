// SPDX-License-Identifier: Apache-2.0
//
// Rows to JSON. The names of fields are what bench/figures.py calls them; whatever a reader could compute is left out, so that it
// is computed in one place.
#include "harness/report.h"

#include <algorithm>
#include <iostream>
#include <stdexcept>
#include <utility>

#include "common/whole_file.hpp"

namespace commtask::bench {
namespace {

nlohmann::ordered_json to_json(const result& row) {
    nlohmann::ordered_json out;
    out["name"] = row.name;
    out["unit"] = row.unit;
    if (!row.ratio_to.empty()) out["ratio_to"] = row.ratio_to;
    out["rounds"] = row.rounds;
    return out;
}

} // namespace

std::string write_document(const nlohmann::ordered_json& document, const std::string& file) {
    return miniapp::write_whole(file, document.dump() + "\n");
}

report::report(std::string benchmark, std::string setting, nlohmann::ordered_json machine)
    : benchmark_(std::move(benchmark)), setting_(std::move(setting)), machine_(std::move(machine)) {}

void report::add(result row) { rows_.push_back(std::move(row)); }

void report::add(const series& measured) {
    rows_.push_back({.name = measured.name, .unit = measured.unit, .rounds = measured.rounds, .ratio_to = {}});
}

void report::add(const series& measured, const series& reference) {
    add(measured);
    rows_.back().ratio_to = reference.name;
}

nlohmann::ordered_json report::to_json() const {
    nlohmann::ordered_json out;
    out["benchmark"] = benchmark_;
    out["setting"] = setting_;
    out["machine"] = machine_;
    out["samples"] = nlohmann::ordered_json::array();
    for (const result& row : rows_) {
        out["samples"].push_back(bench::to_json(row));
    }
    return out;
}

void report::publish(const std::string& json_file) const {
    for (const result& row : rows_) {
        if (!row.ratio_to.empty() && std::ranges::find(rows_, row.ratio_to, &result::name) == rows_.end()) {
            throw std::logic_error(row.name + " is compared with a row that is not there: " + row.ratio_to);
        }
    }
    if (json_file.empty()) {
        std::cout << to_json().dump() << "\n" << std::flush;
        return;
    }
    if (const std::string why = write_document(to_json(), json_file); !why.empty()) {
        throw std::runtime_error("cannot write " + json_file + ": " + why);
    }
}

} // namespace commtask::bench
