// SPDX-License-Identifier: Apache-2.0
//
// The cost model of a burst: the cost of the first message, plus the cost of waking further lanes,
// plus the longest of three times. The three are the submitter's time for all messages, the time of
// the slowest lane, and the network's time for all messages. The second time limits short bursts,
// the third limits long bursts, and longer rows of messages per lane shorten the first. If more
// lanes gain almost nothing, fewer lanes are chosen, since each lane needs a core.
#include "core/lane_policy.hpp"

#include "base/tuning.hpp"

#include <algorithm>
#include <cmath>

namespace commtask::detail {
namespace {

/// The costs of one size with `n_lanes` lanes; rates are interpolated between measured numbers of
/// lanes.
[[nodiscard]] lane_cost cost_of(const size_costs& row, unsigned n_lanes) {
    const auto above = std::ranges::lower_bound(row.lanes, n_lanes, {}, &lane_cost::n_lanes);
    if (above == row.lanes.end()) return row.lanes.back();
    if (above->n_lanes == n_lanes || above == row.lanes.begin()) return *above;
    const lane_cost& below = *(above - 1);
    const double share = static_cast<double>(n_lanes - below.n_lanes) / (above->n_lanes - below.n_lanes);
    return {n_lanes, std::lerp(below.first_ns, above->first_ns, share),
            1 / std::lerp(1 / below.each_ns, 1 / above->each_ns, share)};
}

/// The costs of a size; interpolated between the sizes of the table.
[[nodiscard]] lane_cost cost_of(const saturation_table& table, std::size_t size_bytes, unsigned n_lanes) {
    const auto above = std::ranges::lower_bound(table.rows, size_bytes, {}, &size_costs::size_bytes);
    if (above == table.rows.end()) return cost_of(table.rows.back(), n_lanes);
    const lane_cost larger = cost_of(*above, n_lanes);
    if (above->size_bytes == size_bytes || above == table.rows.begin()) return larger;
    const size_costs& row = *(above - 1);
    const lane_cost smaller = cost_of(row, n_lanes);
    const double share =
        static_cast<double>(size_bytes - row.size_bytes) / static_cast<double>(above->size_bytes - row.size_bytes);
    return {n_lanes, std::lerp(smaller.first_ns, larger.first_ns, share),
            std::lerp(smaller.each_ns, larger.each_ns, share)};
}

/// The largest number of lanes that was measured for the size.
[[nodiscard]] unsigned measured_lanes(const saturation_table& table, std::size_t size_bytes) {
    unsigned n_lanes = most_lanes_in_table;
    for (const size_costs& row : table.rows) {
        n_lanes = std::min(n_lanes, row.lanes.back().n_lanes);
        if (row.size_bytes >= size_bytes) break;
    }
    return n_lanes;
}

/// How the messages of a burst are distributed over lanes.
struct distribution {
    std::size_t n_messages;
    unsigned n_lanes;
    unsigned in_row;
};

/// The time of the slowest lane, which has the most messages or begins last. Each lane sends its
/// messages one after the other.
[[nodiscard]] double lanes_ns(const saturation_table& table, const distribution& of, double alone_ns) {
    const std::size_t turn = std::size_t{of.n_lanes} * of.in_row;
    const std::size_t in_whole_turns = of.n_messages / turn * of.in_row;
    const std::size_t left = of.n_messages % turn;
    const auto end_ns = [&](std::size_t lane) {
        const std::size_t before = lane * of.in_row;
        const std::size_t n = in_whole_turns + std::clamp<std::size_t>(left, before, before + of.in_row) - before;
        if (n == 0) return 0.0;
        const double begin_ns = static_cast<double>(lane) * (of.in_row * table.post_ns + table.switch_ns);
        return begin_ns + static_cast<double>(n) * alone_ns;
    };
    const std::size_t n_whole = left / of.in_row; // Lanes that get a whole row in the last turn.
    const double ends_ns = std::max(end_ns(of.n_lanes - 1), end_ns(std::min<std::size_t>(n_whole, of.n_lanes - 1)));
    return n_whole == 0 ? ends_ns : std::max(ends_ns, end_ns(n_whole - 1));
}

/// The submitter's time or the lanes' time for all messages, whichever is longer.
[[nodiscard]] double work_ns(const saturation_table& table, const distribution& of, double alone_ns) {
    const auto further = static_cast<double>(of.n_messages - 1);
    const double n_changes = of.n_lanes == 1 ? 0 : static_cast<double>((of.n_messages - 1) / of.in_row);
    const double submitter_ns = further * table.post_ns + n_changes * table.switch_ns + alone_ns;
    return std::max(submitter_ns, lanes_ns(table, of, alone_ns));
}

/// The network's time for all messages. If the lanes do not slow each other down, it is the lanes'
/// time, except for one message.
[[nodiscard]] double network_ns(std::size_t n_messages, const lane_cost& cost, double alone_ns) {
    return static_cast<double>(n_messages - 1) * cost.each_ns + alone_ns;
}

/// The part of the cost of the shortest burst that work_ns() and network_ns() do not have: waking
/// the lanes, and the time in flight.
[[nodiscard]] double beside_ns(const saturation_table& table, std::size_t size_bytes, unsigned n_lanes) {
    const double alone_ns = cost_of(table, size_bytes, 1).each_ns;
    const lane_cost cost = cost_of(table, size_bytes, n_lanes);
    const double known_ns =
        std::max(work_ns(table, {n_lanes, n_lanes, 1}, alone_ns), network_ns(n_lanes, cost, alone_ns));
    return std::max(cost.first_ns - known_ns, 0.0);
}

/// Twice the number of messages in flight by Little's law, for a lane that accepts messages at its
/// highest rate.
[[nodiscard]] unsigned choose_in_flight(const saturation_table& table, const lane_cost& cost) {
    constexpr double fewest = 4;
    constexpr double most = 4096;
    const double wanted = 2 * (1 + table.round_trip_ns / (cost.each_ns * cost.n_lanes));
    return static_cast<unsigned>(std::clamp(std::ceil(wanted), fewest, most));
}

/// The longest row of messages for one lane: longer rows would leave no message for the last lane,
/// or exceed choose_in_flight().
[[nodiscard]] unsigned longest_row(const saturation_table& table, const message_burst& burst, unsigned n_lanes) {
    if (burst.kind == burst_kind::collectives) return 1;
    const std::size_t in_flight = choose_in_flight(table, cost_of(table, burst.size_bytes, n_lanes));
    return static_cast<unsigned>(std::min((burst.n_messages - 1) / (n_lanes - 1), in_flight));
}

} // namespace

double expected_ns(const saturation_table& table, const message_burst& burst, unsigned n_lanes, unsigned in_row) {
    const double alone_ns = cost_of(table, burst.size_bytes, 1).each_ns;
    const lane_cost cost = cost_of(table, burst.size_bytes, n_lanes);
    // The last messages of all lanes are sent at the same time, and delay each other if the network
    // was not full before. The time to wake the lanes is taken from the smallest messages.
    const auto n_last = static_cast<unsigned>((burst.n_messages - 1) % n_lanes + 1);
    const double waking_ns = beside_ns(table, table.rows.front().size_bytes, n_lanes);
    const double of_lanes_ns = std::max(beside_ns(table, burst.size_bytes, n_last), waking_ns) +
                               work_ns(table, {burst.n_messages, n_lanes, in_row}, alone_ns);
    const double of_network_ns =
        std::max(beside_ns(table, burst.size_bytes, 1), waking_ns) + network_ns(burst.n_messages, cost, alone_ns);
    return std::max(of_lanes_ns, of_network_ns);
}

lane_choice choose_lanes(const saturation_table& table, const message_burst& burst, unsigned most_lanes) {
    lane_choice choice;
    if (burst.size_bytes <= table.rows.back().size_bytes) {
        const unsigned measured = measured_lanes(table, burst.size_bytes);
        const std::size_t most = std::min<std::size_t>(std::min(most_lanes, measured), burst.n_messages);
        double best_ns = expected_ns(table, burst, 1, 1);
        for (unsigned n_lanes = 2; n_lanes <= most; ++n_lanes) {
            double limit_ns = best_ns * tuning::worth_a_lane;
            for (unsigned in_row = 1; in_row <= longest_row(table, burst, n_lanes); in_row *= 2) {
                const double ns = expected_ns(table, burst, n_lanes, in_row);
                if (ns >= limit_ns) continue;
                best_ns = limit_ns = ns;
                choice.n_lanes = n_lanes;
                choice.in_row = in_row;
            }
        }
    }
    choice.in_flight = choose_in_flight(table, cost_of(table, burst.size_bytes, choice.n_lanes));
    return choice;
}

lane_choice choose_lanes(const lane_tables& tables, const message_burst& burst, unsigned most_lanes) {
    switch (burst.kind) {
    case burst_kind::messages: break;
    case burst_kind::puts: return choose_lanes(tables.puts, burst, most_lanes);
    case burst_kind::collectives:
        // The costs of messages do not apply to collectives: each collective is many messages, and
        // waits for the slowest rank.
        if (tables.collectives.rows.empty()) return choose_lanes(tables.messages, burst, 1);
        return choose_lanes(tables.collectives, burst, most_lanes);
    }
    return choose_lanes(tables.messages, burst, most_lanes);
}

std::string why_not_usable(const saturation_table& table) {
    const auto is_time = [](double ns) { return std::isfinite(ns) && ns >= 0; };
    if (!is_time(table.post_ns) || !is_time(table.switch_ns) || !is_time(table.round_trip_ns)) {
        return "post_ns, switch_ns and round_trip_ns must be finite and at least 0";
    }
    if (table.rows.empty()) return "the table has no rows";
    std::size_t size_before = 0;
    for (const size_costs& row : table.rows) {
        const std::string name = "the row of " + std::to_string(row.size_bytes) + " bytes ";
        if (row.size_bytes <= size_before) return name + "is not larger than the row before";
        size_before = row.size_bytes;
        if (row.lanes.empty() || row.lanes.front().n_lanes != 1) return name + "does not begin with one lane";
        unsigned lanes_before = 0;
        for (const lane_cost& cost : row.lanes) {
            if (cost.n_lanes <= lanes_before || cost.n_lanes > most_lanes_in_table) {
                return name + "must have ascending numbers of lanes, at most " + std::to_string(most_lanes_in_table);
            }
            lanes_before = cost.n_lanes;
            if (!is_time(cost.first_ns) || !is_time(cost.each_ns) || cost.each_ns <= 0) {
                return name + "must have a first_ns of at least 0 and an each_ns above 0";
            }
        }
    }
    return {};
}

saturation_table default_table() {
    constexpr unsigned measured_lanes = 8;
    constexpr double lane_ns = 400; // The time to wake one more lane and to post to it.
    saturation_table table{"built-in, not measured", 60, 60, 3000, {}};
    for (const std::size_t size_bytes : {8U, 256U, 1024U, 2048U, 4096U, 8192U, 16384U, 65536U}) {
        const auto size = static_cast<double>(size_bytes);
        size_costs row{size_bytes, {}};
        const double context_ns = 250 + size / 4;
        for (unsigned n_lanes = 1; n_lanes <= measured_lanes; ++n_lanes) {
            const double shared_ns = std::max(80.0, size / 12);
            row.lanes.push_back(
                {n_lanes, 1500 + context_ns + lane_ns * (n_lanes - 1), std::max(context_ns / n_lanes, shared_ns)});
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

} // namespace commtask::detail
