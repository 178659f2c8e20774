// SPDX-License-Identifier: Apache-2.0
//
// Rows to JSON and to a table. Keys stay in the documented order, and numbers have four digits, so that two results
// can be compared by eye and differ where it matters.
#include "harness/report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <utility>

#include "common/whole_file.hpp"

namespace commtask::bench {
namespace {

double value_of(const result& row, goal::field field) {
    switch (field) {
    case goal::field::median: return row.figures.median;
    case goal::field::p99: return row.figures.p99;
    case goal::field::ratio: break;
    }
    return row.ratios ? row.ratios->median : 0;
}

bool holds(const result& row, const goal& one) {
    if (one.of == goal::field::ratio && (!row.ratios || row.ratios->n_samples == 0)) {
        return false;
    }
    const double value = value_of(row, one.of);
    return one.kind == goal::bound::at_most ? value <= one.limit : value >= one.limit;
}

/// Four significant digits: a fifth would only be noise.
std::string number(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.4g", value);
    return text.data();
}

double rounded(double value) { return std::stod(number(value)); }

std::string padded(std::string text, std::size_t width, bool to_the_right) {
    text.insert(to_the_right ? 0 : text.size(), width - std::min(width, text.size()), ' ');
    return text;
}

nlohmann::ordered_json to_json(const result& row) {
    nlohmann::ordered_json out;
    out["name"] = row.name;
    out["unit"] = row.unit;
    out["median"] = rounded(row.figures.median);
    out["p10"] = rounded(row.figures.p10);
    out["p90"] = rounded(row.figures.p90);
    out["p99"] = rounded(row.figures.p99);
    out["ratio_to"] = row.ratio_to.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(row.ratio_to);
    out["ratio"] = row.ratios ? nlohmann::ordered_json(rounded(row.ratios->median)) : nlohmann::ordered_json();
    out["goal"] = row.goals.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(describe(row.goals));
    if (!row.goals.empty()) {
        out["met"] = is_met(row);
    }
    if (row.ratios) {
        out["ratio_p10"] = rounded(row.ratios->p10);
        out["ratio_p90"] = rounded(row.ratios->p90);
        out["rounds"] = row.ratios->n_samples;
    }
    out["samples"] = row.figures.n_samples;
    if (!row.note.empty()) {
        out["note"] = row.note;
    }
    return out;
}

} // namespace

bool is_met(const result& row) {
    return std::ranges::all_of(row.goals, [&](const goal& one) { return holds(row, one); });
}

std::string describe(const std::vector<goal>& goals) {
    static constexpr std::array fields{"median", "p99", "ratio"};
    std::string words;
    for (const goal& one : goals) {
        words += words.empty() ? "" : " and ";
        words += fields.at(static_cast<std::size_t>(one.of));
        words += one.kind == goal::bound::at_most ? " <= " : " >= ";
        words += number(one.limit);
    }
    return words;
}

std::string write_document(const nlohmann::ordered_json& document, const std::string& file) {
    return miniapp::write_whole(file, document.dump(2) + "\n");
}

report::report(std::string benchmark, std::string setting, nlohmann::ordered_json machine)
    : benchmark_(std::move(benchmark)), setting_(std::move(setting)), machine_(std::move(machine)) {}

void report::add(result row) { rows_.push_back(std::move(row)); }

result& report::add(const series& measured) {
    result row;
    row.name = measured.name;
    row.unit = measured.unit;
    row.figures = summarize(pooled(measured.rounds));
    rows_.push_back(std::move(row));
    return rows_.back();
}

result& report::add(const series& measured, const series& reference, std::vector<goal> goals) {
    result& row = add(measured);
    row.ratio_to = reference.name;
    row.ratios = summarize(paired_ratios(measured.rounds, reference.rounds));
    row.goals = std::move(goals);
    return row;
}

bool report::all_met() const { return std::ranges::all_of(rows_, is_met); }

nlohmann::ordered_json report::to_json() const {
    nlohmann::ordered_json out;
    out["benchmark"] = benchmark_;
    out["setting"] = setting_;
    out["machine"] = machine_;
    out["results"] = nlohmann::ordered_json::array();
    for (const result& row : rows_) {
        out["results"].push_back(bench::to_json(row));
    }
    return out;
}

std::string report::to_table() const {
    std::vector<std::vector<std::string>> cells{
        {"name", "unit", "median", "p10", "p90", "p99", "ratio", "[p10..p90]", "to", "goal", ""}};
    for (const result& row : rows_) {
        const bool has_ratio = row.ratios && row.ratios->n_samples > 0;
        cells.push_back({row.name, row.unit, number(row.figures.median), number(row.figures.p10),
                         number(row.figures.p90), number(row.figures.p99), has_ratio ? number(row.ratios->median) : "",
                         has_ratio ? number(row.ratios->p10) + ".." + number(row.ratios->p90) : "", row.ratio_to,
                         describe(row.goals), row.goals.empty() ? "" : (is_met(row) ? "met" : "NOT MET")});
    }
    std::vector<std::size_t> widths(cells.front().size());
    for (const auto& line : cells) {
        for (std::size_t column = 0; column < line.size(); ++column) {
            widths[column] = std::max(widths[column], line[column].size());
        }
    }
    std::string table = benchmark_ + ", " + setting_ + "\n";
    for (const auto& line : cells) {
        std::string text;
        for (std::size_t column = 0; column < line.size(); ++column) {
            const bool is_number = column >= 2 && column <= 6;
            text += padded(line[column], widths[column], is_number) + "  ";
        }
        table += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
    }
    for (const result& row : rows_) {
        if (!row.note.empty()) {
            table += "  " + row.name + ": " + row.note + "\n";
        }
    }
    return table;
}

void report::publish(const std::string& json_file) const {
    std::cout << to_table() << std::flush;
    if (json_file.empty()) {
        return;
    }
    if (const std::string why = write_document(to_json(), json_file); !why.empty()) {
        throw std::runtime_error("cannot write " + json_file + ": " + why);
    }
}

} // namespace commtask::bench
