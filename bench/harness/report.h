// SPDX-License-Identifier: Apache-2.0
//
// The one form in which every benchmark reports: its samples as they were taken, by row and round, as JSON. bench/figures.py
// sums them up, so that quantiles and ratios are written once. What a row is compared with stands here, since it belongs to the
// question.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/alternate.h"

namespace commtask::bench {

/// One row.
struct result {
    std::string name; ///< Of no other row.
    std::string unit;
    std::vector<round_samples> rounds;
    std::string ratio_to; ///< The row of the same rounds that the ratio refers to; empty without a ratio.
};

/// Writes a document in the place of `file` when it is complete: a run that ends early leaves the old file, or none.
/// @return why it could not be written; empty when it is there.
[[nodiscard]] std::string write_document(const nlohmann::ordered_json& document, const std::string& file);

class report {
public:
    /// `setting` is "one rank", "crowded", ...
    report(std::string benchmark, std::string setting, nlohmann::ordered_json machine);

    /// Adds a row.
    void add(result row);
    /// Adds the row of one series without a ratio.
    void add(const series& measured);
    /// Adds the row of one series with its ratio, round by round, to another, which has a row too.
    void add(const series& measured, const series& reference);

    [[nodiscard]] const std::vector<result>& rows() const { return rows_; }
    [[nodiscard]] nlohmann::ordered_json to_json() const;

    /// Writes the JSON to `json_file`, or to the standard output if that is empty. Throws std::runtime_error if it cannot be
    /// written, and std::logic_error if a row refers to none.
    void publish(const std::string& json_file) const;

private:
    std::string benchmark_;
    std::string setting_;
    nlohmann::ordered_json machine_;
    std::vector<result> rows_;
};

} // namespace commtask::bench
