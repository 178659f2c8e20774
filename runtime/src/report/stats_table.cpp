// SPDX-License-Identifier: Apache-2.0
//
// Prints the counters. This code runs after the last task, so it need not be fast.
#include "report/stats_table.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace commtask::detail {

namespace {

template <typename... Values>
std::string print(const char* format, Values... values) {
    std::array<char, 128> buffer{};
    const int length = std::snprintf(buffer.data(), buffer.size(), format, values...);
    return {buffer.data(), static_cast<std::size_t>(std::clamp(length, 0, static_cast<int>(buffer.size()) - 1))};
}

std::string bytes_text(std::uint64_t bytes) {
    constexpr std::array<const char*, 7> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    auto amount = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; amount >= 1024 && unit + 1 < units.size(); ++unit) amount /= 1024;
    return unit == 0 ? print("%.0f B", amount) : print("%.1f %s", amount, units[unit]);
}

/// Microseconds, with the significant digits only.
std::string us_text(double time_ns) {
    const double us = time_ns / 1000;
    return print(us < 10 ? "%.2f" : us < 100 ? "%.1f" : "%.0f", us);
}

std::string distribution_text(const time_distribution& times) {
    if (times.count == 0) return "-";
    return us_text(times.mean_ns()) + "/" + us_text(static_cast<double>(times.approx_quantile_ns(0.99))) + "/" +
           us_text(static_cast<double>(times.longest_ns));
}

std::uint64_t total(const std::array<std::uint64_t, stats_kind_count>& values) {
    std::uint64_t sum = 0;
    for (const std::uint64_t value : values) sum += value;
    return sum;
}

std::string busy_text(const lane_stats& stats) {
    if (stats.worker_life_ns == 0) return "-";
    return print("%.1f %%",
                 100 * static_cast<double>(stats.worker_busy_ns) / static_cast<double>(stats.worker_life_ns));
}

std::string line(const std::string& name, const lane_stats& stats) {
    return print("%6s %10llu %7llu %8llu %11s %7s", name.c_str(), static_cast<unsigned long long>(total(stats.tasks)),
                 static_cast<unsigned long long>(stats.failed), static_cast<unsigned long long>(stats.canceled),
                 bytes_text(total(stats.bytes)).c_str(), busy_text(stats).c_str()) +
           print(" %20s %20s", distribution_text(stats.post).c_str(), distribution_text(stats.queue_delay).c_str()) +
           print(" %20s %20s\n", distribution_text(stats.in_flight).c_str(), distribution_text(stats.unblock).c_str());
}

std::string kinds_line(const std::string& name, const lane_stats& stats, std::span<const std::string_view> kind_names) {
    std::string text;
    for (std::size_t kind = 0; kind < stats_kind_count; ++kind) {
        if (stats.tasks[kind] == 0) continue;
        if (!text.empty()) text += ", ";
        text += kind < kind_names.size() ? std::string{kind_names[kind]} : "kind " + std::to_string(kind);
        text += " " + std::to_string(stats.tasks[kind]);
        if (stats.bytes[kind] > 0) text += " (" + bytes_text(stats.bytes[kind]) + ")";
    }
    return print("%6s  ", name.c_str()) + (text.empty() ? "none" : text) + "\n";
}

std::string worker_line(const std::string& name, const lane_stats& stats) {
    const auto n = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    return print("%6s %14s %7llu %7llu", name.c_str(), us_text(static_cast<double>(stats.worker_used_ns)).c_str(),
                 n(stats.worker_sleeps), n(stats.worker_timed_waits)) +
           print(" %6llu %6llu\n", n(stats.worker_rung), n(stats.rang));
}

} // namespace

std::span<const stats_column> stats_columns() {
    static constexpr std::array columns{
        stats_column{"tasks", "that ended, failed and canceled ones included"},
        stats_column{"bytes", "payload sent and received; for a collective the block of its count; 0 if each rank has "
                              "a count, and for MPI_PROC_NULL"},
        stats_column{"busy", "the worker's time in progress calls with progress; without the work of waiting threads"},
        stats_column{"post", "in the call that posts, on the posting thread"},
        stats_column{"queue delay", "from the post until the progress thread accepted the task"},
        stats_column{"in flight", "from the MPI call that started it until its completion was detected"},
        stats_column{"unblock", "from the end until a thread that waited in commtask_wait continued"},
        stats_column{"worker us",
                     "processor time of the worker; how often it blocked, its timed waits with operations in flight"},
        stats_column{"rung", "waits that another rank of the node ended; waits of other ranks that this rank ended"},
    };
    return columns;
}

std::string format_stats(std::span<const lane_stats> lanes, std::span<const int> numbers, int n_ranks,
                         std::span<const std::string_view> kind_names) {
    const bool is_all = numbers.size() == static_cast<std::size_t>(n_ranks);
    const std::size_t n_lanes = numbers.empty() ? 1 : lanes.size() / numbers.size();
    const auto name_of = [&](std::size_t i) {
        const std::string rank = std::to_string(numbers[i / n_lanes]);
        return n_lanes == 1 ? rank : rank + "." + std::to_string(i % n_lanes);
    };
    std::string text = print("commtask statistics of %zu rank%s", numbers.size(), numbers.size() == 1 ? "" : "s");
    if (!is_all) text += print(" of %d; the others abandoned tasks, or have not finalized yet", n_ranks);
    if (n_lanes > 1) text += print("; a line for each of their %zu lanes, as rank.lane", n_lanes);
    text += "; times in us as mean/99 % below (about)/longest\n";
    text += "  rank      tasks  failed canceled       bytes    busy                 post          queue delay"
            "            in flight              unblock\n";
    lane_stats sum;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        text += line(name_of(i), lanes[i]);
        sum.merge(lanes[i]);
    }
    text += line("all", sum) + "  rank  tasks by kind (bytes)\n";
    for (std::size_t i = 0; i < lanes.size(); ++i) text += kinds_line(name_of(i), lanes[i], kind_names);
    text += kinds_line("all", sum, kind_names);
    text += "  rank      worker us  blocks   waits   rung   rang\n";
    for (std::size_t i = 0; i < lanes.size(); ++i) text += worker_line(name_of(i), lanes[i]);
    text += worker_line("all", sum);
    for (const stats_column& column : stats_columns()) {
        text += print("  %-12s ", std::string{column.name}.c_str()) + std::string{column.meaning} + "\n";
    }
    return text;
}

} // namespace commtask::detail
