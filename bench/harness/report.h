// SPDX-License-Identifier: Apache-2.0
//
// The one form in which every benchmark reports: a JSON document for machines, a table for people, both from the same
// rows. A goal is kept beside its figure with a verdict, met or not: a figure that falls short is shown, not left out.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/alternate.h"
#include "harness/statistics.h"

namespace commtask::bench {

/// An upper or lower bound on one field of a result.
struct goal {
    enum class field : unsigned char { median, p99, ratio };
    field of = field::ratio;
    enum class bound : unsigned char { at_most, at_least };
    bound kind = bound::at_most;
    double limit = 0;
};

/// One row.
struct result {
    std::string name;
    std::string unit;
    summary figures;
    std::string ratio_to;          ///< Name of the row that the ratio refers to; empty without a ratio.
    std::optional<summary> ratios; ///< Over the rounds; the ratio reported is their median.
    std::vector<goal> goals;       ///< All must hold.
    std::string note;              ///< What a reader must know to read the row right; often empty.
};

/// True when every goal of the row holds. A goal on a ratio that could not be formed does not hold.
[[nodiscard]] bool is_met(const result& row);

/// The goals in words: "ratio <= 0.25 and p99 <= 20"; empty without goals.
[[nodiscard]] std::string describe(const std::vector<goal>& goals);

/// Writes a document in the place of `file` when it is complete: a run that ends early leaves the old file, or none.
/// @return why it could not be written; empty when it is there.
[[nodiscard]] std::string write_document(const nlohmann::ordered_json& document, const std::string& file);

class report {
public:
    /// `setting` is crowded, free, delayed, or "one rank".
    report(std::string benchmark, std::string setting, nlohmann::ordered_json machine);

    /// Adds a row.
    void add(result row);
    /// Adds the row of one series without a ratio.
    result& add(const series& measured);
    /// Adds the row of one series with its paired ratio to another.
    result& add(const series& measured, const series& reference, std::vector<goal> goals = {});

    [[nodiscard]] const std::vector<result>& rows() const { return rows_; }
    [[nodiscard]] bool all_met() const;
    [[nodiscard]] nlohmann::ordered_json to_json() const;
    [[nodiscard]] std::string to_table() const;

    /// Prints the table, writes the JSON to `json_file` unless that is empty. Throws std::runtime_error if the file
    /// cannot be written.
    void publish(const std::string& json_file) const;

private:
    std::string benchmark_;
    std::string setting_;
    nlohmann::ordered_json machine_;
    std::vector<result> rows_;
};

} // namespace commtask::bench
