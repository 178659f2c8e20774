// SPDX-License-Identifier: Apache-2.0
//
// Chooses the number of lanes for a burst of messages: a pure function of the burst and of a
// saturation table. The table gives, for each size, the cost of the first message and of each
// further message with 1, 2, ... lanes. The table is measured (commtask-info --calibrate),
// simulated (bench lanes --simulate) or default_table(). A table contains measured bursts, not a
// model of the network (docs/adr/0011). The price: the costs of a burst of medium length are
// interpolated from short and long bursts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace commtask::detail {

/// The costs of bursts with one message size and one number of lanes, from the first post to the
/// last completion.
struct lane_cost {
    unsigned n_lanes = 1;
    double first_ns = 0; ///< The cost of a burst with one message for each lane.
    double each_ns = 0;  ///< The cost of each further message of a long burst.
};

struct size_costs {
    std::size_t size_bytes = 0;
    /// Ascending by number of lanes; the first entry is for one lane.
    std::vector<lane_cost> lanes;
};

struct saturation_table {
    std::string machine;      ///< The machine on which the table was measured.
    double post_ns = 0;       ///< The time to post a message to the lane of the message before.
    double switch_ns = 0;     ///< The additional time if the message before went to another lane.
    double round_trip_ns = 0; ///< The time that the smallest message is in flight.
    /// Ascending by size. A message larger than the last size uses one lane.
    std::vector<size_costs> rows;
};

/// The highest number of lanes in a table.
inline constexpr unsigned most_lanes_in_table = 64;

/// @return why the table cannot be used; empty if it is valid
[[nodiscard]] std::string why_not_usable(const saturation_table& table);

/// The table for a machine without a measurement. Each context is assumed to take a message per 250
/// ns and 4 bytes per ns, the adapter a message per 80 ns and 12 bytes per ns. The table is
/// cautious: two or four lanes are chosen, and only for long bursts.
[[nodiscard]] saturation_table default_table();

/// The operations of a burst: a commtask_burst_kind.
enum class burst_kind : std::uint8_t {
    messages,
    puts,
    collectives, ///< Successive collectives go to different lanes.
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
    /// Has no rows if collectives were not measured; then all of them use one lane.
    saturation_table collectives;
};

struct lane_choice {
    unsigned n_lanes = 1;
    unsigned in_row = 1;    ///< The number of successive messages that go to one lane.
    unsigned in_flight = 1; ///< The number of messages in flight from which a lane gets no faster.
};

/// The expected cost of a burst on `n_lanes` lanes, at most one for each message.
[[nodiscard]] double expected_ns(const saturation_table& table, const message_burst& burst, unsigned n_lanes,
                                 unsigned in_row);

/// @param table  valid: why_not_usable() is empty
/// @param most_lanes  at least 1
[[nodiscard]] lane_choice choose_lanes(const saturation_table& table, const message_burst& burst, unsigned most_lanes);
/// As above, with the table for the burst's kind.
/// @param tables  valid tables; the table of collectives may have no rows
[[nodiscard]] lane_choice choose_lanes(const lane_tables& tables, const message_burst& burst, unsigned most_lanes);

} // namespace commtask::detail
