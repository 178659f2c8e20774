// SPDX-License-Identifier: Apache-2.0
//
// The number of lanes for a burst of messages: a pure function of the burst and of a saturation
// table. The table gives, for each size, the cost of the first message and of each further message
// with 1, 2, ... lanes. It is measured (commtask-info --calibrate), simulated (bench lanes
// --simulate) or default_table(). The table holds measured bursts instead of a model of the network
// (docs/adr/0011). The price: a burst of middle length is judged by the shortest and by long bursts
// of its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace commtask::detail {

/// The costs of bursts of one size with some number of lanes, from the first post to the last
/// completion.
struct lane_cost {
    unsigned n_lanes = 1;
    double first_ns = 0; ///< A burst with one message for each lane.
    double each_ns = 0;  ///< Each further message of a long burst.
};

struct size_costs {
    std::size_t size_bytes = 0;
    std::vector<lane_cost> lanes; ///< In ascending order, beginning with one lane.
};

struct saturation_table {
    std::string machine;      ///< The machine on which it was measured.
    double post_ns = 0;       ///< To post a message to the lane that got the message before.
    double switch_ns = 0;     ///< In addition, if another lane got the message before.
    double round_trip_ns = 0; ///< How long the smallest message is in flight.
    /// In ascending order of sizes. A message larger than the last row's uses one lane.
    std::vector<size_costs> rows;
};

/// The highest number of lanes in a table.
inline constexpr unsigned most_lanes_in_table = 64;

/// @return why the table cannot be used; empty if it can
[[nodiscard]] std::string why_not_usable(const saturation_table& table);

/// The table of a machine without a measurement: contexts that each take a message per 250 ns and 4
/// bytes per ns, on an adapter that takes a message per 80 ns and 12 bytes per ns. A cautious
/// guess: it chooses two or four lanes, and only for long bursts.
[[nodiscard]] saturation_table default_table();

/// The operations of a burst: a commtask_burst_kind.
enum class burst_kind : std::uint8_t {
    messages,
    puts,
    collectives, ///< Each collective stays on one lane, so no two are ever sent in a row.
};

/// A burst: messages that are sent together.
struct message_burst {
    std::size_t size_bytes = 0;
    std::size_t n_messages = 1;
    burst_kind kind = burst_kind::messages;
};

/// The table for each kind of burst.
struct lane_tables {
    saturation_table messages;
    saturation_table puts;
    /// Without rows if collectives were not measured: then all stay on one lane.
    saturation_table collectives;
};

struct lane_choice {
    unsigned n_lanes = 1;
    unsigned in_row = 1;    ///< Messages in a row that go to one lane.
    unsigned in_flight = 1; ///< More messages in flight do not make the lane faster.
};

/// The expected cost of a burst on `n_lanes` lanes, which are at most as many as its messages.
[[nodiscard]] double expected_ns(const saturation_table& table, const message_burst& burst, unsigned n_lanes,
                                 unsigned in_row);

/// @param table  a usable table
/// @param most_lanes  at least 1
[[nodiscard]] lane_choice choose_lanes(const saturation_table& table, const message_burst& burst, unsigned most_lanes);
/// As above, by the table of the burst's kind.
/// @param tables  usable tables; the table of collectives may also have no rows
[[nodiscard]] lane_choice choose_lanes(const lane_tables& tables, const message_burst& burst, unsigned most_lanes);

} // namespace commtask::detail
