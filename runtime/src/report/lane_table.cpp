// SPDX-License-Identifier: Apache-2.0
//
// If a key is missing or has another type, the file is refused with the parser's own error text,
// which names the key or the position. commtask-info writes these files, so errors are rare and
// need no messages of their own.
#include "report/lane_table.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace commtask::detail {
namespace {

using json = nlohmann::ordered_json;

/// The optional tables of a file.
constexpr std::array of_kinds{std::pair{"puts", &lane_tables::puts},
                              std::pair{"collectives", &lane_tables::collectives}};

[[nodiscard]] saturation_table table_of(const json& from, std::string machine) {
    saturation_table table{std::move(machine), 0, 0, 0, {}};
    from.at("post_ns").get_to(table.post_ns);
    from.at("switch_ns").get_to(table.switch_ns);
    from.at("round_trip_ns").get_to(table.round_trip_ns);
    for (const json& each : from.at("rows")) {
        size_costs row;
        each.at("size_bytes").get_to(row.size_bytes);
        for (const json& cost : each.at("lanes")) {
            row.lanes.push_back({cost.at("n_lanes").get<unsigned>(), cost.at("first_ns").get<double>(),
                                 cost.at("each_ns").get<double>()});
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

[[nodiscard]] json costs_of(const saturation_table& table) {
    json rows = json::array();
    for (const size_costs& row : table.rows) {
        json lanes = json::array();
        for (const lane_cost& cost : row.lanes) {
            lanes.push_back({{"n_lanes", cost.n_lanes}, {"first_ns", cost.first_ns}, {"each_ns", cost.each_ns}});
        }
        rows.push_back({{"size_bytes", row.size_bytes}, {"lanes", std::move(lanes)}});
    }
    return {{"post_ns", table.post_ns},
            {"switch_ns", table.switch_ns},
            {"round_trip_ns", table.round_trip_ns},
            {"rows", std::move(rows)}};
}

/// FNV-1a, shifted so that the sign bit is 0.
[[nodiscard]] std::int64_t sum_of(const std::string& text) {
    std::uint64_t sum = 14695981039346656037U;
    for (const char byte : text) sum = (sum ^ static_cast<unsigned char>(byte)) * 1099511628211U;
    return static_cast<std::int64_t>(sum >> 2U);
}

} // namespace

lane_table_file lane_table_of(const std::string& text) {
    lane_table_file made;
    made.sum = sum_of(text);
    try {
        const json all = json::parse(text);
        made.tables.messages = made.tables.puts = table_of(all, all.at("machine").get<std::string>());
        made.mpi = all.value("mpi", "");
        made.why_not = why_not_usable(made.tables.messages);
        for (const auto& [name, place] : of_kinds) {
            if (!made.why_not.empty() || !all.contains(name)) continue;
            made.tables.*place = table_of(all.at(name), made.tables.messages.machine);
            made.why_not = why_not_usable(made.tables.*place);
            if (!made.why_not.empty()) made.why_not.insert(0, "of its " + std::string{name} + ": ");
        }
    } catch (const json::exception& wrong) {
        made.why_not = wrong.what();
    }
    return made;
}

lane_table_file read_lane_table(const std::string& file) {
    lane_table_file none;
    // A read from a device might never end.
    std::error_code unknown;
    const auto kind = std::filesystem::status(file, unknown);
    if (std::filesystem::exists(kind) && !std::filesystem::is_regular_file(kind)) {
        none.why_not = "it is no regular file";
        return none;
    }
    std::ifstream in{file};
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    if (in.is_open() && !in.bad() && !text.empty()) return lane_table_of(text);
    none.why_not =
        in.is_open() ? "it is empty" : std::strerror(errno); // NOLINT(concurrency-mt-unsafe): once, in commtask_init
    return none;
}

std::string text_of(const lane_tables& tables, const std::string& mpi) {
    json all{{"machine", tables.messages.machine}, {"mpi", mpi}};
    all.update(costs_of(tables.messages));
    for (const auto& [name, place] : of_kinds) {
        if (!(tables.*place).rows.empty()) all[name] = costs_of(tables.*place);
    }
    return all.dump(2) + "\n";
}

} // namespace commtask::detail
