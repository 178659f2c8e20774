// SPDX-License-Identifier: Apache-2.0
//
// How many lanes serve a burst of messages: a pure function of the burst and of a saturation table, which says for each size what
// the first message and each further one cost with 1, 2, ... lanes. The table is measured (commtask-info --calibrate), simulated
// (bench lanes --simulate) or default_table(). The trade-off: bursts that were measured instead of a model of the network, so a
// burst of middle length is judged by the shortest and by long ones of its size (docs/adr/0011).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace commtask::detail {

/// What bursts of one size cost with some number of lanes, from the first post to the last end.
struct lane_cost {
    unsigned n_lanes = 1;
    double first_ns = 0; ///< A burst of one message for each of the lanes.
    double each_ns = 0;  ///< Each further message of a long burst.
};

struct size_costs {
    std::size_t size_bytes = 0;
    std::vector<lane_cost> lanes; ///< In ascending order, beginning with one lane.
};

struct saturation_table {
    std::string machine;          ///< What it was measured on.
    double post_ns = 0;           ///< To post a message to the lane that got the one before.
    double switch_ns = 0;         ///< More, if another lane got the one before.
    double round_trip_ns = 0;     ///< How long the smallest message is in flight.
    std::vector<size_costs> rows; ///< In ascending order of sizes. A larger message than the last goes by one lane.
};

/// The widest table.
inline constexpr unsigned most_lanes_in_table = 64;

/// @return why the table cannot be used; empty: it can
[[nodiscard]] std::string why_not_usable(const saturation_table& table);

/// For where nothing was measured: contexts that each take a message per 250 ns and 4 bytes per ns, on an adapter that takes one
/// per 80 ns and 12 bytes per ns. A guess on the careful side: two or four lanes, and those for long bursts.
[[nodiscard]] saturation_table default_table();

/// What a burst is made of: a commtask_burst_kind.
enum class burst_kind : std::uint8_t {
    messages,
    puts,
    collectives, ///< Each stays on one lane, so none is ever sent in a row with another.
};

/// What is to be sent at once.
struct message_burst {
    std::size_t size_bytes = 0;
    std::size_t n_messages = 1;
    burst_kind kind = burst_kind::messages;
};

/// What each kind is judged by.
struct lane_tables {
    saturation_table messages;
    saturation_table puts;
    saturation_table collectives; ///< Without rows: nobody has measured them, and all stay on one lane.
};

struct lane_choice {
    unsigned n_lanes = 1;
    unsigned in_row = 1;    ///< Messages in a row that go to one lane.
    unsigned in_flight = 1; ///< More at once bring a lane nothing.
};

/// What the table lets one expect of a burst on `n_lanes` lanes, no more than its messages.
[[nodiscard]] double expected_ns(const saturation_table& table, const message_burst& burst, unsigned n_lanes,
                                 unsigned in_row);

/// @param table  a usable one
/// @param most_lanes  at least 1
[[nodiscard]] lane_choice choose_lanes(const saturation_table& table, const message_burst& burst, unsigned most_lanes);
/// The same by the table of the burst's kind. @param tables  usable ones, but for collectives' without rows
[[nodiscard]] lane_choice choose_lanes(const lane_tables& tables, const message_burst& burst, unsigned most_lanes);

} // namespace commtask::detail
